"""The certificate and the key that PostgreSQL serves: two files in memory, taken from the mounted Secret once they are known to fit each other.

PostgreSQL reads nothing of the Secret itself: there the key is readable by the group of the volume, which it refuses, and with a pair that does
not match it would not start.
"""

import os
import shutil
import signal
import ssl
import tempfile

from passwords import SECRETS

MOUNTED = f"{SECRETS}/tls"
SERVED = f"{os.environ.get('PLUMBLINE_RUN', '/run/plumbline')}/tls"
CERTIFICATE, KEY = "tls.crt", "tls.key"


def is_mounted():
    """Whether this pod has the volume: one that was made before the spec asked for TLS has not. An empty one still is one."""
    return os.path.isdir(MOUNTED)


def version():
    """Something to compare: the kubelet swaps a link when the Secret has changed."""
    try:
        return os.readlink(f"{MOUNTED}/..data")
    except OSError:
        return None


def mounted():
    """Folder of the pair as it is now: both files are of the same version of the Secret, also while the kubelet swaps them."""
    return os.path.realpath(f"{MOUNTED}/..data")


def is_in_service():
    return os.path.isfile(f"{SERVED}/{KEY}")


def problem_of(folder):
    """Why the pair of a folder cannot be served, in words that hold nothing of it; None where it can."""
    certificate, key = f"{folder}/{CERTIFICATE}", f"{folder}/{KEY}"
    missing = [name for name in (CERTIFICATE, KEY) if not os.path.isfile(f"{folder}/{name}")]
    if missing:
        return f"it has no {' and no '.join(missing)}"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_verify_locations(cafile=certificate)
    except (ssl.SSLError, ValueError):
        return f"{CERTIFICATE} is no certificate in PEM"
    try:
        # A key with a passphrase is refused, not asked for.
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or "it cannot be read"
        if reason in ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH"):
            return f"the key in {KEY} does not match the certificate in {CERTIFICATE}"
        return f"{KEY} is no key that can be used with {CERTIFICATE} ({reason})"
    return None


def install(data):
    """Puts the mounted pair into service, and has a running server read it.

    Returns the problem that keeps it from that; then the pair before stays in service, if there is one.
    """
    fresh = tempfile.mkdtemp(prefix="tls-", dir=os.path.dirname(SERVED))
    try:
        source = mounted()
        for name in (CERTIFICATE, KEY):
            if os.path.isfile(f"{source}/{name}"):
                _copy(f"{source}/{name}", f"{fresh}/{name}")
        problem = problem_of(fresh)
        if problem or _is_same(fresh):
            return problem
        _swap(fresh)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    finally:
        _remove_others()
    _reload(data)
    return None


def _copy(source, target):
    """For this user alone, as PostgreSQL demands."""
    with open(source, "rb") as file, os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        shutil.copyfileobj(file, copy)


def _is_same(folder):
    return all(_read(f"{folder}/{name}") == _read(f"{SERVED}/{name}") for name in (CERTIFICATE, KEY))


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _swap(folder):
    """Both files at once: a server that starts or reloads now reads either pair, never half of each."""
    link = f"{SERVED}.new"
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(os.path.basename(folder), link)
    os.rename(link, SERVED)


def _remove_others():
    kept = os.path.realpath(SERVED)
    parent = os.path.dirname(SERVED)
    for name in os.listdir(parent):
        path = f"{parent}/{name}"
        if name.startswith("tls-") and os.path.realpath(path) != kept:
            shutil.rmtree(path, ignore_errors=True)


def _reload(data):
    """PostgreSQL reads the pair at its start and at SIGHUP. The names of the files stay, so Patroni has no part in it."""
    try:
        with open(f"{data}/postmaster.pid", encoding="utf-8") as file:
            pid = int(file.readline())
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            if file.read().startswith("postgres"):
                os.kill(pid, signal.SIGHUP)
    except (OSError, ValueError):
        # None runs; the next one reads the pair at its start.
        return
