"""Decides whether and as what this member may start, and composes Patroni's configuration.

There is never a second initdb: only member 0 may initialise, and only if neither a claim nor Patroni's configuration knows an identity for this
database. A member without data otherwise waits for a leader to clone from.

    start_gate.py start           waits until this member may start, then writes the configuration
    start_gate.py compose         writes the configuration anew, for passwords that changed
    start_gate.py may-initialise  asks once more, just before initdb
    start_gate.py cloned          writes the identity of the data here onto this member's claim
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time

from identity import IDENTITY, annotation, identity_of, record, recorded
from kube import Kube, KubeError
from member import Member
from passwords import missing_keys, read_text, rest_password, system_passwords

RUN = os.environ.get("PLUMBLINE_RUN", "/run/plumbline")
START = "plumbline.dev/start"


def judge(ordinal, local, claims, own, initialize, has_configuration):
    """(verdict, reason, message): start, initialise, clone, or hold.

    local: identity of the data here, None where there is none. claims: identities on all claims of the database.
    own: identity on this member's claim. initialize: Patroni's record, "" while an initialisation is under way.
    """
    known = sorted(set(claims) | ({initialize} if initialize else set()))
    if local:
        if own and own != local:
            return (
                "hold",
                "ForeignData",
                f"the volume holds database {local}, but its claim says {own}: bind the right volume, or correct the annotation {IDENTITY} of the claim",
            )
        if known and local not in known:
            return (
                "hold",
                "ForeignData",
                f"the volume holds database {local}, but this database is {' or '.join(known)}: bind the right volume, or delete this member's claim to have it cloned",
            )
        return ("start", "DataPresent", f"database {local}")
    if len(known) > 1:
        return (
            "hold",
            "IdentityConflict",
            f"the claims of this database hold different data ({', '.join(known)}): delete the claims that do not belong to it",
        )
    if known:
        return ("clone", "WaitingForLeader", f"no data here; database {known[0]} is cloned from its leader")
    if not has_configuration:
        return ("hold", "ConfigurationMissing", "Patroni's configuration is not there yet")
    if ordinal == 0:
        return ("initialise", "FirstStart", "no member has data: a new database is initialised")
    return ("clone", "WaitingForLeader", "no data here; it is cloned once member 0 has initialised the database")


class Gate:
    def __init__(self):
        self.member = Member()
        self.data = self.member.data
        self.kube = Kube("plumbline-start-gate")

    def start(self):
        said = None
        while True:
            try:
                verdict, reason, message = self._prepare()
            except KubeError as error:
                verdict, reason, message = ("hold", "ApiUnavailable", str(error))
            if (reason, message) != said:
                log(f"{reason}: {message}")
                self._tell(verdict, reason, message)
                said = (reason, message)
            if verdict != "hold":
                self.compose(may_initialise=verdict == "initialise")
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
        identity = local or next((c for c in claims if c), None)
        if verdict in ("start", "clone") and identity and configuration and not initialize:
            self._initialize(configuration, identity)
        if verdict == "initialise" and initialize == "":
            # An earlier initialisation was cut off. Only this member ever initialises, so it is nobody else's.
            self._initialize(configuration, None)
        return verdict, reason, message

    def _unfit(self):
        """Why nothing can start in this container, whatever the data."""
        try:
            probe = f"{os.path.dirname(self.data)}/.plumbline-write"
            with open(probe, "w", encoding="utf-8"):
                pass
            os.unlink(probe)
        except OSError as error:
            if error.errno not in (28, 122):  # A full volume is still to be started: it is how it can be grown or emptied.
                return ("VolumeNotWritable", f"uid {os.getuid()} cannot write to the data volume: {error.strerror}")
        missing = missing_keys()
        if missing:
            return (
                "SystemSecretIncomplete",
                f"the system Secret has no usable password under {', '.join(missing)}: add a line of text for each",
            )
        version = output(["postgres", "--version"])
        found = re.search(r"\d+", version)
        if found and int(found.group()) != self.member.major:
            return (
                "WrongMajor",
                f"the image holds PostgreSQL {found.group()}, the spec says {self.member.major}: correct spec.image or spec.version",
            )
        return None

    def _local_identity(self):
        """(identity, problem) of the data directory; leftovers of an initdb or a clone that was cut off go, for they never were data."""
        for leftover in (f"{self.data}.initialising", f"{self.data}.clone"):
            if os.path.lexists(leftover):
                log(f"removes {leftover}: it was never finished")
                shutil.rmtree(leftover)
        if not os.path.isdir(self.data) or not os.listdir(self.data):
            return None, None
        identity = identity_of(self.data)
        if identity:
            major = (read_text(f"{self.data}/PG_VERSION") or "").strip()
            if major != str(self.member.major):
                return None, (
                    "WrongMajor",
                    f"the data is of PostgreSQL {major}, the spec says {self.member.major}: correct spec.version",
                )
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

    def cloned(self):
        record(self.kube, self.member.name, identity_of(self.data))
        self._tell("start", "DataPresent", "")

    def compose(self, may_initialise=None):
        path = f"{RUN}/patroni.yml"
        if may_initialise is None:
            may_initialise = '"bootstrap"' in (read_text(path) or "")
        write(f"{RUN}/pgpass", password_file(system_passwords()))
        configuration = compose(self.member, self.kube.namespace, rest_password(), may_initialise)
        write(path, json.dumps(configuration, indent=1))


def compose(member, namespace, password, may_initialise):
    """Patroni's local configuration: JSON, which is YAML.

    It holds no password of PostgreSQL: the superuser is known by the socket, and libpq finds the others in a password file. So Patroni never
    writes one into an SQL statement, which a server may log.
    """
    configuration = json.loads(json.dumps(member.patroni))
    address = os.environ["POD_IP"]
    host = f"[{address}]" if ":" in address else address
    configuration["name"] = member.name
    configuration["kubernetes"]["namespace"] = namespace
    configuration["kubernetes"]["pod_ip"] = address
    configuration["postgresql"]["connect_address"] = f"{host}:{member.port}"
    configuration["restapi"]["connect_address"] = f"{host}:{member.rest_port}"
    configuration["restapi"]["authentication"] = {"username": "plumbline", "password": password}
    if may_initialise:
        # Without this section a member never initialises.
        configuration["bootstrap"] = {"dcs": {}, "initdb": INITDB}
    return configuration


# One collation that needs no library of the operating system, so that an image of another one sorts alike.
INITDB = [
    "data-checksums",
    {"encoding": "UTF8"},
    {"locale": "C.UTF-8"},
    {"auth-local": "peer"},
    {"auth-host": "reject"},
]


def password_file(passwords):
    """For libpq: a colon and a backslash are escaped; source: https://www.postgresql.org/docs/current/libpq-pgpass.html"""
    escaped = ((role, password.replace("\\", "\\\\").replace(":", "\\:")) for role, password in passwords.items())
    return "".join(f"*:*:*:{role}:{password}\n" for role, password in escaped if role != "postgres")


def write(path, text):
    """A file for this user alone, whole at every moment."""
    fresh = f"{path}.new"
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(fresh, path)


def output(command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


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
    elif arguments == ["cloned"]:
        gate.cloned()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
