"""Ends the sleep of Patroni's loop, which looks around once in a loop_wait only: here, or at the address of another member.

    wake.py [ADDRESS]

A server that died is started again at once, and a leader makes the slot of a new replica before that asks for it. No call wakes
alone. A change of the configuration does, also one that changes nothing: here, that a setting which never was is removed.
"""

import base64
import http.client
import sys

from member import Member
from passwords import rest_password


def main(address="localhost"):
    credentials = base64.b64encode(f"plumbline:{rest_password()}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(address, Member().rest_port, timeout=3)
    try:
        connection.request("PATCH", "/config", '{"plumbline_wake": null}', headers)
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        # It is being started and looks by itself, or will in its time.
        pass
    finally:
        connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
