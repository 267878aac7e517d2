"""Passwords as they are mounted: read each time, for a Secret may change."""

import os

SECRETS = os.environ.get("PLUMBLINE_SECRETS", "/etc/plumbline-secrets")


SYSTEM = {"postgres": "superuser", "plumbline_replication": "replication", "plumbline_rewind": "rewind"}


def system_passwords():
    """By role; none while one is missing: so each stays as it is, in the roles as in the password file."""
    return {} if missing_keys() else {role: _system(key) for role, key in SYSTEM.items()}


def all_passwords(owner):
    """Those of the system and that of the owner, which is taken to the byte, as an application takes it."""
    password = read_text(f"{SECRETS}/credentials/password")
    return {**({owner: password} if password else {}), **system_passwords()}


def rest_password():
    return _system("restapi")


def missing_keys():
    """Keys of the system Secret without a password, or with one of several lines, which no password file can hold."""
    return [key for key in (*SYSTEM.values(), "restapi") if not _system(key) or "\n" in _system(key)]


def incomplete():
    """(reason, message) why the system Secret cannot be used; None where it can."""
    missing = missing_keys()
    if not missing:
        return None
    return (
        "SystemSecretIncomplete",
        f"the system Secret has no usable password under {', '.join(missing)}: add a line of text for each",
    )


def is_owner_usable():
    """Whether the owner of the database has a password, as text."""
    return bool(read_text(f"{SECRETS}/credentials/password"))


def _system(key):
    """Without the end of the line that an editor leaves: libpq takes it off what it reads from a password file, also that of Windows."""
    return (read_text(f"{SECRETS}/system/{key}") or "").rstrip("\r\n")


def read_text(path):
    """None where there is no such file, or no text in it: bytes that are not UTF-8 can be no password."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
