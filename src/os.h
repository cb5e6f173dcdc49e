/*
 * os: the system.  One body each for Linux (linux, linux_sockets) and the rest
 * (posix), with kqueue or no_exit, darwin or no_proc.  A call that a system
 * lacks fails with ENOSYS; the callers stay plain.
 */
#pragma once

#include "values.h"

extern const int signals_end;		/* above all signals */
extern const char syslog_path[];	/* the socket of syslog(3) */
extern const int no_sigpipe;		/* flag of send(2) */
extern const short peer_closed;		/* event of poll(2), or 0: none tells */

int64_t now_ms(void);

/* --- descriptors --- */

int set_cloexec(int fd);
int pipe_nowait(int fd[2]);
int pair_cloexec(int fd[2]);

/*
 * Of ours, as they are opened: what stays open when all that was inherited is
 * closed.  Returns fd.  Without memory it is closed too early, and is missed.
 */
int survive(int fd);
void survive_none(void);

/* Those that survive, and 0 to 2, stay open. */
void close_others(void);
void close_from_to(unsigned lo, unsigned hi);

/* At most 65,536 numbers are tried: a limit of "infinity" is no reason to. */
void close_each(unsigned lo, unsigned hi);

/* EOPNOTSUPP, ENOSYS: this kind of file or kernel has no such write. */
ssize_t write_nowait(int fd, const char *buf, size_t len);

/* Who connected fd; pid 0 where that is not known. */
int peer_of(int fd, pid_t *pid, uid_t *uid);

/* --- signals: caught for good, each a note to read --- */

struct note {			/* kind 0: a signal */
	int kind, signo, code;
	pid_t pid;
	uid_t uid;
	union sigval value;
};

/* Sent by a process, rather than by the kernel (a key, a fault, a timer)? */
bool from_process(const struct note *n);
struct note note_of(const siginfo_t *si);

int change_mask(int how, const sigset_t *set, sigset_t *old);
int open_signals(void);
void catch_signals(void);
int signals_fd(void);			/* to poll for reading */
size_t read_signals(struct note *notes, size_t room);

/* After a fork: those that come to this process; held until released. */
int own_signals(void);
void hold_signals(void);
void release_signals(void);

/* In a child, before its exec: as they were given to us. */
void restore_signals(void);
bool was_ignored(int signo);
int queue_signal(pid_t pid, int signo, union sigval value);

/* --- processes --- */

/* A descriptor that fires once pid has ended; CLOEXEC. */
extern const char exit_kind[];
extern const bool exit_inherited;	/* by a fork */
int exit_open(pid_t pid);
bool exit_fired(int fd, short revents);
int exit_signal(int fd, int signo);
bool is_exit_fd(int fd);

int adopt_orphans(void);
int die_with_parent(int signo);
void name_process(const char *name);
void never_dump(void);

/* Is nobody left below us, or in the server's own group, but itself, dead? */
bool tree_gone(pid_t server, bool ended, bool own_group);

#define NAME_SIZE	16	/* Linux TASK_COMM_LEN; longer names are cut */

struct proc {			/* one row of the process table */
	pid_t pid, ppid, pgrp, sid;
	uint64_t ticks;
	uint64_t cpu;		/* ticks used so far */
	uint64_t moved;		/* bytes, only where --max-idle has looked */
	int threads;
	char state;
	bool told;		/* had the stop signal */
	bool refused;		/* EPERM: not ours to end */
	bool in_tree, in_scope;
	bool kept;		/* was in scope when a stop began: stays so */
	pid_t wrap;		/* the ow-supervisor it is, or hangs below */
	char name[NAME_SIZE];
};

int proc_stat(pid_t pid, struct proc *p);
bool is_dead(const struct proc *p);
bool is_supervisor(const struct proc *p);	/* of an ownerwrap */

/*
 * From p to its parent; false: there is none to be seen.  A parent is never
 * younger than its child: a number that is was recycled, the chain is broken.
 */
bool step_up(struct proc *p);
bool is_above_us(pid_t pid);

ssize_t proc_args(pid_t pid, char *buf, size_t size);	/* NULs in between */
int64_t proc_age_ms(uint64_t ticks);

/* --- /proc --- */

bool proc_usable(void);		/* now */
bool proc_listed(void);		/* it was, when first asked */

const char *proc_path(pid_t pid, const char *file, char buf[64]);

/* Read a small file of /proc; the length, or -1.  The text ends in NUL. */
ssize_t proc_read(pid_t pid, const char *file, char *buf, size_t size);

/* The number behind key, "\nTgid:", in a file of lines; 0: there is none. */
uint64_t proc_number(pid_t pid, const char *file, const char *key, int base);

/* Is its control group a service's? */
bool proc_is_service(pid_t pid);

/* Threads are in /proc, too, and kill(2) answers for them: whose is pid? */
pid_t proc_leader(pid_t pid);

/*
 * Did the death signal reach pid when its parent was killed?  The kernel drops
 * it when ids or capabilities change or a set-id file is executed (prctl(2),
 * PR_SET_PDEATHSIG).  1 yes, 0 no, -1 cannot be told.
 */
int kernel_told(pid_t pid);

/* Bytes read and written: the first two lines of proc_pid_io(5). */
int proc_moved(pid_t pid, uint64_t *moved);

/* All processes; of p's threads, of which seldom more than one has some. */
int proc_list(struct list *t);
int proc_add_all_children(struct list *t, const struct proc *p);

/* A row for pid; none if it has gone meanwhile. */
int proc_add(struct list *t, pid_t pid);

/* In a table: the i-th row; by pid, of a sorted one, or NULL. */
struct proc *row(const struct list *t, size_t i);
struct proc *find(const struct list *t, pid_t pid);
void sort_rows(struct list *t);

/* --- sockets --- */

enum {				/* states of sockets: the kernel's numbers */
	ESTABLISHED = 1, LISTEN = 10
};

enum rows {			/* which rows of the socket tables */
	LISTENING,		/* TCP */
	CONNECTED,		/* TCP and Unix, established */
	BOUND			/* UDP */
};

struct sock {			/* one row of the socket tables */
	uint64_t id;		/* of the connection: both ends have the same */
	uint64_t inode;		/* TCP: 0 = not accepted yet */
	uint64_t peer;		/* inode of the other end; 0 = not known */
	uint16_t port, peer_port;	/* TCP, UDP */
	char name[109];		/* Unix: the address of what it was made to, */
				/* NULs as "@"; "@": it was not made to us; */
				/* else "" */
	bool local;		/* both ends have the same address */
	bool held;		/* the tree has it */
	bool served;		/* it is on what the tree listens on */
};

typedef int see_fn(const struct sock *);

/* Of our own network namespace; see() -1 ends it. */
int socket_rows(enum rows rows, see_fn *see);

/* The inodes of pid's sockets, added to l. */
int socket_inodes(pid_t pid, struct list *l);
