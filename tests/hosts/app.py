"""A web application that has something to put in order when it ends, for
uvicorn. Each worker has a file pid.PID while it lives; its shutdown takes 0.5 s,
then done.PID is there, whole, and pid.PID is not."""
import asyncio
import os


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    if scope["path"] == "/slow":
        await asyncio.sleep(1)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello\n"})


async def lifespan(receive, send):
    pid = str(os.getpid())
    await receive()
    with open(f"pid.{pid}", "w") as file:
        file.write(pid)
    await send({"type": "lifespan.startup.complete"})
    with open("log", "a") as log:
        log.write(f"ready {pid}\n")
    await receive()
    with open(f"tmp.{pid}", "w") as file:
        for line in range(5):
            file.write(f"{line}\n")
            await asyncio.sleep(0.1)
        file.write("whole\n")
    os.rename(f"tmp.{pid}", f"done.{pid}")
    os.unlink(f"pid.{pid}")
    await send({"type": "lifespan.shutdown.complete"})
