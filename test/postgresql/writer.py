"""Writes numbered rows one after the other, as an application would that wants to know what was stored.

    writer.py HOST          user, password and database from the Secret at /credentials; ends when standard input does

Each number is tried once: what was not acknowledged in time is not known to be stored, and is never sent again. A line for each acknowledged row:
its number and the time by CLOCK_MONOTONIC, in seconds. The first line, which begins with `=`: the same clock's time then. A line that begins with
`!`: why the last try failed, whenever that changes.
"""

import select
import socket
import sys
import time

import psycopg2
from psycopg2 import extensions

EVERY_SECONDS = 0.01
# A server that is frozen, or cut off, still looks connected: the kernel answers for it. So neither keepalives nor the server's own timeouts end
# the wait; only the client can.
TIMEOUT_SECONDS = 1
# The kernel needs no more for its part, and tries again only after a second: a Service without a member refuses, but the kernel says so once a
# second at most to each client.
CONNECT_TIMEOUT_SECONDS = 0.25
PAUSE_SECONDS = 0.02


class TimedOut(Exception):
    pass


def connect(**facts):
    connection = psycopg2.connect(async_=1, **facts)
    connection.poll()
    if not select.select([], [connection], [], CONNECT_TIMEOUT_SECONDS)[1]:
        connection.close()
        raise TimedOut("no connection in time")
    wait(connection)
    return connection


def wait(connection):
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        state = connection.poll()
        if state == extensions.POLL_OK:
            return
        remaining = deadline - time.monotonic()
        reads, writes = ([connection], []) if state == extensions.POLL_READ else ([], [connection])
        if remaining <= 0 or not any(select.select(reads, writes, [], remaining)[:2]):
            raise TimedOut("no answer in time")


def read(key):
    with open(f"/credentials/{key}", encoding="utf-8") as file:
        return file.read()


def is_told_to_end():
    return bool(select.select([sys.stdin], [], [], 0)[0])


def main(host):
    print(f"= {time.monotonic():.4f}", flush=True)
    # The name is looked up once, so that a slow DNS server is no part of what is measured.
    address = socket.gethostbyname(host)
    facts = {"user": read("username"), "password": read("password"), "dbname": read("dbname")}
    number, connection, complaint = 0, None, None
    while not is_told_to_end():
        begun = time.monotonic()
        number += 1
        try:
            if connection is None:
                connection = connect(host=host, hostaddr=address, **facts)
            cursor = connection.cursor()
            cursor.execute("insert into written values (%s)", (number,))
            wait(connection)
            now = time.monotonic()
            print(f"{number} {now:.4f}", flush=True)
            complaint = None
            time.sleep(max(0, begun + EVERY_SECONDS - now))
        except (psycopg2.Error, TimedOut) as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            if lines[0] != complaint:
                complaint = lines[0]
                print(f"! {time.monotonic():.4f} {complaint}", flush=True)
            if connection is not None:
                connection.close()
                connection = None
            time.sleep(PAUSE_SECONDS)


main(sys.argv[1])
