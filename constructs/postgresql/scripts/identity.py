"""The identity of a database is the system identifier of its data. It is kept as an annotation on every claim, so that it outlives Patroni's own
record in a ConfigMap."""

import os
import re
import subprocess

IDENTITY = "plumbline.dev/system-identifier"
# On a pod: why its member does not get further, as JSON of a reason and a message.
START = "plumbline.dev/start"


def identity_of(directory):
    """The system identifier, where the control file is there and its checksum is right; else None.

    A wrong checksum is a warning and no failure: `WARNING` on standard output up to PostgreSQL 15, `warning` among the errors later.
    """
    if not os.path.isfile(f"{directory}/PG_VERSION"):
        return None
    try:
        done = subprocess.run(
            ["pg_controldata", "-D", directory],
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except OSError as error:
        raise SystemExit(f"pg_controldata cannot be run: {error}") from error
    if done.returncode != 0 or "warning" in (done.stdout + done.stderr).lower():
        return None
    found = re.search(r"^Database system identifier:\s+(\d+)$", done.stdout, re.M)
    return found.group(1) if found else None


def claim_of(member):
    return f"data-{member}"


def annotation(item, name):
    return None if item is None else (item["metadata"].get("annotations") or {}).get(name)


def recorded(kube, member):
    """The identity that stands on a member's claim, or None."""
    return annotation(kube.get("persistentvolumeclaims", claim_of(member)), IDENTITY)


def record(kube, member, identity):
    kube.annotate("persistentvolumeclaims", claim_of(member), {IDENTITY: identity})
