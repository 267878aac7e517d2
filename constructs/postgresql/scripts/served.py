"""Which certificate this server serves, asked of the server itself: what lies in a file says nothing of that."""

import re
import socket
import ssl
import struct

# Source: https://www.postgresql.org/docs/current/protocol-message-formats.html, SSLRequest
SSL_REQUEST = struct.pack("!ii", 8, 80877103)


def served_certificate(port):
    """In DER; None where the server answers that it has none. Raises OSError where it does not answer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(("localhost", port), timeout=5) as plain:
        plain.sendall(SSL_REQUEST)
        if plain.recv(1) != b"S":
            return None
        with context.wrap_socket(plain) as encrypted:
            return encrypted.getpeercert(binary_form=True)


def first_certificate(path):
    """In DER, of a file in PEM: the certificate of the server comes before those that vouch for it. None where there is none."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            found = re.search("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", file.read(), re.S)
        return ssl.PEM_cert_to_DER_cert(found.group()) if found else None
    except (OSError, ValueError):
        return None


def facts_of(certificate):
    """Serial number and times. Source: RFC 5280, 4.1; the standard library shows them of a certificate that it has verified only."""
    _, at, _ = _element(certificate, 0)
    _, at, _ = _element(certificate, at)
    tag, start, end = _element(certificate, at)
    if tag == 0xA0:  # the version, which a certificate of version 1 has not
        _, start, end = _element(certificate, end)
    serial = certificate[start:end].lstrip(b"\0").hex().upper()
    _, _, at = _element(certificate, end)  # algorithm
    _, _, at = _element(certificate, at)  # issuer
    _, at, _ = _element(certificate, at)
    before = _element(certificate, at)
    after = _element(certificate, before[2])
    return {"serial": serial, "notBefore": _time(certificate, before), "notAfter": _time(certificate, after)}


def _element(der, at):
    """(tag, begin, end) of the content of the element at a place."""
    tag, length = der[at], der[at + 1]
    at += 2
    if length & 0x80:
        size = length & 0x7F
        length = int.from_bytes(der[at : at + size], "big")
        at += size
    return tag, at, at + length


def _time(der, element):
    tag, start, end = element
    text = der[start:end].decode("ascii").rstrip("Z")
    if tag == 0x17:  # UTCTime: two digits of the year, of 1950 to 2049
        text = ("19" if text >= "50" else "20") + text
    return f"{text[:4]}-{text[4:6]}-{text[6:8]}T{text[8:10]}:{text[10:12]}:{text[12:14]}Z"
