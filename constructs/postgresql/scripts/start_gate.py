"""Decides whether and as what this member may start, and composes Patroni's configuration.

There is never a second initdb: only member 0 may initialise, and only if neither a claim nor Patroni's configuration knows an identity for this
database. A member without data otherwise waits for a leader to clone from.

    start_gate.py start           waits until this member may start, then writes the configuration; ends with 3 where its pod is deleted
    start_gate.py compose         writes the configuration anew and puts the certificate into service, for a Secret that changed
    start_gate.py may-initialise  asks once more, just before initdb
    start_gate.py initdb-failed   states on the pod why initdb failed, by what it said on standard input
    start_gate.py initialised     takes that back
    start_gate.py clone-failed    states on the pod that the volume is too small, if that is why
    start_gate.py cloned          writes the identity of the data here onto this member's claim
"""

import json
import os
import re
import shutil
import sys
import time

import lock
import pair
from configuration import RUN, serves_tls, write_configuration
from identity import START, annotation, claim_of, identity_of, record, recorded
from image import patroni_version, unfit
from kube import Kube, KubeError, is_deleted
from member import Member
from passwords import incomplete, read_text
from verdict import judge

# Is there while the last initdb failed.
FAILED = f"{RUN}/initdb-failed"
NO_SPACE = "No space left on device"
# initdb writes some 40 MiB; the first start and the first database as much again.
NEW_DATABASE_BYTES = 80 * 1024 * 1024
POD_DELETED = 3


class Gate:
    def __init__(self):
        self.member = Member()
        self.data = self.member.data
        self.kube = Kube("plumbline-start-gate")
        self.patroni = None

    def start(self):
        said, is_to_stay = None, False
        while True:
            try:
                if not is_to_stay and is_deleted(self.kube.get("pods", self.member.name)):
                    log("the pod is deleted: nothing is started")
                    sys.exit(POD_DELETED)
                is_to_stay = True
                verdict, reason, message = self._prepare()
            except KubeError as error:
                verdict, reason, message = ("hold", "ApiUnavailable", str(error))
            if (reason, message) != said:
                log(f"{reason}: {message}")
                self._tell(verdict, reason, message)
                said = (reason, message)
            if verdict != "hold":
                write_configuration(self.member, self.kube.namespace, verdict == "initialise")
                return
            time.sleep(3)

    def _prepare(self):
        problem = self._unfit()
        if problem:
            return ("hold", *problem)
        local, problem = self._local_identity()
        if problem:
            return ("hold", *problem)
        configuration = self.kube.get("configmaps", self.member.configuration)
        initialize = annotation(configuration, "initialize")
        own = recorded(self.kube, self.member.name)
        # With data here and its claim and Patroni agreeing there is nothing to ask the others.
        claims = [own] if local and local == own == initialize else self._claims(own)
        verdict, reason, message = judge(
            self.member.ordinal, local, [c for c in claims if c], own, initialize, configuration is not None
        )
        if verdict == "start" and own is None:
            record(self.kube, self.member.name, local)
        if verdict == "initialise":
            # No identity is known, so what Patroni moved aside never was anybody's data.
            shutil.rmtree(f"{self.data}.failed", ignore_errors=True)
        if verdict == "initialise" and self._free() < NEW_DATABASE_BYTES:
            return (
                "hold",
                "VolumeFull",
                f"the volume (PersistentVolumeClaim {claim_of(self.member.name)}) has {mebibytes(self._free())} MiB left and a new database needs {mebibytes(NEW_DATABASE_BYTES)}: let it grow, or create the database anew with a larger spec.storage.size",
            )
        identity = local or next((c for c in claims if c), None)
        if verdict in ("start", "clone") and identity and configuration and not initialize:
            self._initialize(configuration, identity)
        if verdict == "initialise" and initialize == "":
            # An earlier initialisation was cut off. Only this member ever initialises, so it is nobody else's.
            self._initialize(configuration, None)
        return verdict, reason, message

    def _unfit(self):
        """Why nothing can start in this container, whatever the data."""
        volume = os.path.dirname(self.data)
        try:
            probe = f"{volume}/.plumbline-write"
            with open(probe, "w", encoding="utf-8"):
                pass
            os.unlink(probe)
        except OSError as error:
            if error.errno not in (28, 122):  # A full volume is still to be started: it is how it can be grown or emptied.
                return ("VolumeNotWritable", f"uid {os.getuid()} cannot write to the data volume: {error.strerror}")
        if lock.is_to_be_opened(volume):
            sys.exit("start gate: the data volume can be written to now; it is locked first")
        if not lock.is_ours():
            return (
                "VolumeInUse",
                f"another container still uses the data volume (PersistentVolumeClaim {claim_of(self.member.name)}), such as that of a pod that was deleted by force; this one starts when that has ended",
            )
        problem = incomplete()
        if problem:
            return problem
        problem = self._certify()
        if problem and not pair.is_in_service():
            return ("TlsSecretUnusable", f"{problem}; nothing can be served before it is mended")
        # Read once: the image of a container never changes.
        self.patroni = self.patroni or patroni_version()
        return unfit(self.member.major, self.patroni)

    def _free(self):
        """Bytes that this user can still write to the volume."""
        volume = os.statvfs(os.path.dirname(self.data))
        return volume.f_bavail * volume.f_frsize

    def _certify(self):
        """Puts the mounted certificate into service; why that cannot be. The steward says on the pod what is wrong while an earlier one serves."""
        problem = pair.install(self.data) if serves_tls(self.member) else None
        return problem and f"Secret {self.member.tls['secret']}: {problem}"

    def compose(self):
        problem = self._certify()
        if problem:
            log(f"the certificate stays as it was: {problem}")
        lack = incomplete()
        if lack:
            # It succeeds all the same: nothing is to be tried again before the Secret changes. The steward says it on the pod.
            log(f"the passwords stay as they were: {lack[1]}")
            return
        write_configuration(self.member, self.kube.namespace)

    def _local_identity(self):
        """(identity, problem) of the data directory; leftovers of an initdb or a clone that was cut off go, for they never were data."""
        for leftover in (f"{self.data}.initialising", f"{self.data}.clone"):
            if os.path.lexists(leftover):
                log(f"removes {leftover}: it was never finished")
                shutil.rmtree(leftover)
        if not os.path.isdir(self.data) or not os.listdir(self.data):
            return None, None
        # First, for the programs of one major cannot read the control file of another.
        major = (read_text(f"{self.data}/PG_VERSION") or "").strip()
        if major.isdigit() and major != str(self.member.major):
            return None, (
                "WrongMajor",
                f"the data is of PostgreSQL {major}, the spec says {self.member.major}: correct spec.version",
            )
        identity = identity_of(self.data)
        if identity:
            return identity, None
        return None, (
            "DataUnreadable",
            f"{self.data} is not empty and has no valid control file; nothing is removed: restore it, or delete this member's claim to have it cloned",
        )

    def _claims(self, own):
        return [own, *(recorded(self.kube, name) for name in self.member.members if name != self.member.name)]

    def _initialize(self, configuration, identity):
        version = configuration["metadata"]["resourceVersion"]
        self.kube.annotate("configmaps", self.member.configuration, {"initialize": identity}, version)

    def _tell(self, verdict, reason, message):
        """States on the pod why it does not start, and takes that back once it does."""
        is_shown = verdict == "hold" or reason == "WaitingForLeader"
        # A failure is told until initdb has succeeded, and not taken back at each new try.
        if verdict == "initialise" and os.path.exists(FAILED):
            return
        try:
            shown = json.dumps({"reason": reason, "message": message}) if is_shown else None
            if shown or annotation(self.kube.get("pods", self.member.name), START):
                self.kube.annotate("pods", self.member.name, {START: shown})
        except KubeError as error:
            log(f"cannot annotate the pod: {error}")

    def may_initialise(self):
        if os.path.isdir(self.data) and os.listdir(self.data):
            log("no initdb: the data directory is not empty")
            return False
        configuration = self.kube.get("configmaps", self.member.configuration)
        own = recorded(self.kube, self.member.name)
        claims = [claim for claim in self._claims(own) if claim]
        initialize = annotation(configuration, "initialize")
        verdict, reason, message = judge(self.member.ordinal, None, claims, own, initialize, configuration is not None)
        if verdict != "initialise":
            log(f"no initdb: {reason}: {message}")
        return verdict == "initialise"

    def initdb_failed(self, output):
        words = last_error(output)
        with open(FAILED, "w", encoding="utf-8"):
            pass
        if NO_SPACE in words:
            self._tell_full(f"is too small for a new database ({words})")
        else:
            self._tell("hold", "InitialisationFailed", words)

    def initialised(self):
        if os.path.exists(FAILED):
            os.unlink(FAILED)
            self._tell("start", "DataPresent", "")

    def clone_failed(self, output):
        """Patroni tries again; only want of room is for somebody else to mend."""
        if NO_SPACE in output:
            self._tell_full("has no room for a copy of the primary")

    def _tell_full(self, what):
        self._tell("hold", "VolumeFull", f"the volume (PersistentVolumeClaim {claim_of(self.member.name)}) {what}: let it grow")

    def cloned(self):
        record(self.kube, self.member.name, identity_of(self.data))
        self._tell("start", "DataPresent", "")


def last_error(output):
    """The last line that says what went wrong. Of a failed statement only the message, never the statement."""
    errors = re.findall(r"(?:error|ERROR|FATAL|PANIC):\s+(.+)", output)
    return errors[-1].strip() if errors else "initdb ended without a word; the log of the container may say more"


def mebibytes(size):
    return size // (1024 * 1024)


def log(text):
    print(f"start gate: {text}", flush=True)


def main(arguments):
    gate = Gate()
    if arguments == ["start"]:
        gate.start()
    elif arguments == ["compose"]:
        gate.compose()
    elif arguments == ["may-initialise"]:
        sys.exit(0 if gate.may_initialise() else 1)
    elif arguments == ["initdb-failed"]:
        gate.initdb_failed(sys.stdin.read())
    elif arguments == ["clone-failed"]:
        gate.clone_failed(sys.stdin.read())
    elif arguments == ["initialised"]:
        gate.initialised()
    elif arguments == ["cloned"]:
        gate.cloned()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
