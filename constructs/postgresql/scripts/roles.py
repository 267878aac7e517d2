"""What is to be done about roles and the first database: a pure function from what is there to statements.

Run as a program it prints the statements for a server that was just initialised, for `postgres --single -j`.
"""

import sys
from collections import namedtuple

from passwords import system_passwords
from scram import matches, verifier
from sql import identifier, literal

Step = namedtuple("Step", "what statement")

# What pg_rewind reads by; source: https://www.postgresql.org/docs/current/app-pgrewind.html
REWIND_FUNCTIONS = (
    "pg_ls_dir(text, boolean, boolean)",
    "pg_stat_file(text, boolean)",
    "pg_read_binary_file(text)",
    "pg_read_binary_file(text, bigint, bigint, boolean)",
)
SUPERUSER, REPLICATION, REWIND = "postgres", "plumbline_replication", "plumbline_rewind"
ATTRIBUTES = {SUPERUSER: "LOGIN SUPERUSER", REPLICATION: "LOGIN REPLICATION", REWIND: "LOGIN"}


def facts_query(owner, database):
    names = ", ".join(literal(name) for name in (*ATTRIBUTES, owner))
    can_rewind = " and ".join(
        f"has_function_privilege(oid, 'pg_catalog.{function}', 'execute')" for function in REWIND_FUNCTIONS
    )
    return f"""select json_build_object(
  'recovering', pg_is_in_recovery(),
  'roles', (select coalesce(json_object_agg(rolname, json_build_object(
      'verifier', rolpassword, 'login', rolcanlogin, 'superuser', rolsuper, 'replication', rolreplication)), '{{}}')
    from pg_authid where rolname in ({names})),
  'rewinds', (select {can_rewind} from pg_authid where rolname = {literal(REWIND)}),
  'database', exists (select from pg_database where datname = {literal(database)}));"""


def plan(facts, owner, database, passwords):
    """Steps in order; none where everything is as it should be. The owner keeps every attribute that somebody gave it."""
    steps = []
    for role in filter(None, (*ATTRIBUTES, owner)):
        steps += _role(role, facts["roles"].get(role), ATTRIBUTES.get(role, "LOGIN"), passwords.get(role))
    if not facts["rewinds"]:
        functions = ", ".join(f"pg_catalog.{function}" for function in REWIND_FUNCTIONS)
        steps.append(Step(f"role {REWIND} may rewind", f"grant execute on function {functions} to {identifier(REWIND)};"))
    if not facts["database"]:
        steps.append(
            Step(f"database {database} made", f"create database {identifier(database)} owner {identifier(owner)};")
        )
    return steps


def _role(name, found, attributes, password):
    secret = f" password {literal(verifier(password))}" if password else ""
    if found is None:
        return [Step(f"role {name} made", f"create role {identifier(name)} {attributes}{secret};")]
    lacks = [
        attribute
        for attribute, fact in (("LOGIN", "login"), ("SUPERUSER", "superuser"), ("REPLICATION", "replication"))
        if attribute in attributes.split() and not found[fact]
    ]
    needs_password = password is not None and not matches(found["verifier"], password)
    steps = []
    if lacks:
        steps.append(Step(f"role {name} given {' '.join(lacks)}", f"alter role {identifier(name)} {' '.join(lacks)};"))
    if needs_password:
        steps.append(Step(f"password of role {name} set", f"alter role {identifier(name)}{secret};"))
    return steps


def main():
    fresh = {"roles": {SUPERUSER: {"verifier": None, "login": True, "superuser": True, "replication": True}}, "rewinds": False, "database": True}
    passwords = system_passwords()
    for role in ATTRIBUTES:
        if not passwords.get(role):
            sys.exit(f"the system Secret holds no password for {role}")
    for step in plan(fresh, None, None, passwords):
        # In single-user mode a statement ends with an empty line.
        sys.stdout.write(f"{step.statement}\n\n")


if __name__ == "__main__":
    main()
