"""What hosts made with Python do to their servers.

python-host.py WHAT COMMAND [ARGUMENT ...]
WHAT, what is done once the server says `ready` in ./log:
  session   nothing; the server was begun with start_new_session=True
  killpg=SIGNAL   the same, then os.killpg
  cancel    asyncio: the task that reads from the server is cancelled, and the
            server terminated in its `finally`
  loop      asyncio: the loop ends while the server runs, unread
  timeout   subprocess.run(timeout=...) gives up: KILL to the front
  thread    nothing; a thread of a pool has begun the server, and has ended
  fork      nothing; a forked child (multiprocessing) has begun the server, and
            waits for it
stdout: `front PID`, `ready`, `end STATUS` with a negative number for a signal.
"""
import asyncio
import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import time

what, _, number = sys.argv[1].partition("=")
command = sys.argv[2:]


def say(*words):
    print(*words, flush=True)


def ready():
    while not os.path.exists("log") or "\nready" not in "\n" + open("log").read():
        time.sleep(0.02)
    say("ready")


def end(server):
    say("end", server.wait())


def spawn(**how):
    server = subprocess.Popen(command, stdin=subprocess.PIPE, **how)
    say("front", server.pid)
    return server


async def cancel():
    server = await asyncio.create_subprocess_exec(
        *command, stdout=subprocess.PIPE)
    say("front", server.pid)

    async def read():
        try:
            await server.communicate()
        finally:
            server.terminate()
            say("end", await server.wait())

    if what == "loop":
        return await asyncio.to_thread(ready)
    task = asyncio.create_task(read())
    await asyncio.to_thread(ready)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        say("cancelled")


def forked():
    end(spawn())


if what in ("cancel", "loop"):
    asyncio.run(cancel())
elif what in ("session", "killpg"):
    server = spawn(start_new_session=True)
    ready()
    if number:
        os.killpg(server.pid, signal.Signals["SIG" + number])
    end(server)
elif what == "timeout":
    try:
        subprocess.run(command, stdin=subprocess.PIPE, timeout=1)
    except subprocess.TimeoutExpired:
        say("end")
elif what == "thread":
    with concurrent.futures.ThreadPoolExecutor() as pool:
        server = pool.submit(spawn).result()
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0.02)
    ready()
    end(server)
elif what == "fork":
    child = multiprocessing.get_context("fork").Process(target=forked)
    child.start()
    ready()
    child.join()
