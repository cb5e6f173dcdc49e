/* start: what the server finds: its environment, its command; our title */
#pragma once

#include "values.h"

void set_number(const char *name, pid_t pid);

/* Variables that name us are to name the server; or nobody: of a pair. */
void note_names(void);
void name_server(pid_t pid);
void forget_names(void);

/* The command line in ps(1), cut to the room there is. */
void find_title_room(int argc, char **argv);
void overwrite_args(char *title);

/* A refused start: said while stderr is still ours.  Returns the status. */
int say_exec_error(const char *command, int error);
