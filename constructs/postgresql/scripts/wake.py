"""Ends the sleep of Patroni's loop, which looks around once in a loop_wait only: here, or at the address of another member.

    wake.py [ADDRESS]

A server that died is started again at once, and a leader makes the slot of a new replica before that asks for it. No call wakes
alone. A change of the configuration does, also one that changes nothing: here, that a setting which never was is removed.
"""

import sys

from member import Member
from rest import ask


def main(address="localhost"):
    # One that is being started looks by itself, or will in its time.
    ask(Member().rest_port, "PATCH", "/config", {"plumbline_wake": None}, address)


if __name__ == "__main__":
    main(*sys.argv[1:])
