"""Does what needs SQL, over the local socket of this member: on a primary it sees to the roles of the system, the owner and the first database,
at each start, at each promotion and when a mounted password changes. On every member it states disk, WAL and slot use on the pod, in coarse steps.

It also states which certificate is served, and which logical slots there are.

It is quiet: at rest it looks at files, runs no SQL but one query a minute on a primary, and one each 5 s where there is a logical slot, and asks nothing of
the Kubernetes API.
"""

import ending  # isort: skip  # pylint: disable=unused-import

import json
import os
import threading
import time

from handover import Handover
from identity import START, identity_of, record, recorded
from kube import Kube, KubeError, is_deleted
from member import Member
from passwords import all_passwords, incomplete, is_owner_usable
from postmaster import primary_since, server_since
from rest import ask
from roles import facts_query, plan
from settings import Settings
from slots import Slots
from sql import Sql, SqlError
from tls import TlsStatement
from usage import Usage, annotation_of

USAGE = "plumbline.dev/usage"
SETTINGS = "plumbline.dev/settings"
LOOK_EVERY_SECONDS = 1
# A primary that hands over keeps the lock for a second after it has stopped: that long there is to open the switchover.
GLANCES = 10
MEASURE_EVERY_SECONDS = 10
MEASURE_SLOTS_EVERY_SECONDS = 60
ASK_AGAIN_SECONDS = 3


class Steward:
    def __init__(self, clock=time.monotonic):
        self.member = Member()
        self.data = self.member.data
        self.sql = Sql(self.member.socket, self.member.port)
        self.usage = Usage(self.data)
        self.handover = Handover(self.member)
        self.tls = TlsStatement(self.member, clock)
        self.settings = Settings(self.member, self.sql, clock)
        self.slots = Slots(self.member, self.sql, clock)
        self.judged = None
        self.clock = clock
        self.ensured = None
        self.is_identified = False
        self.is_held = False
        self.not_before = 0
        self.pause = 1
        self.measure_at = 0
        self.kept_at = 0
        self.kept = {}
        self.stated = None
        self.complaints = {}
        self.lack = None

    def look(self):
        primary = primary_since(self.data)
        wanted = (primary, all_passwords(self.member.username)) if primary else None
        if wanted is None:
            self.ensured = None
        elif wanted != self.ensured and self.clock() >= self.not_before:
            self.ensure(wanted)
        self.state_slots(is_primary=primary is not None)
        self.state_lack()
        self.judge()
        if self.clock() >= self.measure_at:
            self.measure_at = self.clock() + MEASURE_EVERY_SECONDS
            self.measure(is_primary=primary is not None)
        self.state_tls()

    def rest(self):
        """Waits for the next look, with an eye on a primary that stops."""
        for _ in range(GLANCES):
            self.complain("the switchover stays with the replica that was named", self.handover.look())
            time.sleep(LOOK_EVERY_SECONDS / GLANCES)

    def ensure(self, wanted):
        """Brings roles and database to what is wanted; does nothing where they are.

        Only where Patroni holds the lock: before, it may be initialising still, and would take a role of ours for a failure. And only once the
        claim knows the identity: whatever a user stores comes after that.
        """
        passwords = wanted[1]
        try:
            if not is_leader(self.member.rest_port):
                return
            self.identify()
            facts = json.loads(self.sql.run(facts_query(self.member.username, self.member.database)))
            if facts["recovering"]:
                return
            if not self.may_make_owner(facts):
                self.not_before = self.clock() + self.pause
                return
            for step in plan(facts, self.member.username, self.member.database, passwords):
                self.sql.run(step.statement)
                log(step.what)
        except (SqlError, KubeError) as error:
            self.complain("roles and database are not in order yet", error)
            self.not_before = self.clock() + self.pause
            self.pause = min(self.pause * 2, 5)
            return
        self.ensured, self.pause = wanted, 1
        self.complain("roles and database are not in order yet", None)
        lack = None if is_owner_usable() else "its Secret holds none, or one that is no text"
        self.complain(f"the password of role {self.member.username} stays as it is", lack)

    def may_make_owner(self, facts):
        """Whether the owner is there, or has a password to be made with: without one nobody could ever log in, so that is stated on the pod."""
        may = self.member.username in facts["roles"] or is_owner_usable()
        if may == self.is_held:
            message = f"the Secret with the credentials has no text under the key password, so {self.member.username} could never log in: put one there"
            told = None if may else json.dumps({"reason": "CredentialsUnusable", "message": message})
            Kube("plumbline-steward").annotate("pods", self.member.name, {START: told})
            self.is_held = not may
        return may

    def identify(self):
        """Asks the API once: later, a password is to be set also while the API is away."""
        if self.is_identified:
            return
        kube = Kube("plumbline-steward")
        if not recorded(kube, self.member.name):
            record(kube, self.member.name, identity_of(self.data))
        self.is_identified = True

    def judge(self):
        """States what this server makes of the settings, when they or the server are new, and restarts it when the pod is asked for that."""
        self.complain("the restart that the pod is asked for has to wait", self.settings.restart_if_asked())
        mark = self.settings.mark()
        # A primary says nothing before its roles and its database are there: so whoever reads this knows that they are.
        if mark is None or mark == self.judged or (primary_since(self.data) and self.ensured is None):
            return
        try:
            found = self.settings.judge()
            if found is None:
                return
            stated = json.dumps(found, separators=(",", ":"))
            Kube("plumbline-steward").annotate("pods", self.member.name, {SETTINGS: stated})
            self.judged = mark
        except (SqlError, KubeError) as error:
            self.complain("settings cannot be stated on the pod", error)

    def measure(self, is_primary):
        if not is_primary and not self.slots.has_any:
            self.kept = {}
        elif self.clock() >= self.kept_at:
            self.kept_at = self.clock() + MEASURE_SLOTS_EVERY_SECONDS
            try:
                self.kept = json.loads(self.sql.run(KEPT_QUERY))
            except SqlError as error:
                self.complain("slots cannot be measured", error)
        wanted = annotation_of(self.usage.measure(self.kept))
        if wanted is None or wanted == self.stated:
            return
        try:
            Kube("plumbline-steward").annotate("pods", self.member.name, {USAGE: wanted})
            self.stated = wanted
        except KubeError as error:
            self.complain("use cannot be stated on the pod", error)

    def state_slots(self, is_primary):
        try:
            self.slots.look(server_since(self.data), is_primary)
        except (SqlError, KubeError) as error:
            self.complain("slots cannot be stated on the pod", error)

    def state_lack(self):
        """Says on the pod what the system Secret lacks while the server goes on with what it had; before, the start gate does."""
        lack = incomplete()
        if lack == self.lack or server_since(self.data) is None:
            return
        told = lack and json.dumps({"reason": lack[0], "message": lack[1]})
        try:
            Kube("plumbline-steward").annotate("pods", self.member.name, {START: told})
            self.lack = lack
        except KubeError as error:
            self.complain("what the system Secret lacks cannot be stated on the pod", error)

    def state_tls(self):
        try:
            self.tls.look(server_since(self.data))
        except KubeError as error:
            self.complain("the certificate cannot be stated on the pod", error)

    def complain(self, what, why):
        """Logs what is wrong once, until it is wrong in another way; None: it is right again."""
        text = None if why is None else str(why)
        if text and text != self.complaints.get(what):
            log(f"{what}: {text}")
        self.complaints[what] = text


# How much WAL each slot keeps from being removed; of a standby only those that are not Patroni's, which moves its own along.
KEPT_QUERY = """select coalesce(json_object_agg(slot_name, greatest(pg_wal_lsn_diff(
  case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, restart_lsn), 0)::bigint), '{}')
from pg_replication_slots where restart_lsn is not null and not temporary and (slot_type = 'logical' or not pg_is_in_recovery());"""


def is_leader(port):
    """Whether Patroni holds the lock of the primary here."""
    return ask(port, "GET", "/primary")[0] == 200


def log(text):
    print(f"steward: {text}", flush=True)


def end_with_pod(name):
    """Ends this process where its pod was deleted before it heeded TERM. Asks the API until it has answered once."""
    while True:
        try:
            if is_deleted(Kube("plumbline-steward").get("pods", name)):
                os._exit(0)
            return
        except KubeError:
            time.sleep(ASK_AGAIN_SECONDS)


def main():
    steward = Steward()
    # Beside the rest: while the API is away, each look takes its time.
    threading.Thread(target=end_with_pod, args=(steward.member.name,), name="ending", daemon=True).start()
    while True:
        try:
            steward.look()
            steward.rest()
        except Exception as error:  # pylint: disable=broad-except
            # A steward that ended would make the whole member unready, and so end the service of a healthy primary.
            steward.complain("goes on", f"{type(error).__name__}: {error}")
            time.sleep(LOOK_EVERY_SECONDS)


if __name__ == "__main__":
    main()
