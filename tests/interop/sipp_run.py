# SPDX-License-Identifier: MIT
"""One scenario between sipp and Parley: what is given, what the test does
meanwhile, and how both ends are judged."""
import dataclasses
import hashlib
import re

from house import TO, until

CALLER = "+14155550199"
TALK = {"task": "Hello."}
QUIET = {**TALK, "wait_for_greeting": True}  # the pathway starts later
PRESETS = {
    "uri": "sip:{{number}}@127.0.0.1:{{sip_port}};transport=tls",
    "to": "sip:{{number}}@127.0.0.1",
    "from": "sip:{{caller}}@127.0.0.1", "from_tag": ";tag=near",
    "caller": CALLER, "hops": 70, "cseq": 2, "early": "sdp",
    "before": "at_once", "body": "sdp", "more": "", "check": "",
    "check_ack": "", "to_tag": "",
    "says": "a=sendrecv",
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
    tls: tuple = ()  # more lines of stunnel's

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
        self.sipp = self.peers.callee(self.row.scenario, self.values,
                                      self.row.tls)
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
        self.sipp = self.peers.caller(self.row.scenario, self.values,
                                      self.row.tls)

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


def stop_when_asked(run):
    until("sipp gets the INVITE",
          lambda: run.sipp.has_received("INVITE"), 20, 0.02)
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


def wait_gone(run):
    """sipp finds that there is no connection to be had."""
    run.sipp.process.wait(40)
    assert run.sipp.messages() == []


def stop_second(run):
    """The caller leaves and a second one is there; that call is ended."""
    run.sipp.finish()
    until("the second one is there",
          lambda: run.second.has_received("ACK"), 20, 0.02)
    run.stop()


def stop_when_refused(run):
    until("the second REFER is refused, the first one rings",
          lambda: run.sipp.has_received("SIP/2.0 491") and
          run.second.has_sent("SIP/2.0 180"), 20, 0.02)
    run.stop()


def stop_when_replaced(run):
    until("the first one is let go", lambda: run.sipp.has_received("BYE"),
          20, 0.02)
    run.stop()


# ---- what a test looks at afterwards ----

HASHES = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}


def parameters(value):
    return {name: quoted or bare for name, quoted, bare in re.findall(
        r'(\w+)=(?:"([^"]*)"|([^",\s]+))', value)}


def digest_response(given, method):
    """What the parameters of an Authorization must say (RFC 7616, 3.4.1)."""
    algorithm = given.get("algorithm", "MD5")

    def digest(*parts):
        name = HASHES[algorithm.removesuffix("-sess")]
        return hashlib.new(name, ":".join(parts).encode()).hexdigest()
    a1 = digest("alice", given["realm"], "right")
    if algorithm.endswith("-sess"):
        a1 = digest(a1, given["nonce"], given["cnonce"])
    middle = [given["nonce"]]
    if "qop" in given:
        middle += [given["nc"], given["cnonce"], given["qop"]]
    return digest(a1, *middle, digest(method, given["uri"]))


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
            assert given["uri"] == message.first.split(" ")[1]
            assert given["username"] == "alice"
            assert given["response"] == digest_response(given, message.method)
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
