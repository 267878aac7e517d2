"""Shortens a switchover. While one is asked for, every other replica of Patroni sleeps for two seconds when the lock becomes free, and where commits
wait for a replica nothing is acknowledged before one of them follows. So the request is taken back as soon as the primary has begun to stop: it goes
on handing over, and whoever is in step takes the lock at once. Only where the request says that anyone may.
"""

import os

from identity import annotation
from kube import Kube, KubeError

ANYONE = "plumbline.dev/anyone"


class Handover:
    def __init__(self, member):
        self._member = member
        self._done = None

    def look(self):
        """Returns what went wrong, or None. Reads two files; asks the API once for each primary that stops."""
        stopping = self._stopping_primary()
        if stopping is None or stopping == self._done:
            return None
        self._done = stopping
        request = f"{self._member.patroni['scope']}-failover"
        try:
            kube = Kube("plumbline-steward")
            found = kube.get("configmaps", request)
            if annotation(found, "leader") == self._member.name and annotation(found, ANYONE):
                kube.annotate("configmaps", request, {"leader": None, "member": None})
        except KubeError as error:
            return f"the switchover stays with the replica that was named: {error}"
        return None

    def _stopping_primary(self):
        data = self._member.data
        try:
            with open(f"{data}/postmaster.pid", encoding="utf-8") as file:
                lines = file.read().splitlines()
        except OSError:
            return None
        is_stopping = len(lines) > 7 and lines[7].strip() == "stopping"
        return (lines[0], lines[2]) if is_stopping and not os.path.exists(f"{data}/standby.signal") else None
