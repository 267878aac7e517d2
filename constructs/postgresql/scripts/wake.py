"""Ends the sleep of Patroni's loop, which looks at PostgreSQL once in a loop_wait only: a server that died is started again at once.

No call does that alone. A change of the configuration does, also one that changes nothing: here, that a setting that never was goes.
"""

import base64
import http.client

from member import Member
from passwords import rest_password


def main():
    credentials = base64.b64encode(f"plumbline:{rest_password()}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("localhost", Member().rest_port, timeout=3)
    try:
        connection.request("PATCH", "/config", '{"plumbline_wake": null}', headers)
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        # It is being started, and looks by itself.
        pass
    finally:
        connection.close()


if __name__ == "__main__":
    main()
