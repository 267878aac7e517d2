"""Kills what makes a new database in this container with SIGKILL, half way: once each of those below, and waits each time until it is tried again.

    kill-initdb.py DATA

It is half way when there are a PG_VERSION and a control file already: what is left then looks most like data. Prints a line for each.
"""

import os
import re
import signal
import sys
import time

WITHIN_SECONDS = 120
VICTIMS = {
    "initdb": re.compile(rb"(\S*/)?initdb\0"),
    "its server": re.compile(rb"(\S*/)?postgres\0--(boot|single)\0"),
    "the script": re.compile(rb"\S*bash\0\S*/initdb\.sh\0"),
    "Patroni": re.compile(rb"\S*python3?[^\0]*\0\S*patroni\0"),
}

data = sys.argv[1]
fresh = f"{data}.initialising"


def find(pattern):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if pattern.match(file.read()):
                    return int(pid)
        except OSError:
            # It has ended meanwhile.
            continue
    return None


def is_half_way():
    return all(os.path.exists(f"{fresh}/{name}") for name in ("PG_VERSION", "global/pg_control"))


for name, pattern in VICTIMS.items():
    end = time.monotonic() + WITHIN_SECONDS
    victim = None
    while victim is None:
        if os.path.exists(data):
            sys.exit(f"there is a data directory, and {name} was not killed yet")
        if time.monotonic() > end:
            sys.exit(f"{name} does not run")
        victim = find(pattern) if is_half_way() else None
        time.sleep(0.005)
    os.kill(victim, signal.SIGKILL)
    print(name, flush=True)
    if os.path.exists(data):
        sys.exit(f"there is a data directory after {name} was killed half way")
    # What was left is removed before the next try.
    while is_half_way() and time.monotonic() < end:
        time.sleep(0.005)
