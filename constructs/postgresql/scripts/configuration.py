"""Patroni's configuration and libpq's password file, composed at each start from what was rendered and what is mounted."""

import json
import os

import pair
from passwords import read_text, rest_password, system_passwords

RUN = os.environ.get("PLUMBLINE_RUN", "/run/plumbline")


def write_configuration(member, namespace, may_initialise=None):
    """Writes both; without a word on whether the member may initialise, that stays as it is."""
    path = f"{RUN}/patroni.yml"
    if may_initialise is None:
        may_initialise = '"bootstrap"' in (read_text(path) or "")
    _write(f"{RUN}/pgpass", password_file(system_passwords()))
    _write(path, json.dumps(compose(member, namespace, rest_password(), may_initialise), indent=1))


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
    if serves_tls(member):
        configuration["postgresql"]["pg_hba"] = member.tls["pg_hba"]
        configuration["postgresql"]["parameters"].update(member.tls["parameters"])
    if may_initialise:
        # Without this section a member never initialises.
        configuration["bootstrap"] = {"dcs": {}, "initdb": INITDB}
    return configuration


def serves_tls(member):
    """A pod that was made before the spec asked for TLS goes on without until it is made anew."""
    return member.tls is not None and pair.is_mounted()


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


def _write(path, text):
    """A file for this user alone, whole at every moment."""
    fresh = f"{path}.new"
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(fresh, path)
