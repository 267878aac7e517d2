"""Shortens a switchover. While one is asked for, every other replica of Patroni sleeps for two seconds when the lock becomes free, and where commits
wait for a replica nothing is acknowledged before one of them follows. So the request is taken back as soon as the primary has begun to stop: it goes
on handing over, and whoever is in step takes the lock at once. Only where the request says that anyone may, and is the one that says so: the
annotation bears the name of the replica that was named with it, for it may outlive its request.
"""

from identity import annotation
from kube import Kube, KubeError
from postmaster import state

ANYONE = "plumbline.dev/anyone"


class Handover:
    def __init__(self, member):
        self._member = member
        self._was_primary = False

    def look(self):
        """Returns what went wrong, or None. Reads two files; asks the API once for each primary that stops."""
        word = state(self._member.data)
        if word in ("ready", "standby"):
            self._was_primary = word == "ready"
            return None
        if not self._was_primary:
            return None
        self._was_primary = False
        request = f"{self._member.patroni['scope']}-failover"
        try:
            kube = Kube("plumbline-steward")
            found = kube.get("configmaps", request)
            named = annotation(found, "member")
            if annotation(found, "leader") == self._member.name and named and annotation(found, ANYONE) == named:
                version = found["metadata"]["resourceVersion"]
                kube.annotate("configmaps", request, {"leader": None, "member": None, ANYONE: None}, version)
                print("steward: whoever is in step may take over", flush=True)
        except KubeError as error:
            return error
        return None
