"""Says on the pod which certificate is served, and what is wrong with the mounted one. It looks when either may have changed, and never else but
while the server has not taken a new pair yet, or nobody could be told: then once a minute."""

import json

import pair
from configuration import serves_tls
from kube import Kube
from served import facts_of, first_certificate, served_certificate

TLS = "plumbline.dev/tls"
# The other container takes a new pair within about two seconds.
SETTLE_SECONDS = 5
AGAIN_SECONDS = 60


class TlsStatement:
    def __init__(self, member, clock):
        self.member = member
        self.clock = clock
        self.seen = None
        self.look_at = None
        self.is_second_look = False
        self.stated = None

    def look(self, server):
        """server: something to compare that tells of a start of the server; None while it takes no connections."""
        if not serves_tls(self.member):
            return
        seen = (pair.version(), server)
        if seen != self.seen:
            self.seen, self.look_at, self.is_second_look = seen, self.clock() + SETTLE_SECONDS, False
        if self.look_at is None or self.clock() < self.look_at:
            return
        # Whatever goes wrong below: not each second again.
        self.look_at = self.clock() + AGAIN_SECONDS
        statement, is_pending = self._find(server is not None)
        self.is_second_look = True
        text = json.dumps(statement, separators=(",", ":"))
        if statement and text != self.stated:
            Kube("plumbline-steward").annotate("pods", self.member.name, {TLS: text})
            self.stated = text
        if not is_pending:
            self.look_at = None

    def _find(self, is_up):
        """(statement, is_pending)"""
        folder = pair.mounted()
        problem = pair.problem_of(folder)
        mounted = first_certificate(f"{folder}/{pair.CERTIFICATE}")
        try:
            certificate = served_certificate(self.member.port) if is_up else None
        except OSError:
            certificate = None
        facts = facts_of(certificate) if certificate else {}
        is_pending = is_up and problem is None and certificate != mounted
        if is_pending and self.is_second_look:
            problem = "the server does not serve its certificate"
        return {**facts, **({"problem": problem} if problem else {})}, is_pending
