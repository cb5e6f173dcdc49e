# A plugin of Godot's editor that begins a server, in the syntax of Godot 3.
# COMMAND (a JSON array, in which MYPID is Godot's pid) comes from the
# environment, as does WHAT: stay, kill (OS.kill of the pid that it was given,
# after 1 s), quit (the editor quits).
# ./said: `front PID`, `killed`
tool
extends EditorPlugin

func _enter_tree():
	var words = JSON.parse(OS.get_environment("COMMAND").replace(
		"MYPID", str(OS.get_process_id()))).result
	var command = words.pop_front()
	var pid = OS.execute(command, words, false)
	say("front %d" % pid)
	if OS.get_environment("WHAT") == "stay":
		return
	yield(get_tree().create_timer(1), "timeout")
	if OS.get_environment("WHAT") == "kill":
		OS.kill(pid)
		say("killed")
	else:
		get_tree().quit()

func say(text):
	var file = File.new()
	file.open("res://said", File.READ_WRITE if file.file_exists("res://said") else File.WRITE)
	file.seek_end()
	file.store_line(text)
	file.close()
