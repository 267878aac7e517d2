"""SCRAM-SHA-256 verifiers as PostgreSQL stores them, so that no password stands in an SQL statement.

Sources: RFC 5802, RFC 7677, RFC 4013; PostgreSQL src/common/scram-common.c and src/common/saslprep.c.
"""

import base64
import hashlib
import hmac
import os
import re
import stringprep
import unicodedata

ITERATIONS = 4096
VERIFIER = re.compile(r"SCRAM-SHA-256\$(\d+):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)")


def verifier(password, salt=None, iterations=ITERATIONS):
    salt = os.urandom(16) if salt is None else salt
    salted = hashlib.pbkdf2_hmac("sha256", saslprep(password).encode("utf-8"), salt, iterations)
    client = hmac.digest(salted, b"Client Key", "sha256")
    stored = hashlib.sha256(client).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    return f"SCRAM-SHA-256${iterations}:{_encode(salt)}${_encode(stored)}:{_encode(server)}"


def matches(stored, password):
    """Whether a stored verifier is of this password."""
    found = VERIFIER.fullmatch(stored or "")
    if not found:
        return False
    fresh = verifier(password, base64.b64decode(found.group(2)), int(found.group(1)))
    return hmac.compare_digest(fresh, stored)


def saslprep(password):
    """RFC 4013, as PostgreSQL applies it: a password that it forbids is taken as it is."""
    if password.isascii():
        return password
    mapped = "".join(
        " " if stringprep.in_table_c12(c) else c for c in password if stringprep.in_table_c12(c) or not stringprep.in_table_b1(c)
    )
    prepared = unicodedata.ucd_3_2_0.normalize("NFKC", mapped)
    return prepared if prepared and not _is_prohibited(prepared) else password


def _is_prohibited(text):
    tables = (
        stringprep.in_table_a1,
        stringprep.in_table_c12,
        stringprep.in_table_c21_c22,
        stringprep.in_table_c3,
        stringprep.in_table_c4,
        stringprep.in_table_c5,
        stringprep.in_table_c6,
        stringprep.in_table_c7,
        stringprep.in_table_c8,
        stringprep.in_table_c9,
    )
    if any(table(c) for c in text for table in tables):
        return True
    if not any(stringprep.in_table_d1(c) for c in text):
        return False
    has_left_to_right = any(stringprep.in_table_d2(c) for c in text)
    return has_left_to_right or not (stringprep.in_table_d1(text[0]) and stringprep.in_table_d1(text[-1]))


def _encode(data):
    return base64.b64encode(data).decode("ascii")
