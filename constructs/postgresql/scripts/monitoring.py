"""The steward of a database that is monitored. Beside what every steward does it sees to the role that the exporter logs in as, on a primary, and on every
member writes down what the exporter logs in with.

That password stands in no Secret: it follows from that of the superuser, which every member has mounted, and nobody gets back from the one to the other.
So all members know it, a replica lets in whom its primary lets in, and it changes with the Secret.
"""

import ending  # isort: skip  # pylint: disable=unused-import

import hashlib
import hmac
import json
import os
import threading
import time

import steward
from member import Member
from passwords import system_passwords
from postmaster import primary_since
from roles import SUPERUSER, Step
from scram import matches, verifier
from sql import Sql, SqlError, identifier, literal

ROLE = "plumbline_monitoring"
# May read every statistic and setting, and no row of anybody.
# Source: https://www.postgresql.org/docs/current/predefined-roles.html
GROUP = "pg_monitor"
FOLDER = os.environ.get("PLUMBLINE_MONITORING", "/run/plumbline-monitoring")
LOOK_EVERY_SECONDS = 1
LONGEST_PAUSE_SECONDS = 30


class Monitoring:
    """Looks at files, and runs SQL once for each start of a primary and each new password."""

    def __init__(self, clock=time.monotonic):
        self._member = Member()
        self._sql = Sql(self._member.socket, self._member.port)
        self._clock = clock
        self._written = None
        self._ensured = None
        self._not_before = 0
        self._pause = LOOK_EVERY_SECONDS
        self._complaint = None

    def look(self):
        """Raises OSError where the password cannot be written down."""
        password = password_of(system_passwords().get(SUPERUSER))
        if password is None:
            return
        if password != self._written:
            write_down(password, self._member.port)
            self._written = password
        primary = primary_since(self._member.data)
        wanted = (primary, password)
        if primary is None:
            self._ensured = None
        elif wanted != self._ensured and self._clock() >= self._not_before:
            self._ensure(wanted)

    def _ensure(self, wanted):
        """As the roles of the system: only where Patroni holds the lock, for before it may be initialising still."""
        try:
            if not steward.is_leader(self._member.rest_port):
                return
            facts = json.loads(self._sql.run(FACTS_QUERY))
            if facts["recovering"]:
                return
            for step in plan(facts["role"], wanted[1]):
                self._sql.run(step.statement)
                steward.log(step.what)
        except SqlError as error:
            self.complain(error)
            self._not_before = self._clock() + self._pause
            self._pause = min(self._pause * 2, LONGEST_PAUSE_SECONDS)
            return
        self._ensured, self._pause = wanted, LOOK_EVERY_SECONDS
        self.complain(None)

    def complain(self, error):
        """Logs what is wrong once, until it is wrong in another way; None: it is right again."""
        text = None if error is None else f"{type(error).__name__}: {error}"
        if text and text != self._complaint:
            steward.log(f"role {ROLE} is not in order yet: {text}")
        self._complaint = text


FACTS_QUERY = f"""select json_build_object(
  'recovering', pg_is_in_recovery(),
  'role', (select json_build_object('verifier', rolpassword, 'login', rolcanlogin, 'monitors', pg_has_role(oid, '{GROUP}', 'member'))
    from pg_authid where rolname = {literal(ROLE)}));"""


def plan(found, password):
    """Steps in order; none where the role is as it should be. found: what FACTS_QUERY says of it; None where it is not there."""
    role, secret = identifier(ROLE), literal(verifier(password))
    steps = []
    if found is None:
        steps.append(Step(f"role {ROLE} made", f"create role {role} LOGIN password {secret};"))
    elif not found["login"] or not matches(found["verifier"], password):
        steps.append(Step(f"role {ROLE} may log in", f"alter role {role} LOGIN password {secret};"))
    if found is None or not found["monitors"]:
        steps.append(Step(f"role {ROLE} may monitor", f"grant {GROUP} to {role};"))
    return steps


def password_of(superuser):
    """None where the Secret has no password of the superuser."""
    return superuser and hmac.new(superuser.encode("utf-8"), ROLE.encode("ascii"), hashlib.sha256).hexdigest()


def write_down(password, port):
    """As libpq and its kin read it; they take no file that others may read. It appears whole."""
    path = f"{FOLDER}/pgpass"
    with open(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(f"localhost:{port}:*:{ROLE}:{password}\n")
    os.replace(f"{path}.new", path)


def keep():
    monitoring = Monitoring()
    while True:
        try:
            monitoring.look()
        except Exception as error:  # pylint: disable=broad-except
            # Nothing about metrics may end a steward.
            monitoring.complain(error)
        time.sleep(LOOK_EVERY_SECONDS)


if __name__ == "__main__":
    threading.Thread(target=keep, name="monitoring", daemon=True).start()
    steward.main()
