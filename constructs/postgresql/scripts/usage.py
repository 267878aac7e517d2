"""How full the volume is, in steps so coarse that the pod is annotated rarely."""

import json
import os

STEP_PERCENT = 5
LEAST_BYTES = 256 * 1024 * 1024


class Usage:
    """Remembers what it said, so that a value that swings about a step is not said again and again."""

    def __init__(self, data):
        self._data = data
        self._percent = None

    def measure(self, slots):
        """Facts in steps; None while there is no volume to look at."""
        try:
            volume = os.statvfs(os.path.dirname(self._data))
            wal = _size(f"{self._data}/pg_wal")
        except OSError:
            return None
        capacity = volume.f_blocks * volume.f_frsize
        if capacity == 0:
            return None
        self._percent = step(self._percent, 100 * (1 - volume.f_bavail / volume.f_blocks))
        return {
            "capacityBytes": capacity,
            "usedPercent": self._percent,
            "walBytes": power(wal),
            "slots": {name: power(kept) for name, kept in sorted(slots.items()) if kept >= LEAST_BYTES},
        }


def annotation_of(facts):
    return None if facts is None else json.dumps(facts, separators=(",", ":"))


def step(last, percent):
    """The multiple of 5 below; the last one stays until the value has left it by more than half a step."""
    if last is not None and last - STEP_PERCENT / 2 <= percent < last + STEP_PERCENT * 1.5:
        return last
    return int(percent // STEP_PERCENT * STEP_PERCENT)


def power(size):
    """The power of two below, or 0 below 256 MiB."""
    return 0 if size < LEAST_BYTES else 1 << (int(size).bit_length() - 1)


def _size(folder):
    with os.scandir(folder) as entries:
        return sum(entry.stat(follow_symlinks=False).st_size for entry in entries if entry.is_file(follow_symlinks=False))
