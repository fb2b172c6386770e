# SPDX-License-Identifier: MIT
"""Too much to do, and the end: new calls are refused with 503 and Retry-After
before those that are up suffer; SIGTERM ends all of them in order; mistakes in
the configuration are told before the first call."""
import itertools
import re
import signal
import subprocess

import pytest

from house import FROM, environment, free_port, random_key, until
from sip_caller import Caller
from sip_peer import SDP

CALLS = itertools.count(1)


class Inbound:
    """A call into the house, as far as it gets."""

    def __init__(self, house):
        self.caller, self.id = Caller(house), f"load-{next(CALLS)}"
        uri = f"sip:{FROM}@127.0.0.1:{house.sip_port};transport=tls"
        self.caller.request("INVITE", uri, self.id, body=SDP.format(
            port=self.caller.media.getsockname()[1], key=random_key()))
        self.answer = self.caller.final()
        self.status = self.answer.first.split(" ")[1]
        if self.status == "200":
            self.target = re.search(
                r"<([^>]+)>", self.answer.get("Contact")).group(1)
        else:
            self.target = uri
        self.caller.request("ACK", self.target, self.id,
                            to=self.answer.get("To"))

    def hang_up(self):
        self.caller.request("BYE", self.target, self.id, 2,
                            to=self.answer.get("To"))
        assert self.caller.final().first == "SIP/2.0 200 OK"
        self.caller.close()

    def until_bye(self):
        """Its BYE, answered."""
        while True:
            request = self.caller.next()
            assert request, "the connection was closed before the BYE"
            if request.method == "BYE":
                break
        vias = [f"Via: {via}" for via in request.all("Via")]
        self.caller.send("\r\n".join([
            "SIP/2.0 200 OK", *vias, f"From: {request.get('From')}",
            f"To: {request.get('To')}", f"Call-ID: {self.id}",
            f"CSeq: {request.get('CSeq')}", "Content-Length: 0", "",
            ""]).encode())
        self.caller.close()
        return request


def refused(house, reason):
    call = Inbound(house)
    assert call.status == "503", call.answer.first
    assert int(call.answer.get("Retry-After")) > 0
    call.caller.close()
    name = f'parley_calls_refused_total{{reason="{reason}"}}'
    assert house.metrics()[name] >= 1


@pytest.mark.parametrize("settings, reason", [
    ({"PARLEY_AGENT_MAX_CALLS": "2"}, "calls"),
    ({"PARLEY_MEDIA_PORT_MIN": "20000", "PARLEY_MEDIA_PORT_MAX": "20003"},
     "ports")])
def test_no_call_beyond_what_it_can_carry(new_house, settings, reason):
    house = new_house(settings=settings).start()
    callee = house.callee()
    house.attach(callee.port)
    house.post(f"/v1/inbound/{FROM}", {"prompt": "Talk. " * 30})
    calls = [Inbound(house), Inbound(house)]
    assert [call.status for call in calls] == ["200", "200"]
    refused(house, reason)
    queued = house.dispatch()
    assert house.metrics()["parley_calls_held_back"] == 1
    assert house.call(queued)["queue_status"] == "queued"
    calls[0].hang_up()
    assert house.completed(queued, 30)["status"] == "completed"
    calls[1].hang_up()
    Inbound(house).hang_up()


def test_the_end_comes_in_order(new_house):
    house = new_house(settings={"PARLEY_SHUTDOWN_DRAIN_S": "3"}).start()
    house.attach(free_port())
    house.post(f"/v1/inbound/{FROM}", {"prompt": "Talk. " * 60})
    up, leaves = Inbound(house), Inbound(house)
    assert up.status == leaves.status == "200"

    def listed():
        calls = [call["call_id"] for call in house.get("/v1/calls")["calls"]
                 if call["started_at"]]
        return calls if len(calls) == 2 else None
    calls = until("both are listed", listed)
    house.process.send_signal(signal.SIGTERM)
    until("it drains", lambda: "no new calls" in house.tail())
    late = Inbound(house)
    assert late.status == "503" and late.answer.get("Retry-After")
    late.caller.close()
    leaves.hang_up()
    bye = up.until_bye()
    assert bye.get("Reason") == \
        'SIP;cause=503;text="The service was shut down."'
    house.stop()
    house.start()
    for call_id in calls:  # before the end, not by the next start
        call = house.call(call_id)
        assert call["completed"] and call["status"] == "completed", call
        assert call["summary"]


@pytest.mark.parametrize("name, value, words", [
    ("SIP_ALLOWED_NETWORKS", "10.0.0.0/8, garbage",
     ["sip.allowed_networks", "garbage"]),
    ("SIP_ALLOWED_NETWORKS", "10.0.0.0/99", ["sip.allowed_networks"]),
    ("MEDIA_ADDRESS", "203.0.113.9", ["media.address", "203.0.113.9"]),
    ("MEDIA_ADDRESS", "somewhere", ["media.address", "somewhere"]),
    ("MEDIA_ADDRESS", "0.0.0.0", ["media.address", "media.public_address"]),
])
def test_mistakes_are_told_at_the_start(new_house, name, value, words):
    house = new_house()
    done = subprocess.run(
        [f"{house.build}/parleyd", "--config", house.init["config"]],
        env={**environment(), f"PARLEY_{name}": value}, timeout=60,
        capture_output=True, text=True)
    assert done.returncode == 1, done
    for word in words:
        assert word in done.stderr, done.stderr


def test_more_calls_than_ports_are_told(new_house):
    house = new_house(settings={
        "PARLEY_MEDIA_PORT_MIN": "20100", "PARLEY_MEDIA_PORT_MAX": "20119",
        "PARLEY_AGENT_MAX_CALLS": "11"}).start()
    assert "agent.max_calls is 11" in house.log.read_text()
    assert "ports for 10 calls" in house.log.read_text()
