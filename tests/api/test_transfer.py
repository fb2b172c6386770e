# SPDX-License-Identifier: MIT
"""A caller refers the call to somebody else (RFC 3515): Parley dials, tells how
it went, and the conversation goes on there; or somebody takes the caller's
place (RFC 3891)."""
import re

import pytest

from house import FROM, TO, free_port, random_key, until
from sip_caller import Caller
from sip_peer import SDP


class Talk:
    """A call into the house that is up."""

    def __init__(self, house, name, number=FROM, headers=()):
        self.caller, self.id, self.cseq = Caller(house), name, 1
        self.uri = f"sip:{number}@127.0.0.1:{house.sip_port};transport=tls"
        self.caller.request(
            "INVITE", self.uri, name, headers=headers, body=SDP.format(
                port=self.caller.media.getsockname()[1], key=random_key()))
        self.answer = self.caller.final()
        self.is_up = self.answer.first == "SIP/2.0 200 OK"
        self.to = self.answer.get("To")
        if self.is_up:
            self.uri = re.search(r"<([^>]+)>",
                                 self.answer.get("Contact")).group(1)
        self.caller.request("ACK", self.uri, name, to=self.to)

    def request(self, method, headers=()):
        self.cseq += 1
        self.caller.request(method, self.uri, self.id, self.cseq, self.to,
                            headers)

    def refer(self, target):
        self.request("REFER", [
            f"Refer-To: <{target}>",
            "Referred-By: <sip:+14155550199@127.0.0.1>"])
        return self.caller.final().first.split(" ")[1]

    def next(self):
        """The next request, answered with 200."""
        request = self.caller.next()
        assert request, "the connection was closed"
        vias = [f"Via: {via}" for via in request.all("Via")]
        self.caller.send("\r\n".join([
            "SIP/2.0 200 OK", *vias, f"From: {request.get('From')}",
            f"To: {request.get('To')}", f"Call-ID: {self.id}",
            f"CSeq: {request.get('CSeq')}", "Content-Length: 0", "",
            ""]).encode())
        return request

    def outcome(self):
        """The status lines that the NOTIFYs bring, to the last."""
        lines = []
        while True:
            notify = self.next()
            assert notify.method == "NOTIFY", notify.first
            assert notify.get("Content-Type").startswith("message/sipfrag")
            lines.append(notify.body.strip())
            if "terminated" in notify.get("Subscription-State"):
                return lines

    def replaces(self):
        tag = re.search(r";tag=([^;>]+)", self.to).group(1)
        return f"Replaces: {self.id};to-tag={tag};from-tag={self.id}"


@pytest.fixture
def talk(house):
    house.callee()
    house.attach(house.callees[0].port)
    house.post(f"/v1/inbound/{FROM}", {"prompt": "Talk. " * 100})
    talk = Talk(house, "first")
    assert talk.is_up
    yield talk
    talk.caller.close()


def the_call(house):
    calls = house.get("/v1/calls")["calls"]
    assert len(calls) == 1
    return calls[0]["call_id"]


def test_a_caller_refers_to_somebody_else(house, talk):
    callee = house.callees[0]
    assert talk.refer(f"sip:{TO}@localhost") == "202"
    assert talk.outcome() == ["SIP/2.0 100 Trying", "SIP/2.0 200 OK"]
    until("the new one is called", lambda: callee.said("call:"), 10)
    assert talk.next().method == "BYE"  # we did not leave by ourselves
    call_id = the_call(house)
    assert not house.call(call_id)["completed"]
    callee.stop()
    call = house.completed(call_id)
    assert call["transferred_to"] == TO and len(call["media"]) == 2, call
    assert call["media"][1]["packets_sent"] > 50, call["media"]


def test_nobody_there_or_not_allowed(house, talk):
    house.attach(free_port())
    assert talk.refer(f"sip:{TO}@localhost") == "202"
    assert talk.outcome() == ["SIP/2.0 100 Trying",
                              "SIP/2.0 503 Service Unavailable"]
    assert talk.refer(f"sip:{TO}@elsewhere.example") == "403"
    talk.request("OPTIONS")
    assert talk.caller.final().first == "SIP/2.0 200 OK"
    talk.request("BYE")
    assert talk.caller.final().first == "SIP/2.0 200 OK"
    call = house.completed(the_call(house))
    assert call["status"] == "completed" and call["transferred_to"] is None


def test_somebody_takes_the_place(house, talk):
    second = Talk(house, "second", headers=[talk.replaces()])
    assert second.is_up, second.answer.first
    assert talk.next().method == "BYE"
    call_id = the_call(house)
    assert not house.call(call_id)["completed"]
    second.request("BYE")
    assert second.caller.final().first == "SIP/2.0 200 OK"
    second.caller.close()
    call = house.completed(call_id)
    assert call["status"] == "completed" and len(call["media"]) == 2


def test_nobody_takes_what_is_not_there(house, talk):
    other = Talk(house, "other", headers=[
        "Replaces: nobody;to-tag=1;from-tag=2"])
    assert other.answer.first.split(" ")[1] == "481"
    other.caller.close()
    talk.request("BYE")
    assert talk.caller.final().first == "SIP/2.0 200 OK"
