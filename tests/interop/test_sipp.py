# SPDX-License-Identifier: MIT
"""Signalling by RFC 3665 and beyond, with sipp at the other end: each scenario
is judged by sipp, which must see it to its end and nothing else, and by
Parley's call object, and nothing of it may be held afterwards."""
import dataclasses
import hashlib
import itertools
import re

import pytest

from house import TO, House, until
from sipp import Peers

CALLER, ALICE = "+14155550199", {"sip_username": "alice",
                                 "sip_password": "right"}
TALK = {"task": "Hello."}
QUIET = {**TALK, "wait_for_greeting": True}  # the pathway starts later
# An OPTIONS that asks for a trunk's health is no part of a scenario.
PLAIN = {"PARLEY_SIP_PROBE_INTERVAL_S": "0"}
SHORT = {"PARLEY_SIP_RING_TIMEOUT_S": "5", "PARLEY_MEDIA_TIMEOUT_S": "5"}
ONE_CALL = {"PARLEY_AGENT_MAX_CALLS": "1"}
URI = "sip:{{number}}@127.0.0.1:{{sip_port}};transport=tls"
PRESETS = {
    "uri": URI, "to": "sip:{{number}}@127.0.0.1",
    "from": "sip:{{caller}}@127.0.0.1", "caller": CALLER, "hops": 70,
    "cseq": 2, "body": "sdp", "more": "", "check": "", "check_ack": "",
    "to_tag": "", "says": "a=sendrecv",
    "contact": "Contact: <sip:sipp@127.0.0.1:[local_port];transport=tcp>",
}
HUNG_UP = {"status": "completed", "call_ended_by": "USER",
           "error_message": None}
STOPPED = {"status": "completed", "call_ended_by": "ASSISTANT",
           "error_message": None}


@dataclasses.dataclass
class Row:
    name: str
    scenario: str
    given: dict = dataclasses.field(default_factory=dict)
    call: dict = None  # members of the call object; None: there is no call
    error: str = None  # words of error_message
    is_up: bool = True
    act: object = None  # what the test does meanwhile
    check: object = None  # looks at the run afterwards
    settings: dict = dataclasses.field(default_factory=dict)
    options: dict = dataclasses.field(default_factory=dict)  # trunk's
    number: bool = True  # attach it
    sees_all: bool = True  # False: sipp is cut off
    second: str = None  # scenario of the outbound trunk's far end
    mapping: list = None  # of headers
    fields: dict = dataclasses.field(default_factory=dict)  # of the call
    pathway: dict = None  # instead of a task

    @property
    def is_inbound(self):
        return self.scenario.startswith("in_")

    @property
    def talk(self):
        waits_up = self.act in (stop_when_up, cut_and_stop)
        return TALK if waits_up else QUIET


def has(header, text):
    return (f'<ereg regexp="{text}" search_in="hdr" header="{header}:" '
            'check_it="true" assign_to="_"/>\n')


def says(text):
    return (f'<ereg regexp="{text}" search_in="msg" check_it="true" '
            'assign_to="_"/>\n')


def lacks(text):
    return (f'<ereg regexp="{text}" search_in="msg" '
            'check_it_inverse="true" assign_to="_"/>\n')


class Run:
    """One row, while it is played."""

    def __init__(self, row, house, peers, number):
        self.row, self.house = row, house
        self.peers, self.number = peers, number
        self.sipp = self.second = self.id = None
        self.values = {**PRESETS, "number": number, "plain_number":
                       number[1:], **row.given}

    def start(self):
        if self.row.is_inbound:
            self.start_inbound()
            return
        self.sipp = self.peers.callee(self.row.scenario, self.values)
        self.attach([self.outbound(self.sipp)])
        fields = {**self.row.talk, **self.row.fields}
        if self.row.pathway:
            fields = {"pathway_id": self.house.post(
                "/v1/pathway/create", self.row.pathway)["pathway_id"]}
        self.id = self.house.post("/v1/calls", {
            "phone_number": TO, "from": self.number, **fields})["call_id"]

    def start_inbound(self):
        directions = [{"type": "inbound", **self.mapping("inbound")}]
        if self.row.second:
            self.second = self.peers.callee(self.row.second, self.values)
            self.values["trunk_port"] = self.second.tunnel.port
            directions.append(self.outbound(self.second))
        if self.row.number:
            self.attach(directions)
            self.house.post(f"/v1/inbound/{self.number}", self.row.talk)
        self.sipp = self.peers.caller(self.row.scenario, self.values)

    def outbound(self, sipp):
        return {"type": "outbound", "sip_endpoint": "sip:localhost",
                "options": {"port": sipp.tunnel.port, "transport": "tls",
                            "secure_media": True, **self.row.options},
                **self.mapping("outbound")}

    def mapping(self, direction):
        if self.row.mapping is None:
            return {}
        return {"headers": {"direction": direction,
                            "headers": self.row.mapping}}

    def attach(self, directions):
        body = self.house.post("/v1/sip/attach", {
            "phone_number": self.number, "service": "sip",
            "directions": directions})
        assert body["errors"] is None, body

    def calls(self):
        side = "to" if self.row.is_inbound else "from"
        return self.house.get(
            f"/v1/calls?{side}_number=%2B{self.number[1:]}")["calls"]

    def call_id(self):
        if not self.id:
            self.id = until("the call is listed", self.calls)[0]["call_id"]
        return self.id

    def stop(self):
        self.house.post(f"/v1/calls/{self.call_id()}/stop")

    def wait_up(self):
        self.house.wait_up(self.call_id())

    def wait_sent(self, start):
        until(f"sipp sends {start}", lambda: self.sipp.has_sent(start), 20,
              0.02)

    def judge(self):
        if self.row.sees_all:
            self.sipp.finish()
        if self.second:
            self.second.finish()
        if self.row.call is None:
            assert self.calls() == []
        else:
            self.judge_call(self.house.completed(self.call_id(), 20))
            assert len(self.calls()) == 1
        if self.row.check:
            self.row.check(self)
        self.house.idle()

    def judge_call(self, call):
        seen = {name: call[name] for name in self.row.call}
        assert seen == self.row.call, call
        assert call["completed"] and call["inbound"] == self.row.is_inbound
        assert (self.row.error or "") in (call["error_message"] or ""), call
        assert bool(call["media"]) == self.row.is_up, call
        began = [e for e in self.house.events(self.call_id())
                 if e["event_type"] == "conversation.init"]
        assert len(began) <= self.row.is_up  # none in a call of 2 ms
        if not self.row.is_up:
            assert call["call_ended_by"] is None


# ---- what a test does while sipp plays ----

def stop_when_up(run):
    run.wait_up()
    run.stop()


def stop_when_ringing(run):
    run.wait_sent("SIP/2.0 18")
    run.stop()


def stop_when_trying(run):
    run.wait_sent("SIP/2.0 100")
    run.stop()


def cut_when_ringing(run):
    run.wait_sent("SIP/2.0 180")
    run.sipp.tunnel.kill()


def cut_and_stop(run):
    run.wait_up()
    run.sipp.tunnel.kill()
    run.stop()


def stop_second(run):
    """The caller leaves and a second one is there; that call is ended."""
    run.sipp.finish()
    until("the second one is there",
          lambda: run.second.has_received("ACK"), 20, 0.02)
    run.stop()


def stop_when_replaced(run):
    until("the first one is let go", lambda: run.sipp.has_received("BYE"),
          20, 0.02)
    run.stop()


# ---- what a test looks at afterwards ----

def md5(*parts):
    return hashlib.md5(":".join(parts).encode()).hexdigest()


def sha256(*parts):
    return hashlib.sha256(":".join(parts).encode()).hexdigest()


def parameters(value):
    return {name: quoted or bare for name, quoted, bare in re.findall(
        r'(\w+)=(?:"([^"]*)"|([^",\s]+))', value)}


def check_digest(run):
    """Every answer to a challenge is right, and its uri the Request-URI."""
    seen = 0
    for message in run.sipp.messages():
        if message.method == "ACK":
            continue  # repeats what its INVITE had (RFC 3261, 22.2)
        for value in message.all("Authorization") + \
                message.all("Proxy-Authorization"):
            seen += 1
            given = parameters(value)
            method, uri = message.first.split(" ")[:2]
            algorithm = given.get("algorithm", "MD5")
            digest = sha256 if algorithm.startswith("SHA-256") else md5
            a1 = digest("alice", given["realm"], "right")
            if algorithm.endswith("-sess"):
                a1 = digest(a1, given["nonce"], given["cnonce"])
            middle = [given["nonce"]]
            if "qop" in given:
                middle += [given["nc"], given["cnonce"], given["qop"]]
            assert given["uri"] == uri and given["username"] == "alice"
            assert given["response"] == digest(a1, *middle,
                                               digest(method, uri))
    assert seen


def check_invite(run):
    """The INVITE as a carrier wants it."""
    invite = run.sipp.messages()[0]
    trunk = f"localhost:{run.sipp.tunnel.port}"
    assert invite.first == f"INVITE sip:{TO}@{trunk} SIP/2.0"
    via = invite.get("Via")
    assert via.startswith("SIP/2.0/TLS ") and ";branch=z9hG4bK" in via
    assert invite.get("Max-Forwards") == "70"
    assert f"sip:{run.number}@" in invite.get("From")
    assert ";tag=" in invite.get("From") and ";tag=" not in invite.get("To")
    assert "transport=tls" in invite.get("Contact")
    assert set(re.split(r",\s*", invite.get("Allow"))) >= {
        "INVITE", "ACK", "BYE", "CANCEL", "OPTIONS", "UPDATE"}
    assert invite.get("Content-Type") == "application/sdp"
    assert "RTP/SAVP" in invite.body and "a=crypto:" in invite.body


def from_number(number):
    def check(run):
        assert run.house.call(run.call_id())["from"] == number
    return check


def variables(**expected):
    def check(run):
        found = run.house.call(run.call_id())["variables"]
        assert {name: found.get(name) for name in expected} == expected
    return check


def check_mapped(run):
    """What the pathway knows, in headers; and no line that is not ours."""
    invite = run.sipp.messages()[0]
    assert invite.get("X-Name") == "Ann"
    assert invite.get("X-Fixed") == f"call {run.call_id()}"
    assert invite.get("User-to-User") == \
        "4a6f65;encoding=hex;purpose=shop;content=buyer"
    assert invite.all("X-Evil") == []


def check_redirected(run):
    assert [m.first.split("@")[0] for m in run.sipp.messages()
            if m.method == "INVITE"] == [
                f"INVITE sip:{TO}", "INVITE sip:+14155550177"]


# ---- the rows ----

def refused(name, status, **given):
    return Row(f"in: {name}", "in_refused", {"status": status, **given})


def alone(name, method, status, **given):
    return Row(f"in: {name}", "in_alone", {
        "method": method, "status": status, "body": "none", **given})


def inside(name, method, status, **given):
    return Row(f"in: {name}", "in_request", {
        "method": method, "status": status, "body": "none", **given},
        HUNG_UP)


def rejected(line, call_status, error, **given):
    return Row(f"out: {line}", "out_refused", {"status": line, **given},
               {"status": call_status}, error, is_up=False)


def challenge(header, nonce, more=""):
    return f'{header}: Digest realm="here", nonce="{nonce}"{more}'


WWW, PROXY = "WWW-Authenticate", "Proxy-Authenticate"
ROUTES = ("Record-Route: <sip:one.example;lr>, <sip:two.example;lr>\n"
          "Record-Route: <sip:three.example;lr>")

INBOUND = [
    Row("in: basic call", "in_call", call=HUNG_UP),
    Row("in: we hang up", "in_ended_by_us", call=STOPPED, act=stop_when_up),
    Row("in: number without plus", "in_call", {
        "uri": "sip:{{plain_number}}@127.0.0.1"}, HUNG_UP),
    Row("in: tel URI", "in_call", {"uri": "tel:{{number}}"}, HUNG_UP),
    Row("in: number in To alone", "in_call", {
        "uri": "sip:127.0.0.1:{{sip_port}}"}, HUNG_UP),
    Row("in: number in To, another name before", "in_call", {
        "uri": "sip:trunk@127.0.0.1:{{sip_port}}"}, HUNG_UP),
    Row("in: Max-Forwards 0", "in_call", {"hops": 0}, HUNG_UP),
    Row("in: P-Asserted-Identity", "in_call", {
        "more": "P-Asserted-Identity: \"Ann\" <sip:+14155550144@there>"},
        HUNG_UP, check=from_number("+14155550144")),
    Row("in: long headers", "in_call", {
        "more": "Subject: " + "long " * 1500}, HUNG_UP),
    Row("in: multipart body", "in_call", {"body": "multipart"}, HUNG_UP),
    Row("in: empty Supported", "in_call", {"more": "Supported:"}, HUNG_UP),
    Row("in: Record-Route is repeated", "in_call", {
        "more": ROUTES, "check": has("Record-Route",
                                     "one.example;lr")}, HUNG_UP),
    Row("in: BYE by the route set", "in_ended_by_us", {
        "more": ROUTES, "check": says("BYE sip:sipp@") + says(
            "Route:.*one.example.*Route:.*two.*Route:.*three")},
        STOPPED, act=stop_when_up),
    Row("in: BYE by a strict router", "in_ended_by_us", {
        "more": "Record-Route: <sip:strict.example>",
        "check": says("BYE sip:strict.example SIP/2.0") + has(
            "Route", "sip:sipp@")}, STOPPED, act=stop_when_up),
    Row("in: no offer", "in_offerless", call=HUNG_UP),
    Row("in: no offer, no answer", "in_offerless_unanswered",
        call={"status": "failed"}, error="SDP", is_up=False),
    Row("in: BYE before ACK", "in_bye_before_ack",
        call={"status": "canceled"}, is_up=False),
    Row("in: late CANCEL", "in_cancel_late", call=HUNG_UP),
    Row("in: late ACK", "in_ack_late", call=HUNG_UP),
    Row("in: merged request", "in_merged", call=HUNG_UP),
    Row("in: re-INVITE before ACK", "in_reinvite_glare", call=HUNG_UP),
    Row("in: hold and resume", "in_hold", call=HUNG_UP),
    Row("in: re-INVITE without offer", "in_reinvite_offerless",
        call=HUNG_UP),
    Row("in: re-INVITE with new key and port", "in_reinvite", {
        "body": "new_key"}, HUNG_UP),
    Row("in: re-INVITE with another codec", "in_reinvite", {
        "body": "pcma", "says": "RTP/SAVP 8"}, HUNG_UP),
    Row("in: re-INVITE refresh", "in_reinvite", {"body": "sdp"}, HUNG_UP),
    Row("in: re-INVITE drops SRTP", "in_reinvite_refused", {
        "body": "plain", "status": 488, "check": has(
            "Accept", "application/sdp")}, HUNG_UP),
    Row("in: re-INVITE drops the key", "in_reinvite_refused", {
        "body": "no_crypto", "status": 488}, HUNG_UP),
    Row("in: re-INVITE with a strange body", "in_reinvite_refused", {
        "body": "json", "status": 415}, HUNG_UP),
    Row("in: the connection dies", "in_ended_by_us", {}, STOPPED,
        act=cut_and_stop, sees_all=False),
    Row("in: no audio", "in_ended_by_us", {}, {
        "status": "failed"}, "audio", settings=SHORT),
    Row("in: number unknown", "in_refused", {"status": 404}, number=False),
    refused("RTP alone", 488, body="plain"),
    refused("RTP/AVP with a key", 488, body="plain_with_crypto"),
    refused("a key too short", 488, body="short_key"),
    refused("body is no SDP", 400, body="not_sdp"),
    refused("strange body", 415, body="json",
            check=has("Accept", "application/sdp")),
    refused("Require", 420, more="Require: foo, 100rel",
            check=has("Unsupported", "foo") + says("100rel")),
    refused("header over 8 KiB", 513, more="Subject: " + "long " * 1700),
    refused("more than 100 headers", 400, more="\n".join(
        f"X-Line: {n}" for n in range(100))),
    refused("strange scheme", 416, uri="http://127.0.0.1/"),
    alone("OPTIONS", "OPTIONS", 200, check=has("Allow", "INVITE") + has(
        "Accept", "application/sdp") + says("Supported:")),
    alone("unknown method", "MESSAGE", 405, check=has("Allow", "INVITE")),
    alone("strange method", "PARLEZ", 501, check=has("Allow", "INVITE")),
    alone("OPTIONS with Require", "OPTIONS", 420, more="Require: foo",
          check=has("Unsupported", "foo")),
    alone("BYE without dialog", "BYE", 481, to_tag=";tag=gone"),
    alone("UPDATE without dialog", "UPDATE", 481, to_tag=";tag=gone"),
    alone("INVITE without dialog", "INFO", 405, to_tag=";tag=gone"),
    alone("CANCEL for nothing", "CANCEL", 481),
    inside("OPTIONS in the call", "OPTIONS", 200,
           check=has("Allow", "BYE")),
    inside("INFO in the call", "INFO", 405, check=has("Allow", "BYE")),
    inside("Require in the call", "UPDATE", 420, more="Require: foo"),
    inside("UPDATE with an offer", "UPDATE", 200, body="new_key",
           check=says("RTP/SAVP .*a=crypto:")),
    inside("UPDATE without an offer", "UPDATE", 200,
           check=lacks("a=crypto:")),
    inside("UPDATE drops SRTP", "UPDATE", 488, body="plain"),
    inside("lower CSeq", "OPTIONS", 500, cseq=0),
    Row("in: requests after BYE", "in_after_bye", call=HUNG_UP),
    Row("in: anonymous", "in_call", {
        "from": "sip:anonymous@anonymous.invalid"}, HUNG_UP,
        check=from_number("anonymous")),
    Row("in: no room", "in_full", call=HUNG_UP, settings=ONE_CALL),
    refused("From of no SIP address", 400, **{"from": "news:here"}),
    refused("From host is none", 400, **{"from": "sip:a@under_score"}),
    refused("SDP not accepted", 406, more="Accept: text/plain"),
    Row("in: session timer, we refresh", "in_call", {
        "more": "Supported: timer\nSession-Expires: 1800;refresher=uas",
        "check": has("Session-Expires", "1800;refresher=uas") + has(
            "Require", "timer")}, HUNG_UP),
    Row("in: session timer, they refresh", "in_timer", call=HUNG_UP),
    refused("session interval too small", 422,
            more="Supported: timer\nSession-Expires: 60",
            check=has("Min-SE", "90")),
    refused("session interval is none", 400,
            more="Supported: timer\nSession-Expires: soon"),
    Row("in: headers become variables", "in_call", {
        "more": "X-Account: 42\n"
                "User-to-User: 6f72646572;encoding=hex;purpose=shop"},
        HUNG_UP, check=variables(account="42", order="order", shop="a b"),
        mapping=[
            {"type": "custom", "key": "X-Account", "value": "account"},
            {"type": "custom", "key": "shop", "value": "a b",
             "passthrough": True},
            {"type": "uui", "target": "order", "encoding": "hex",
             "purpose": "shop"}]),
]

SEND_AWAY = {
    "name": "Send away",
    "nodes": [{"id": "send", "type": "Transfer Node", "data": {
        "name": "Send", "isStart": True, "text": "Hold.",
        "transferNumber": "+14155550166"}}],
    "edges": []}
THERE = "<sip:+14155550166@localhost:{{trunk_port}}>"
TRANSFERS = [
    inside("REFER without Refer-To", "REFER", 400),
    inside("REFER without a trunk", "REFER", 403,
           more="Refer-To: <sip:+14155550166@localhost>"),
    alone("REFER for no call", "REFER", 403,
          more="Refer-To: <sip:+14155550166@localhost>"),
    inside("NOTIFY nobody asked for", "NOTIFY", 481,
           more="Event: refer\nSubscription-State: active"),
    Row("in: REFER", "in_refer", {
        "refer_to": THERE, "outcome": "200",
        "second_check": has("Referred-By", CALLER[1:])}, STOPPED,
        second="second_taken", act=stop_second),
    Row("in: REFER with Replaces", "in_refer", {
        "refer_to": THERE.replace(
            ">", "?Replaces=a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2>"),
        "outcome": "200", "second_check": has(
            "Replaces", "a@b;to-tag=1;from-tag=2")}, STOPPED,
        second="second_taken", act=stop_second),
    Row("in: REFER to one who is busy", "in_refer", {
        "refer_to": THERE, "outcome": "486"}, HUNG_UP,
        second="second_busy"),
    Row("in: REFER, Refer-Sub: false", "in_refer_untold", {
        "refer_to": THERE, "second_check": ""}, STOPPED,
        second="second_taken", act=stop_second),
    Row("in: REFER elsewhere", "in_request", {
        "method": "REFER", "status": 403, "body": "none",
        "more": "Refer-To: <sip:+14155550166@elsewhere.example>"},
        HUNG_UP),
    Row("in: Replaces", "in_replaced", {"flag": ""}, STOPPED,
        act=stop_when_replaced),
    Row("in: Replaces, early-only", "in_replaces_refused", call=HUNG_UP),
    refused("Replaces of nobody", 481,
            more="Replaces: gone;to-tag=a;from-tag=b"),
    refused("Replaces twice", 400,
            more="Replaces: gone;to-tag=a;from-tag=b\n"
                 "Replaces: gone;to-tag=a;from-tag=c"),
    Row("out: we transfer", "out_transferred", {"outcome": "200 OK"},
        {**STOPPED, "transferred_to": "+14155550166"}, pathway=SEND_AWAY),
    Row("out: we transfer to one who is busy", "out_transferred", {
        "outcome": "486 Busy Here"}, {**STOPPED, "transferred_to": None},
        pathway=SEND_AWAY),
    Row("out: our REFER is refused", "out_transfer_refused", {
        "status": "405 Method Not Allowed"},
        {**STOPPED, "transferred_to": None}, pathway=SEND_AWAY),
]

OUTBOUND = [
    Row("out: basic call", "out_call", call=HUNG_UP, check=check_invite),
    Row("out: we hang up", "out_ended_by_us", call=STOPPED,
        act=stop_when_up),
    Row("out: early media", "out_early", call=HUNG_UP),
    Row("out: 200 without Contact", "out_call", {"contact": ""}, HUNG_UP),
    Row("out: the 200 comes again", "out_answer_again", call=HUNG_UP),
    Row("out: fork", "out_fork", call=HUNG_UP),
    Row("out: two ring, none answers", "out_forks_refused",
        call={"status": "busy"}, error="busy", is_up=False),
    Row("out: route set", "out_ended_by_us", {
        "more": ROUTES, "check": has("Route", "three") + says(
            "Route:.*three.example.*Route:.*two.*Route:.*one")},
        STOPPED, act=stop_when_up),
    Row("out: strict router", "out_ended_by_us", {
        "more": "Record-Route: <sip:strict.example>",
        "check": says("sip:strict.example SIP/2.0") + has(
            "Route", "sip:sipp@")}, STOPPED, act=stop_when_up),
    Row("out: answer without SDP", "out_broken_answer", {"body": "none"},
        {"status": "failed"}, "SDP", is_up=False),
    Row("out: answer without SRTP", "out_broken_answer", {"body": "plain"},
        {"status": "failed"}, "SRTP", is_up=False),
    Row("out: answer without a key", "out_broken_answer", {
        "body": "no_crypto"}, {"status": "failed"}, "SRTP", is_up=False),
    Row("out: answer is no SDP", "out_broken_answer", {"body": "not_sdp"},
        {"status": "failed"}, "SDP", is_up=False),
    Row("out: the callee holds", "out_hold", call=HUNG_UP),
    Row("out: OPTIONS by the callee", "out_request", {
        "method": "OPTIONS", "status": 200, "body": "none"}, HUNG_UP),
    Row("out: UPDATE by the callee", "out_request", {
        "method": "UPDATE", "status": 200, "body": "new_key"}, HUNG_UP),
    Row("out: UPDATE before the answer", "out_early_update", call=HUNG_UP),
    Row("out: stopped while it rings", "out_cancel", {"first": "ringing"},
        {"status": "canceled"}, is_up=False, act=stop_when_ringing),
    Row("out: stopped in early media", "out_cancel", {"first": "progress"},
        {"status": "canceled"}, is_up=False, act=stop_when_ringing),
    Row("out: stopped after 100", "out_cancel", {"first": "trying"},
        {"status": "canceled"}, is_up=False, act=stop_when_trying),
    Row("out: nobody answers", "out_cancel", {"first": "ringing"},
        {"status": "no-answer"}, "did not answer", is_up=False,
        settings=SHORT),
    Row("out: CANCEL crosses 200", "out_cancel_late",
        call={"status": "canceled"}, is_up=False, act=stop_when_ringing),
    Row("out: 200 after CANCEL", "out_cancel_answered",
        call={"status": "canceled"}, is_up=False, act=stop_when_ringing),
    Row("out: redirected", "out_redirect", call=HUNG_UP,
        check=check_redirected),
    Row("out: variables become headers", "out_call", call=HUNG_UP, mapping=[
        {"type": "custom", "key": "name", "value": "X-Name"},
        {"type": "custom", "key": "bad", "value": "X-Bad"},
        {"type": "custom", "key": "X-Fixed", "value": "call {{call_id}}",
         "passthrough": True},
        {"type": "uui", "target": "buyer", "encoding": "hex",
         "purpose": "shop", "content": "buyer"}],
        fields={"request_data": {"name": "Ann", "buyer": "Joe",
                                 "bad": "a\r\nX-Evil: b"}},
        check=check_mapped),
    Row("out: session timer", "out_timer", call=HUNG_UP),
    Row("out: our BYE is refused", "out_bye_refused", call=STOPPED,
        act=stop_when_up),
    rejected("422 Session Interval Too Small", "failed", "session timers"),
    rejected("302 Moved Temporarily", "failed", "302",
             contact="Contact: <sip:+14155550177@elsewhere.example>"),
    rejected("403 Forbidden", "failed", "refused"),
    rejected("404 Not Found", "failed", "not found"),
    rejected("408 Request Timeout", "no-answer", "in time"),
    rejected("480 Temporarily Unavailable", "no-answer", "unavailable"),
    rejected("484 Address Incomplete", "failed", "not complete"),
    rejected("486 Busy Here", "busy", "busy"),
    rejected("487 Request Terminated", "canceled", "canceled"),
    rejected("488 Not Acceptable Here", "failed", "SRTP"),
    rejected("500 Server Internal Error", "failed", "internal error"),
    rejected("503 Service Unavailable", "failed", "out of service",
             more="Retry-After: 5"),
    rejected("600 Busy Everywhere", "busy", "busy"),
    rejected("603 Decline", "failed", "declined"),
    rejected("607 Unwanted", "failed", "unwanted"),
    rejected("608 Rejected", "failed", "network"),
    rejected("401 Unauthorized", "failed", "credentials",
             more=challenge(WWW, "n"), contact=""),
    Row("out: the connection dies while it rings", "out_lost",
        call={"status": "failed"}, error="lost", is_up=False,
        act=cut_when_ringing, sees_all=False),
    Row("out: the connection dies in the call", "out_ended_by_us",
        call=STOPPED, act=cut_and_stop, sees_all=False),
]


def digest_row(name, scenario, **given):
    return Row(f"out: {name}", scenario, given, HUNG_UP,
               options=ALICE, check=check_digest)


DIGEST = [
    digest_row("401, MD5, qop", "out_challenged",
               status="401 Unauthorized",
               challenge=challenge(WWW, "n", ', algorithm=MD5, qop="auth"'),
               check=has("Authorization", "qop=auth, nc=00000001")),
    digest_row("407, no qop", "out_challenged",
               status="407 Proxy Authentication Required",
               challenge=challenge(PROXY, "n", ', opaque="kept"'),
               check=has("Proxy-Authorization", "opaque=.kept")),
    digest_row("401, SHA-256", "out_challenged", status="401 Unauthorized",
               challenge=challenge(WWW, "n", ', algorithm=SHA-256, '
                                   'qop="auth,auth-int"'),
               check=has("Authorization", "algorithm=SHA-256")),
    digest_row("401, MD5-sess", "out_challenged", status="401 Unauthorized",
               challenge=challenge(WWW, "n", ', algorithm=MD5-sess, '
                                   'qop="auth"')),
    digest_row("401, the stronger of two", "out_challenged",
               status="401 Unauthorized",
               challenge=challenge(WWW, "m", ', algorithm=MD5, qop="auth"') +
               "\n" + challenge(WWW, "s", ', algorithm=SHA-256, '
                                'qop="auth"'),
               check=has("Authorization", "algorithm=SHA-256")),
    digest_row("stale nonce", "out_challenged_twice",
               first="401 Unauthorized", second="401 Unauthorized",
               challenge=challenge(WWW, "first", ', qop="auth"'),
               again=challenge(WWW, "second", ', qop="auth", stale=true')),
    digest_row("proxy, then server", "out_challenged_twice",
               first="407 Proxy Authentication Required",
               second="401 Unauthorized",
               challenge=challenge(PROXY, "first", ', qop="auth"'),
               again=challenge(WWW, "second", ', qop="auth"'),
               check=says("Proxy-Authorization: Digest") +
               says("nonce=.first")),
    Row("out: wrong password", "out_wrong_password", {
        "challenge": challenge(WWW, "first", ', qop="auth"'),
        "again": challenge(WWW, "second", ', qop="auth"')},
        {"status": "failed"}, "credentials", is_up=False,
        options={**ALICE, "sip_password": "wrong"}),
    Row("out: BYE is challenged", "out_bye_challenged", {
        "challenge": challenge(PROXY, "n", ', qop="auth"')}, STOPPED,
        act=stop_when_up, options=ALICE, check=check_digest),
]
ROWS = INBOUND + TRANSFERS + OUTBOUND + DIGEST


@pytest.fixture(scope="module")
def houses(network, tmp_path_factory):
    """One house for all rows with the same settings."""
    made = {}

    def get(settings):
        settings = {**PLAIN, **settings}
        key = tuple(sorted(settings.items()))
        if key not in made:
            made[key] = House(tmp_path_factory.mktemp("house"),
                              settings=settings).start()
        return made[key]

    def drop(house):
        """What a failed test leaves is nothing to build on."""
        for key in [key for key in made if made[key] is house]:
            del made[key]
        house.process.kill()
        house.process.wait()
        house.check_log()
    get.drop = drop
    yield get
    for house in made.values():
        house.close()


numbers = (f"+1415556{n:04}" for n in itertools.count())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_signalling(row, houses, tmp_path):
    house = houses(row.settings)
    peers = Peers(tmp_path, house)
    run = Run(row, house, peers, next(numbers))
    try:
        run.start()
        if row.act:
            row.act(run)
        run.judge()
    except BaseException as fault:
        story = "\n".join(sipp.story() for sipp in (run.sipp, run.second)
                          if sipp)
        fault.add_note(f"{house.tail()}\n{story}")
        houses.drop(house)
        raise
    finally:
        peers.close()
