# SPDX-License-Identifier: MIT
"""Kamailio as the carrier's proxy: Parley stays on its route in both
directions, answers its challenges, follows its redirects, bears its failover,
and either side knows the other by its certificate."""
import socket

import pytest

import sound
from house import FROM, TO, channels, make_certificate, until
from kamailio import Kamailio
from sip_peer import SipPeer, refuse
from test_baresip import agent_has_spoken, alike, check_sound

GREETING = "Hello, this is the clinic speaking. How may we help you today?"
LONG = " ".join([GREETING, "We have free appointments on Monday morning,",
                 "on Tuesday afternoon, and on Friday. Which one suits you?"])
PATHWAY = {
    "name": "Farewell", "edges": [],
    "nodes": [{"id": "bye", "type": "End Call", "data": {
        "name": "Farewell", "isStart": True, "text": GREETING}}],
}


@pytest.fixture
def carrier(house, tmp_path):
    """Starts proxies."""
    proxies = []

    def start(**options):
        proxies.append(Kamailio(tmp_path / f"carrier{len(proxies)}", house,
                                **options))
        return proxies[-1].start().wait()
    yield start
    for each in proxies:
        each.stop()


@pytest.fixture
def peer(house):
    """Starts scripted far ends; they answer with one status."""
    peers = []

    def start(*answer):
        peers.append(SipPeer((house.data / "node.pem",
                              house.data / "node.key"), refuse(*answer)))
        return peers[-1]
    yield start
    for each in peers:
        each.close()


def check_route(proxy, *methods):
    """What came inside the dialog came by Route, and nothing got lost."""
    route = f"route=<sip:127.0.0.1:{proxy.port};transport=tls;lr"
    until(f"{methods} went through", lambda: all(
        proxy.lines(f"passed {method}") for method in methods), 10)
    for method in methods:
        assert all(route in line for line in proxy.lines(f"saw {method}"))
    assert proxy.lines("lost") == []


@pytest.mark.parametrize("who", ["agent", "phone"])
def test_a_call_out_stays_on_the_route(house, phone, carrier, source,
                                       tmp_path, who):
    baresip = phone()
    proxy = carrier(far=baresip.port)
    house.attach(proxy.port)
    settings = {"task": GREETING}
    if who == "agent":
        pathway = house.post("/v1/pathway/create", PATHWAY)["pathway_id"]
        settings = {"task": None, "pathway_id": pathway}
    call_id = house.dispatch(record=True, block_interruptions=True,
                             **settings)
    baresip.wait_for("CALL_ESTABLISHED")
    agent_has_spoken(house, call_id)
    if who == "phone":
        baresip.command("hangup")
    call = house.completed(call_id, 30)
    assert call["status"] == "completed"
    assert call["call_ended_by"] == ("ASSISTANT" if who == "agent"
                                     else "USER")
    baresip.wait_for("CALL_CLOSED")
    check_route(proxy, "ACK", "BYE")
    invite = proxy.lines("saw INVITE")[0]
    assert f"INVITE sip:{TO}@localhost:{proxy.port}" in invite
    check_sound(house, baresip, source, call_id, tmp_path, least=2)


@pytest.mark.parametrize("who", ["agent", "phone"])
def test_a_call_in_stays_on_the_route(house, phone, carrier, who):
    baresip = phone()
    proxy = carrier(far=baresip.port)
    house.attach(proxy.port)
    house.post(f"/v1/inbound/{FROM}", {
        "prompt": GREETING, "block_interruptions": True})
    baresip.command("dial", f"sip:{FROM}@127.0.0.1:{proxy.port};"
                            "transport=tls")
    baresip.wait_for("CALL_ESTABLISHED")
    calls = until("the call is listed", lambda: house.get(
        "/v1/calls?inbound=true")["calls"], 10)
    call_id = calls[0]["call_id"]
    agent_has_spoken(house, call_id)
    check_route(proxy, "ACK")
    if who == "phone":
        baresip.renew("hold")
        baresip.renew("resume")
        assert [way for _, _, way in baresip.answers()] == [
            "sendrecv", "recvonly", "sendrecv"]
        assert len(proxy.lines("passed INVITE")) == 2
        baresip.command("hangup")
    else:
        house.post(f"/v1/calls/{call_id}/stop")
    call = house.completed(call_id, 20)
    assert call["status"] == "completed"
    assert call["call_ended_by"] == ("ASSISTANT" if who == "agent"
                                     else "USER")
    baresip.wait_for("CALL_CLOSED")
    check_route(proxy, "BYE")


# ---- credentials ----

def given(proxy):
    """The credentials that the proxy accepted, as it saw them."""
    lines = proxy.lines("accepts user")
    assert len(lines) == 1, proxy.lines("")
    return lines[0]


@pytest.mark.parametrize("feature, algorithm, qop", [
    ("WITH_PROXY_LOGIN", "MD5", "1"), ("WITH_PROXY_LOGIN", "SHA-256", "1"),
    ("WITH_SERVER_LOGIN", "SHA-256", "1"), ("WITH_SERVER_LOGIN", "MD5", "0")])
def test_credentials(house, carrier, peer, feature, algorithm, qop):
    far = peer("486 Busy Here")
    proxy = carrier(far=far.port, features=[feature], ALGORITHM=algorithm,
                    QOP=qop)
    house.attach(proxy.port, sip_username="user", sip_password="secret")
    call = house.completed(house.dispatch(), 20)
    assert call["status"] == "busy", call["error_message"]
    assert len(far.invites) == 1
    line = given(proxy)
    assert f'uri="sip:{TO}@localhost:{proxy.port}' in line
    assert (f"algorithm={algorithm}" in line) or algorithm == "MD5"
    assert ("qop=auth" in line) == (qop == "1")
    assert len(proxy.lines("asks")) == 1
    assert "Authorization" not in dict(far.invites[0].headers)
    assert "Proxy-Authorization" not in dict(far.invites[0].headers)


def test_a_wrong_password_is_tried_once(house, carrier, peer):
    far = peer("486 Busy Here")
    proxy = carrier(far=far.port, features=["WITH_PROXY_LOGIN"])
    house.attach(proxy.port, sip_username="user", sip_password="guess")
    call = house.completed(house.dispatch(), 20)
    assert call["status"] == "failed"
    assert "credentials" in call["error_message"]
    assert len(proxy.lines("asks")) == 2 and far.invites == []


def test_a_call_with_credentials(house, phone, carrier):
    """ACK and BYE of a call that was challenged pass."""
    baresip = phone()
    proxy = carrier(far=baresip.port, features=["WITH_PROXY_LOGIN"],
                    ALGORITHM="SHA-256")
    house.attach(proxy.port, sip_username="user", sip_password="secret")
    call_id = house.dispatch()
    baresip.wait_for("CALL_ESTABLISHED")
    house.wait_up(call_id)
    house.post(f"/v1/calls/{call_id}/stop")
    baresip.wait_for("CALL_CLOSED")
    check_route(proxy, "ACK", "BYE")
    assert house.completed(call_id, 10)["status"] == "completed"


# ---- redirects and failover ----

def test_a_redirect_within_the_trunk(house, carrier, peer):
    far = peer("486 Busy Here")
    proxy = carrier(far=far.port, features=["WITH_REDIRECT"])
    house.attach(proxy.port)
    call = house.completed(house.dispatch(), 20)
    assert call["status"] == "busy", call["error_message"]
    assert len(proxy.lines("saw INVITE")) == 2
    assert len(far.invites) == 1
    assert proxy.words["MOVED"] in far.invites[0].first


def test_a_redirect_elsewhere_is_not_followed(house, carrier, peer):
    far = peer("486 Busy Here")
    elsewhere = peer("486 Busy Here")
    proxy = carrier(far=far.port, features=["WITH_REDIRECT"],
                    REDIRECT=f"127.0.0.1:{elsewhere.port}")
    house.attach(proxy.port)
    call = house.completed(house.dispatch(), 20)
    assert call["status"] == "failed" and "302" in call["error_message"]
    assert elsewhere.invites == far.invites == []


def ring_and_fail(link, invite):
    link.answer(invite, "100 Trying")
    link.answer(invite, "180 Ringing",
                [f"Contact: <sip:x@127.0.0.1:{link.peer.port};transport=tls>"])
    link.answer(invite, "503 Service Unavailable")


def test_failover_to_the_gateway_that_lives(house, phone, carrier, peer):
    """The first takes connections and is silent, the second rings and gives
    up."""
    baresip, sick = phone(), peer("503 Sick")
    sick.behave = ring_and_fail
    with socket.create_server(("127.0.0.1", 0)) as silent:
        gateways = [silent.getsockname()[1], sick.port, baresip.port]
        call_over(house, baresip, carrier(gateways=gateways))
    assert len(sick.invites) == 1 and sick.byes == []


def call_over(house, baresip, proxy):
    house.attach(proxy.port)
    call_id = house.dispatch(task=GREETING, block_interruptions=True)
    baresip.wait_for("CALL_ESTABLISHED")
    agent_has_spoken(house, call_id)
    assert proxy.lines("failed 408") and proxy.lines("failed 503")
    baresip.command("hangup")
    call = house.completed(call_id, 20)
    assert call["status"] == "completed"
    assert call["call_ended_by"] == "USER"
    check_route(proxy, "BYE")


def test_no_gateway_lives(house, carrier, peer):
    one, two = peer("503 Sick"), peer("503 Sick")
    proxy = carrier(gateways=[one.port, two.port])
    house.attach(proxy.port)
    call = house.completed(house.dispatch(), 20)
    assert call["status"] == "failed"
    # A proxy does not hand on 503, which would speak of itself (RFC 3261,
    # 16.7): Kamailio makes a 500 of it.
    assert "500" in call["error_message"]
    assert (len(one.invites), len(two.invites)) == (1, 1)


# ---- who is who ----

def health(house):
    return house.get(f"/v1/sip/status?phone_number=%2B{FROM[1:]}")["data"]


def test_each_asks_whether_the_other_is_there(house, carrier):
    proxy = carrier()
    house.attach(proxy.port)
    assert health(house)["status"] == "healthy"
    assert proxy.lines(f"saw OPTIONS sip:localhost:{proxy.port}")
    proxy.stop()
    gone = health(house)
    assert gone["status"] == "unreachable" and gone["reason"]
    proxy.start()
    until("healthy again", lambda: health(house)["status"] == "healthy", 20)
    house.stop()
    house.start()
    until("Kamailio still asks", lambda: house.metrics()[
        "parley_sip_messages_in_total"] > 2, 20)


def test_both_know_each_other_by_certificate(house, carrier, peer):
    far = peer("486 Busy Here")
    proxy = carrier(far=far.port, require=True)
    house.attach(proxy.port)
    assert house.completed(house.dispatch(), 20)["status"] == "busy"
    line = proxy.lines("saw INVITE")[0]
    assert "verified=1" in line and "name=localhost" in line


@pytest.mark.parametrize("names, word", [
    ("DNS:carrier.example", "name"), ("DNS:localhost", "unknown")])
def test_a_proxy_that_is_not_who_it_should_be(house, peer, tmp_path, names,
                                              word):
    """The certificate is for another name, or of an authority unknown."""
    ca = None
    if word == "unknown":
        ca = make_certificate(tmp_path, "ca", "DNS:ca.example")
    proxy = Kamailio(tmp_path / "carrier", house, names=names, ca=ca).start()
    try:
        until("it listens", lambda: proxy.is_running() and
              proxy.takes_connections(), 20)
        house.attach(proxy.port)
        call = house.completed(house.dispatch(), 20)
        assert call["status"] == "failed"
        assert "certificate" in call["error_message"]
        found = health(house)
        assert found["status"] == "unreachable"
        assert proxy.lines("saw INVITE") == proxy.lines("saw OPTIONS") == []
    finally:
        proxy.stop()


# ---- transfers ----

def test_a_transfer_by_the_caller(house, phone, carrier, tmp_path):
    """REFER and its NOTIFYs pass the proxy; the third party hears the agent
    and the caller leaves."""
    caller, third = phone(), phone()
    proxy = carrier(far=third.port)
    house.attach(proxy.port)
    house.post(f"/v1/inbound/{FROM}", {
        "record": True, "prompt": LONG, "block_interruptions": True})
    caller.command("dial", f"sip:{FROM}@127.0.0.1:{proxy.port};"
                           "transport=tls")
    caller.wait_for("CALL_ESTABLISHED")
    call_id = until("the call is listed", lambda: house.get(
        "/v1/calls?inbound=true")["calls"], 10)[0]["call_id"]
    house.wait_up(call_id)
    caller.command("transfer", f"sip:{TO}@localhost:{proxy.port};"
                               "transport=tls")
    third.wait_for("CALL_ESTABLISHED")
    caller.wait_for("CALL_CLOSED")
    agent_has_spoken(house, call_id)
    third.command("hangup")
    assert house.completed(call_id, 20)["status"] == "completed"
    third.wait_for("CALL_CLOSED")
    check_route(proxy, "REFER", "NOTIFY", "BYE")
    assert len(proxy.lines("answer 202 to REFER")) == 1
    assert len(proxy.lines("answer 200 to NOTIFY")) == 2
    assert len(proxy.lines("answer 200 to BYE")) == 2
    results = [event["payload"] for event in house.events(call_id)
               if event["event_type"] == "transfer_call.result"]
    assert results == [{"status": "answered", "success": True}]
    wav = house.ask("GET", f"/v1/recordings/{call_id}").content
    _, _, agent = channels(wav, tmp_path)
    alike(sound.match(sound.read(third.dump("dec")), agent), least=2)
