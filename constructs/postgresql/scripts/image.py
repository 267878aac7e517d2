"""What the image holds, asked of its own programs: that is the same in every layout of an image."""

import re
import subprocess

# Older ones take `synchronous_mode: quorum` for a word that they don't know, and then replicate asynchronously without saying so.
# Source: https://patroni.readthedocs.io/en/latest/releases.html (4.0.0)
NEEDED_PATRONI = 4


def unfit(major, patroni):
    """(reason, message) why the programs of the image cannot run this database; None where they can.

    patroni: its version, such as 4.0.6. One that could not be read hinders nothing: a program that is broken or missing says so itself when it is
    started.
    """
    found = re.search(r"\d+", said(["postgres", "--version"]))
    if found and int(found.group()) != major:
        return (
            "WrongMajor",
            f"the image holds PostgreSQL {found.group()}, the spec says {major}: correct spec.image or spec.version",
        )
    if patroni and int(patroni.split(".")[0]) < NEEDED_PATRONI:
        return (
            "WrongPatroni",
            f"the image holds Patroni {patroni}, and {NEEDED_PATRONI}.0 or later is needed: set spec.image to one that has it",
        )
    return None


def patroni_version():
    """None where it cannot be read. It takes a good part of a second."""
    found = re.search(r" (\d+\.\S+)\s*$", said(["patroni", "--version"]))
    return found and found.group(1)


def said(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
