#!/usr/bin/env bats
# Situations of compare.sh in which some wrapper or other fails: one test for each.

load helper

@test "column 1: the owner is SIGKILLed, a normal server ends" {
	owned -g 0 -- server -l log
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S"
	assert_lines log '^TERM ' 1
}

@test "column 2: the owner is SIGKILLed, a server deaf to TERM is killed" {
	owned -g 0 -k 0.5 -- server -l log -d
	begin=$(now_ms)
	kill -KILL "$O"
	finish "$W"
	taken 500 "$begin"
	expect_status 124
	refute_alive "$S"
	assert_lines log '^TERM ' 1
}

@test "column 3: the owner is SIGKILLed, a grandchild that left the group ends" {
	owned -g 0 -k 0.5 -- server -l log -g setpgid -g deaf,setpgid,double
	one=$(child_pid log setpgid)
	two=$(child_pid log deaf,setpgid,double)
	assert_equal "$(ps -o pgid= -p "$one" | tr -d ' ')" "$one"
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$one" "$two"
}

@test "column 4: the front is SIGKILLed, server and grandchild end" {
	owned -- server -l log -g setpgid
	child=$(child_pid log setpgid)
	kill -KILL "$W"
	await_gone "$S" "$child"
	assert_lines log '^TERM ' 1
	assert_alive "$O"
}

@test "column 5: the owner's thread that started it ends, nothing happens" {
	start owner -t -l olog "$OW" -g 0 -- server -l log
	owner=$PID
	S=$(server_pid log)
	W=$(pid_in olog cmd)
	until_true '[ "$(ls "/proc/$owner/task" | wc -l)" = 1 ]'
	lives_on 1000 "$S" "$W" "$owner"
	assert_lines log 'TERM' 0
	assert_equal "$(cat "$ERR")" ""
	# And the watch is no less for it.
	track "$W"
	kill -KILL "$owner"
	await_gone "$S" "$W"
	assert_lines log '^TERM ' 1
}

@test "column 5: the owner's main thread ends, another lives: nothing happens" {
	start owner -m 2500 -l olog "$OW" -g 0 -- server -l log
	owner=$PID
	S=$(server_pid log)
	until_true "[[ \$(ps -o stat= -p $owner) == Z* ]]"
	lives_on 500 "$S" "$owner"
	assert_lines log 'TERM' 0
	await_gone "$owner" "$S"
	assert_lines log '^TERM ' 1
}

@test "column 6: the server exits, the grandchild that it leaves ends" {
	owned -k 0.5 -- server -l log -e 7 -g setpgid -g deaf,double
	one=$(child_pid log setpgid)
	two=$(child_pid log deaf,double)
	kill -TERM "$S"
	finish "$W"
	expect_status 7
	refute_alive "$one" "$two"
	assert_alive "$O"
	said 'server ended and left 2 processes: stopped .*'
}

@test "column 7: TERM to the front, the server and such a grandchild end" {
	owned -k 0.5 -- server -l log -e 7 -g setpgid -g deaf,double
	one=$(child_pid log setpgid)
	two=$(child_pid log deaf,double)
	kill -TERM "$W"
	finish "$W"
	expect_status 7
	refute_alive "$S" "$one" "$two"
	assert_lines log '^TERM ' 1
}

@test "column 7: the same where --kill-after is not given" {
	owned -- server -l log -e 7 -g setpgid
	child=$(child_pid log setpgid)
	kill -TERM "$W"
	finish "$W"
	expect_status 7
	refute_alive "$S" "$child"
	assert_lines log '^TERM ' 1
}

@test "column 8: the owner is SIGKILLed, a child in a session of its own ends" {
	owned -g 0 -k 0.5 -- server -l log -g setsid,pipe
	child=$(child_pid log setsid,pipe)
	assert_equal "$(ps -o sid= -p "$child" | tr -d ' ')" "$child"
	kill -KILL "$O"
	finish "$W"
	expect_status 124
	refute_alive "$S" "$child"
	assert_lines log '^TERM ' 1
}

# A front that leads its group, as hosts start one that they kill by its group.
@test "column 9: SIGKILL to the whole group, a grandchild in another group ends (99)" {
	for scope in session tree; do
		rm -f log
		new_owner
		start setsid "$OW" --scope $scope -p "$OWNER" -- server -l log \
			-g setpgid -g setsid,pipe
		W=$PID
		S=$(server_pid log)
		one=$(child_pid log setpgid)
		two=$(child_pid log setsid,pipe)
		sup=$(supervisor_of "$W")
		track "$S" "$one" "$two" "$sup"
		assert_equal "$(ps -o pgid= -p "$S" | tr -d ' ')" "$W"
		kill -KILL -- "-$W"
		await_gone "$W" "$S" "$one" "$sup"
		[ $scope = session ] || await_gone "$two"
		assert_alive "$OWNER"
	done
}
