"""Kills the Patroni of this container with SIGKILL, again and again, and waits each time until there is another.

    kill-patroni.py TIMES
"""

import os
import re
import signal
import sys
import time

EVERY_SECONDS = 1.2
WITHIN_SECONDS = 60
PATRONI = re.compile(rb"\S*python3?[^\0]*\0\S*patroni\0")


def read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        # It has ended meanwhile.
        return b""


def parent(pid):
    found = re.search(rb"^PPid:\s+(\d+)$", read(pid, "status"), re.MULTILINE)
    return int(found.group(1)) if found else 0


def patroni():
    """Its children, before they run a program of their own, look like it."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    found = [pid for pid in pids if PATRONI.match(read(pid, "cmdline"))]
    return next((pid for pid in found if parent(pid) not in found), None)


def another(than):
    end = time.monotonic() + WITHIN_SECONDS
    while time.monotonic() < end:
        pid = patroni()
        if pid not in (None, than):
            return pid
        time.sleep(0.02)
    sys.exit("Patroni does not run")


pid = another(None)
for _ in range(int(sys.argv[1])):
    begun = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    pid = another(pid)
    time.sleep(max(0, begun + EVERY_SECONDS - time.monotonic()))
