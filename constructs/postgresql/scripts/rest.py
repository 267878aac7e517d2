"""Calls of Patroni's REST API, here or at another member."""

import base64
import http.client
import json

from passwords import rest_password


def ask(port, method, path, body=None, address="localhost"):
    """(status, answer): JSON, or its text. (None, None) where there is no answer: Patroni is being started, or ended."""
    login = base64.b64encode(f"plumbline:{rest_password()}".encode("utf-8")).decode("ascii")
    headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
    # A restart is answered when it is over.
    connection = http.client.HTTPConnection(address, port, timeout=120 if method == "POST" else 3)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return None, None
    finally:
        connection.close()
    try:
        return response.status, json.loads(text)
    except ValueError:
        return response.status, text
