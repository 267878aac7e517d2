"""What this member was told: the rendered `member.json`, and its own name."""

import json
import os

MEMBER = os.environ.get("PLUMBLINE_MEMBER", "/etc/plumbline/member.json")


class Member:
    def __init__(self):
        with open(MEMBER, encoding="utf-8") as file:
            facts = json.load(file)
        self.name = os.environ["POD_NAME"]
        self.ordinal = int(self.name.rsplit("-", 1)[1])
        self.database = facts["database"]
        self.username = facts["username"]
        self.major = facts["major"]
        self.members = facts["members"]
        self.patroni = facts["patroni"]
        # None where TLS is off: the Secret, and what of the configuration is different where it is mounted.
        self.tls = facts["tls"]
        self.configuration = f"{self.patroni['scope']}-config"
        self.data = self.patroni["postgresql"]["data_dir"]
        self.socket = self.patroni["postgresql"]["parameters"]["unix_socket_directories"]
        self.port = _port(self.patroni["postgresql"]["listen"])
        self.rest_port = _port(self.patroni["restapi"]["listen"])


def _port(listen):
    return int(listen.rsplit(":", 1)[1])
