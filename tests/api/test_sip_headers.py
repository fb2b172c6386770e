# SPDX-License-Identifier: MIT
"""Header mapping on the wire: what is configured by REST is in the INVITE, and
what an INVITE brings is among the call's variables."""
import re

import pytest

from house import FROM, TO, random_key, until
from sip_caller import Caller
from sip_peer import SDP, talk_for


@pytest.fixture
def far_end(house, sip_peer):
    return sip_peer((house.data / "node.pem", house.data / "node.key"),
                    talk_for(lambda: 0.5))


def attach(house, port, outbound=(), inbound=()):
    def mapping(direction, headers):
        return {"headers": {"direction": direction, "headers": headers}} \
            if headers else {}
    body = house.post("/v1/sip/attach", {
        "phone_number": FROM, "service": "sip", "directions": [
            {"type": "outbound", "sip_endpoint": "sip:localhost",
             "options": {"port": port}, **mapping("outbound", outbound)},
            {"type": "inbound", **mapping("inbound", inbound)}]})
    assert body["data"]["configured"] == [FROM], body


def custom(key, value, **more):
    return {"type": "custom", "key": key, "value": value, **more}


def uui(target, **more):
    return {"type": "uui", "target": target, **more}


def test_variables_go_into_the_invite(house, far_end):
    attach(house, far_end.port, outbound=[
        custom("customer", "X-Customer"), custom("call_id", "X-Call"),
        custom("caller_id", "X-Caller"),
        custom("destination_number", "X-To"),
        custom("call_status", "X-Status"),
        custom("call_duration", "X-Duration"),
        custom("evil", "X-Evil"), custom("nobody", "X-Nobody"),
        custom("X-Static", "as it stands", passthrough=True),
        custom("X-Tag", "call {{call_id}}", passthrough=True),
        uui("ref", purpose="crm", encoding="hex", content="text"),
        uui("note", encoding="ascii")])
    call_id = house.dispatch(request_data={
        "customer": "Zoë", "ref": "A-1", "note": 'say "hi"',
        "evil": "x\r\nX-Injected: 1"})
    call = house.completed(call_id)
    assert call["status"] == "completed", call
    invite = far_end.invites[0]
    assert invite.get("X-Customer") == "Zoë"
    assert invite.get("X-Call") == call_id
    assert invite.get("X-Caller") == FROM and invite.get("X-To") == TO
    assert invite.get("X-Status") == "started"
    assert invite.get("X-Duration") == "0"
    assert invite.get("X-Static") == "as it stands"
    assert invite.get("X-Tag") == f"call {call_id}"
    assert invite.all("User-to-User") == [
        "412d31;encoding=hex;purpose=crm;content=text",
        '"say \\"hi\\"";encoding=ascii']
    assert not invite.all("X-Nobody")
    assert not invite.all("X-Evil") and not invite.all("X-Injected")
    assert call["variables"]["customer"] == "Zoë"


def test_an_update_takes_effect_with_the_next_call(house, far_end):
    attach(house, far_end.port, outbound=[custom("X-A", "1",
                                                 passthrough=True)])
    house.completed(house.dispatch())
    attach(house, far_end.port)
    house.completed(house.dispatch())
    assert far_end.invites[0].get("X-A") == "1"
    assert not far_end.invites[1].all("X-A")


def test_headers_become_variables(house, far_end):
    attach(house, far_end.port, inbound=[
        custom("X-Customer", "customer"), custom("Subject", "topic"),
        custom("X-None", "none"),
        custom("greeting", "good day", passthrough=True),
        uui("ref", purpose="crm"), uui("plain", encoding="ascii",
                                       purpose="note"),
        uui("broken", purpose="bad")])
    house.post(f"/v1/inbound/{FROM}", {"prompt": "Talk.", "request_data": {
        "customer": "nobody", "kept": "yes"}})
    caller = Caller(house)
    uri = f"sip:{FROM}@127.0.0.1:{house.sip_port};transport=tls"
    caller.request("INVITE", uri, "in-1", headers=[
        "X-CUSTOMER: Zoë", "s: A question",
        "User-to-User: 6f6e65;purpose=crm;encoding=hex",
        'User-to-User: "two; 2";encoding=ascii;purpose=note',
        "User-to-User: 0a;purpose=bad"], body=SDP.format(
            port=caller.media.getsockname()[1], key=random_key()))
    answer = caller.final()
    assert answer.first == "SIP/2.0 200 OK"
    target = re.search(r"<([^>]+)>", answer.get("Contact")).group(1)
    caller.request("ACK", target, "in-1", to=answer.get("To"))
    call_id = until("the call is listed", lambda: house.get(
        "/v1/calls?inbound=true")["calls"])[0]["call_id"]
    house.wait_up(call_id)
    live = house.call(call_id)["variables"]
    caller.request("BYE", target, "in-1", 2, to=answer.get("To"))
    assert caller.final().first == "SIP/2.0 200 OK"
    caller.close()
    done = house.completed(call_id)["variables"]
    for variables in live, done:
        assert variables["customer"] == "Zoë"
        assert variables["topic"] == "A question"
        assert variables["greeting"] == "good day"
        assert variables["ref"] == "one" and variables["plain"] == "two; 2"
        assert variables["kept"] == "yes"
        assert "none" not in variables and "broken" not in variables
        assert variables["call_id"] == call_id
