"""SQL by psql over the local socket. Statements go in by standard input, never as an argument."""

import os
import subprocess

# Nothing that a person has set as a default may stand in the way, and no statement of ours is logged.
SETTINGS = {
    "client_encoding": "UTF8",
    "client_min_messages": "warning",
    "default_transaction_read_only": "off",
    "idle_in_transaction_session_timeout": "0",
    "lock_timeout": "5s",
    "log_duration": "off",
    "log_min_duration_statement": "-1",
    "log_min_error_statement": "panic",
    "log_statement": "none",
    "search_path": "pg_catalog",
    "statement_timeout": "120s",
    # A replica that could acknowledge may need these very roles to connect.
    "synchronous_commit": "local",
}


class SqlError(Exception):
    """The server is not there, or refused a statement; holds the server's message, never the statement."""


class Sql:
    def __init__(self, socket, port, user="postgres", database="postgres"):
        self._environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            "PGHOST": socket,
            "PGPORT": str(port),
            "PGUSER": user,
            "PGDATABASE": database,
            "PGAPPNAME": "plumbline-steward",
            "PGCONNECT_TIMEOUT": "5",
            "PGOPTIONS": " ".join(f"-c {name}={value}" for name, value in SETTINGS.items()),
        }

    def run(self, statement):
        """Runs one statement and returns what it prints."""
        try:
            done = subprocess.run(
                ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=terse", "-w"],
                input=statement.encode("utf-8"),
                capture_output=True,
                env=self._environment,
                timeout=150,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SqlError(f"psql: {type(error).__name__}") from error
        if done.returncode != 0:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise SqlError(lines[0] if lines else f"psql ended with {done.returncode}")
        return done.stdout.decode("utf-8")


def identifier(name):
    return '"' + name.replace('"', '""') + '"'


def literal(text):
    """A string constant that is read the same whatever standard_conforming_strings says."""
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
