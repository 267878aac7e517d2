"""What this server makes of the settings of the database, stated on the pod: which configuration it has read, which values PostgreSQL refuses and in
which words, and which wait for a restart. And the restart itself, when the pod is asked for it."""

import hashlib
import json
import os
import re
import subprocess

from passwords import read_text
from postmaster import primary_since, server_since
from rest import ask
from sql import SqlError, literal

ASKED = os.environ.get("PLUMBLINE_ASKED", "/etc/plumbline-asked")
LIBRARIES = "shared_preload_libraries"
LONGEST_PAUSE_SECONDS = 30
# At the end of a request to a replica: it is none to the primary that it may have become.
AS_REPLICA = "-replica"
# Patroni gives these to the server as arguments, so that the server itself never has them waiting.
# Source: https://patroni.readthedocs.io/en/latest/patroni_configuration.html
COMMAND_LINE = (
    "max_connections",
    "max_locks_per_transaction",
    "max_prepared_transactions",
    "max_replication_slots",
    "max_wal_senders",
    "max_worker_processes",
    "track_commit_timestamp",
    "wal_level",
)


def digest_of(configuration):
    """Of Patroni's dynamic configuration; the renderer computes the same."""
    text = json.dumps(configuration, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


class Settings:
    def __init__(self, member, sql, clock):
        self._data = member.data
        self._port = member.rest_port
        self._sql = sql
        self._clock = clock
        # The digest that was judged last, and what PostgreSQL refuses of it.
        self._judged = (None, None)
        self._is_restart_needed = False
        # The request that was seen last, and what came of it.
        self._asked = None
        self._tries = 0
        self._not_before = 0
        self._is_restarted = False

    def mark(self):
        """Changes whenever there is something to judge anew: another configuration, or another start of the server. From files, so it costs nothing."""
        since = server_since(self._data)
        try:
            file = os.stat(f"{self._data}/patroni.dynamic.json")
        except OSError:
            return None
        return None if since is None else (file.st_ino, file.st_mtime_ns, self._tries, *since)

    def judge(self):
        """What is to be stated, or None while Patroni cannot say yet."""
        configuration = self._configuration()
        _, said = ask(self._port, "GET", "/patroni")
        if not isinstance(configuration, dict) or said is None or said.get("state") != "running":
            return None
        digest = digest_of(configuration)
        if self._judged[0] != digest:
            self._judged = (digest, self._refused(configuration["postgresql"]["parameters"]))
        reasons = said.get("pending_restart_reason") or {}
        restart = self._confirmed({name: [one.get("old_value"), one.get("new_value")] for name, one in reasons.items()})
        self._is_restart_needed = bool(restart)
        return {"digest": digest, "refused": self._judged[1], "restart": restart}

    def _configuration(self):
        return json.loads(read_text(f"{self._data}/patroni.dynamic.json") or "null")

    def _confirmed(self, restart):
        """Those that the server confirms. Patroni asks it one second after a reload, which it may not have seen by then, and never again."""
        if not restart:
            return {}
        names = ", ".join(literal(name) for name in restart)
        found = json.loads(self._sql.run(f"select json_object_agg(name, array[setting, pending_restart::text]) from pg_settings where name in ({names});"))
        return {
            name: values
            for name, values in restart.items()
            if found[name][1] == "true" or (name in COMMAND_LINE and found[name][0] != values[1])
        }

    def _refused(self, parameters):
        refused = refusals(parameters)
        names = [name.strip() for name in parameters.get(LIBRARIES, "").split(",") if name.strip()]
        for name in names if LIBRARIES not in refused else []:
            try:
                self._sql.run(f"load {literal(name)};")
            except SqlError as error:
                # Some libraries cannot be loaded later; that says nothing of a start.
                if "could not access file" in str(error):
                    refused[LIBRARIES] = str(error).split("ERROR:", 1)[-1].strip()
        return refused

    def restart_if_asked(self):
        """Restarts the server for a request, which names the settings that it is for: those that are there now, judged, and not refused. One that was
        left on the pod since other settings, or since this was a replica, is nobody's wish any more. A primary is restarted once for each request; a
        standby that still needs it, for it had not replayed the new value of its primary, again. Returns what went wrong, or None."""
        asked = (read_text(f"{ASKED}/restart") or "").strip()
        if not asked or self.mark() is None:
            return None
        if asked != self._asked:
            self._asked, self._tries, self._not_before, self._is_restarted = asked, 0, 0, False
        is_primary = primary_since(self._data) is not None
        if is_primary and (self._is_restarted or asked.endswith(AS_REPLICA)):
            return None
        if not self._is_restart_needed or self._clock() < self._not_before:
            return None
        digest = asked.split("-")[0]
        if digest != self._judged[0] or digest != digest_of(self._configuration()):
            return None
        if self._judged[1]:
            return f"PostgreSQL refuses {', '.join(sorted(self._judged[1]))}"
        status, answer = ask(self._port, "POST", "/restart", {"restart_pending": True})
        # What is stated may be old by now, so it is judged anew before the next try.
        self._not_before = self._clock() + min(2**self._tries, LONGEST_PAUSE_SECONDS)
        self._tries += 1
        self._is_restarted = status == 200
        return None if self._is_restarted else f"Patroni says: {answer or 'nothing'}"


def refusals(parameters):
    """By name: the words in which PostgreSQL refuses a value. It reads them as it would at a start, and names the first that it refuses."""
    left, refused = dict(parameters), {}
    while left:
        words = _refusal(left)
        if words is None:
            break
        found = re.search(r'parameter "([^"]+)"', words)
        name = found.group(1) if found and found.group(1) in left else None
        # Words that name no setting are of one of them all the same: each is tried alone.
        for culprit in [name] if name else [one for one in left if _refusal({one: left[one]})]:
            refused[culprit] = words if name else _refusal({culprit: left[culprit]})
            del left[culprit]
        if name is None:
            break
    return refused


def _refusal(parameters):
    settings = [part for name, value in parameters.items() for part in ("-c", f"{name}={value}")]
    files = [part for name in ("config_file", "hba_file", "ident_file") for part in ("-c", f"{name}=/dev/null")]
    command = ["postgres", "-C", "port", "-c", "data_directory=/", *files, *settings]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=False)
    if done.returncode == 0:
        return None
    words = re.findall(r"(?:FATAL|ERROR|DETAIL|HINT):\s+(.*)", done.stderr)
    return ". ".join(word.rstrip(".") for word in words) or done.stderr.strip() or f"postgres ended with {done.returncode}"
