# SPDX-License-Identifier: MIT
"""One TLS connection to Parley's SIP port that sends any bytes and reads what
comes back."""
import itertools
import re
import socket
import ssl

from house import random_key
from sip_peer import SDP, Link, Message

NUMBERS = itertools.count(1)


class Caller:
    def __init__(self, house, timeout_s=20):
        context = ssl.create_default_context(cafile=house.init["ca_file"])
        self.port = house.sip_port
        self.sock = context.wrap_socket(
            socket.create_connection(("127.0.0.1", self.port), timeout_s),
            server_hostname="localhost")
        self.messages = Link(None, self.sock).messages()
        self.media = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.media.bind(("127.0.0.1", 0))  # takes audio, reads none

    def close(self):
        self.sock.close()
        self.media.close()

    def send(self, data):
        self.sock.sendall(data)

    def next(self) -> Message:
        """What comes next; None: the connection was closed well."""
        return next(self.messages, None)

    def request(self, method, uri, call, cseq=1, to="", headers=(), body=""):
        """call: what makes the dialog ours."""
        to = to or f"<{uri}>"
        if body:
            headers = [*headers, "Content-Type: application/sdp"]
        self.send("\r\n".join([
            f"{method} {uri} SIP/2.0",
            f"Via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bK-c{next(NUMBERS)}",
            "Max-Forwards: 70",
            f"From: <sip:+14155550199@127.0.0.1>;tag={call}", f"To: {to}",
            f"Call-ID: {call}", f"CSeq: {cseq} {method}",
            "Contact: <sip:caller@127.0.0.1:9;transport=tls>", *headers,
            f"Content-Length: {len(body)}", "", body]).encode())

    def final(self):
        """The final answer that comes next, after provisional ones."""
        while True:
            answer = self.next()
            assert answer, "the connection was closed"
            if not answer.first.startswith("SIP/2.0 1"):
                return answer

    def options(self):
        """The answer to an OPTIONS; nothing else may come before it."""
        call = f"options-{next(NUMBERS)}"
        self.request("OPTIONS", f"sip:127.0.0.1:{self.port}", call)
        answer = self.next()
        assert answer and answer.get("Call-ID") == call, answer.first
        return answer

    def whole_call(self, number):
        """INVITE with SRTP, 200, ACK, BYE, 200."""
        call = f"call-{next(NUMBERS)}"
        uri = f"sip:{number}@127.0.0.1:{self.port};transport=tls"
        self.request("INVITE", uri, call, body=SDP.format(
            port=self.media.getsockname()[1], key=random_key()))
        answer = self.final()
        assert answer.first == "SIP/2.0 200 OK", answer.first
        assert "RTP/SAVP" in answer.body and "a=crypto:" in answer.body
        target = re.search(r"<([^>]+)>", answer.get("Contact")).group(1)
        self.request("ACK", target, call, to=answer.get("To"))
        self.request("BYE", target, call, 2, to=answer.get("To"))
        answer = self.final()
        assert answer.first == "SIP/2.0 200 OK"
        assert answer.get("CSeq") == "2 BYE" and answer.get("Call-ID") == call
