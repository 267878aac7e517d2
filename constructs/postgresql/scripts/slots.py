"""The logical slots of this member, stated on its pod whenever they change: which are its own, and which it keeps in step with the primary's and could
go on with. So nobody has to move the primary away from a slot without knowing.

And it makes room for a copy: PostgreSQL synchronises no failover slot while an own one of that name is there, which a primary of before has.
Source: https://github.com/patroni/patroni/pull/3493
"""

import json
import os

from identity import annotation
from kube import Kube
from sql import literal

SLOTS = "plumbline.dev/slots"
# A slot that is synchronised moves without a change of the folder.
LOOK_EVERY_SECONDS = 5
LONGEST_PAUSE_SECONDS = 300


class Slots:
    def __init__(self, member, sql, clock):
        self._member = member
        self._sql = sql
        self._clock = clock
        self._folder = f"{member.data}/pg_replslot"
        self._mark = None
        self._look_at = 0
        self._stated = None
        self._clear_at = 0
        self._pause = LOOK_EVERY_SECONDS
        # Whether there is any logical slot, also one that is only being copied: without one, nothing but a folder is looked at.
        self.has_any = False

    def look(self, since, is_primary):
        """since: when the server was started; None while it takes no connections. Raises SqlError and KubeError."""
        if since is None:
            return
        mark = (since, is_primary, _names(self._folder))
        if mark == self._mark and not (self.has_any and self._clock() >= self._look_at):
            return
        self._look_at = self._clock() + LOOK_EVERY_SECONDS
        found = json.loads(self._sql.run(SLOTS_QUERY))
        self.has_any = bool(found)
        if mark != self._mark:
            self._clear_at, self._pause = 0, LOOK_EVERY_SECONDS
        stated = json.dumps(statement(found, is_primary), separators=(",", ":"))
        if stated != self._stated:
            Kube("plumbline-steward").annotate("pods", self._member.name, {SLOTS: stated})
            self._stated = stated
        self._mark = mark
        outdated = [] if is_primary else [slot["slot_name"] for slot in found if is_outdated(slot)]
        if outdated and self._clock() >= self._clear_at:
            self._clear_at = self._clock() + self._pause
            self._pause = min(self._pause * 2, LONGEST_PAUSE_SECONDS)
            self._clear(outdated)

    def _clear(self, outdated):
        """Drops own copies of failover slots that the primary says it has; one that it lacks is the only one there is, and stays."""
        kube = Kube("plumbline-steward")
        leader = annotation(kube.get("configmaps", f"{self._member.patroni['scope']}-leader"), "leader")
        if not leader or leader == self._member.name:
            return
        said = json.loads(annotation(kube.get("pods", leader), SLOTS) or "{}")
        there = {slot["name"] for slot in said.get("own", []) if slot["failover"]}
        for name in outdated:
            if name in there:
                self._sql.run(f"select pg_drop_replication_slot({literal(name)});")
                print(f"steward: outdated copy of slot {name} dropped: {leader} has the slot, and it is synchronised from there", flush=True)


# Whole rows, for each major has some columns more.
SLOTS_QUERY = """select coalesce(json_agg(to_json(s) order by slot_name), '[]') from pg_replication_slots s
where slot_type = 'logical';"""


def statement(slots, is_primary):
    """What is stated of the rows of pg_replication_slots. One that has lost its WAL is no slot any more, and one is temporary until it is copied."""
    usable = [slot for slot in slots if not slot["temporary"] and not is_lost(slot)]
    # A primary that has been a replica calls the copies that it goes on with synced still.
    synced = [] if is_primary else [slot for slot in usable if slot.get("synced") is True]
    own = [
        {
            "name": slot["slot_name"],
            "database": slot["database"],
            "plugin": slot["plugin"],
            "failover": slot.get("failover") is True,
        }
        for slot in usable
        if slot not in synced
    ]
    return {"own": own, "synced": [slot["slot_name"] for slot in synced]}


def is_lost(slot):
    return slot.get("wal_status") == "lost" or slot.get("conflicting") is True or slot.get("invalidation_reason") is not None


def is_outdated(slot):
    """Of a standby: a failover slot that is no copy of the primary's."""
    return slot.get("failover") is True and slot.get("synced") is False and not slot["active"]


def _names(folder):
    try:
        return tuple(sorted(os.listdir(folder)))
    except OSError:
        return ()
