"""Shared by tests that start servers on this machine: free ports, waiting, ending exactly the processes that were
started."""
import contextlib
import os
import signal
import socket
import time
from pathlib import Path

from trace_cases import Skip, require


def require_fleet():
    """tools/fleet/check.sh installs what is needed, and sets the variable."""
    if os.environ.get("TRACEDB_FLEET") != "1":
        raise Skip("starts servers: run tools/fleet/check.sh, which sets TRACEDB_FLEET=1")


def free_ports(number):
    """Ports of the loopback interface that nobody listens on now."""
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_until(condition, what, seconds=60, step=0.1):
    """For what must happen; the time is a guard against hanging."""
    deadline = time.monotonic() + seconds
    while not condition():
        require(time.monotonic() < deadline, f"waited {seconds} s in vain until {what}")
        time.sleep(step)


def processes_naming(text):
    """Ids of the processes whose command line or environment has the text: here the name of a scratch folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            known = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            state = (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if text.encode() in known and state != "Z":
                found.append(int(process.name))
    return found


def stop_process(number, text):
    """Ends the process of this id, by force if need be, provided it is still one that names the text."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if number not in processes_naming(text):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, sign)
        deadline = time.monotonic() + 15
        while number in processes_naming(text) and time.monotonic() < deadline:
            time.sleep(0.05)
