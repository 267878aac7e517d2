"""The lock on the data volume, which the supervisor opens and keeps for as long as its container lives.

Two servers on one data directory destroy it. A pod that is deleted by force is made again at once, on the same volume, while the server of the old
one may take minutes to end. PostgreSQL's own lock does not tell one container from another: each counts its processes for itself.
"""

import fcntl
import os

# The number of the open file; empty where it could not be opened. Outside of a pod there is none.
NUMBER = os.environ.get("PLUMBLINE_LOCK")


def is_ours():
    """Takes it; False while another container has it. What cannot be locked is no obstacle: a full volume, or a file system that knows no locks."""
    if not NUMBER:
        return True
    try:
        fcntl.flock(int(NUMBER), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        print(f"start gate: the data volume cannot be locked: {error.strerror}", flush=True)
    return True


def is_to_be_opened(volume):
    """Whether it could not be opened before, and can be now."""
    if NUMBER != "":
        return False
    try:
        with open(f"{volume}/.plumbline-lock", "a", encoding="utf-8"):
            return True
    except OSError:
        return False
