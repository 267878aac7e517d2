"""What the server of a data directory says of itself in `postmaster.pid`: from files, so that looking costs nothing."""

import os


def server_since(data):
    """When the server was started, as something to compare; None unless it takes connections."""
    lines = _lines(data)
    return (lines[0], lines[2]) if _word(lines) == "ready" else None


def primary_since(data):
    """As server_since, but None unless it is a primary: `standby.signal` goes with the promotion."""
    since = server_since(data)
    return None if since is None or _is_standby(data) else since


def state(data):
    """The server's own word, `ready` for a primary only; None where it has stopped, which takes it a moment only."""
    word = _word(_lines(data))
    return "standby" if word and _is_standby(data) else word


def _lines(data):
    try:
        with open(f"{data}/postmaster.pid", encoding="utf-8") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _word(lines):
    """The eighth line; it comes last."""
    return lines[7].strip() if len(lines) > 7 else None


def _is_standby(data):
    return os.path.exists(f"{data}/standby.signal") or os.path.exists(f"{data}/recovery.signal")
