# SPDX-License-Identifier: MIT
"""What can go wrong with a call: each fault ends in its own status and message,
in seconds, and leaves nothing behind: no session, port, link or descriptor."""
import datetime
import socket
import time

import pytest

from house import FROM, free_port, make_certificate, until
from sip_peer import refuse

# Ringing longer than a TLS handshake may take, which has 5 s.
SETTINGS = {"PARLEY_SIP_RING_TIMEOUT_S": "7", "PARLEY_MEDIA_TIMEOUT_S": "5"}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    from house import House
    house = House(tmp_path_factory.mktemp("house"), settings=SETTINGS).start()
    house.attach(free_port())
    for _ in range(2):  # what is opened once is open now
        house.completed(house.dispatch(), 20)
    yield house
    house.close()


@pytest.fixture(autouse=True)
def nothing_is_left(house):
    house.idle()
    before = house.descriptors()
    yield
    house.idle()
    house.stop_callees()  # what is left of the connections to them goes too
    until("the links are closed",
          lambda: not house.metrics()["parley_sip_links"], 15)
    until("descriptors are closed", lambda: house.descriptors() <= before, 15)


def fails(house, call_id, status, *words, within_s=15):
    """The completed call with its status and the words of its message."""
    began = time.monotonic()
    call = house.completed(call_id, within_s)
    assert call["status"] == status, call
    assert call["queue_status"] == \
        ("call_error" if status == "failed" else "complete")
    for word in words:
        assert word in (call["error_message"] or ""), call["error_message"]
    assert call["end_at"] and call["summary"]
    assert time.monotonic() - began < within_s
    return call


def test_a_number_without_a_trunk_is_refused(house):
    answer = house.ask("POST", "/v1/calls", {
        "phone_number": "+14155550123", "from": "+14155557777",
        "task": "Hello."})
    assert answer.status_code == 400
    body = answer.json()
    assert body["message"] == "Invalid from phone number."
    assert body["errors"][0]["field"] == "from"


def test_a_trunk_detached_before_the_call_is_due(house):
    number = "+14155550177"
    house.attach(free_port(), number)
    at = datetime.datetime.utcnow() + datetime.timedelta(seconds=2)
    call_id = house.dispatch(**{
        "from": number, "start_time": at.strftime("%Y-%m-%d %H:%M:%S")})
    house.post("/v1/sip/detach", {
        "phone_number": number, "service": "sip",
        "directions": [{"type": "outbound"}]})
    fails(house, call_id, "failed", "No outbound SIP configuration")


def test_nobody_listens(house):
    house.attach(free_port())
    fails(house, house.dispatch(), "failed", "cannot be reached", "refused")


def test_a_peer_that_never_shakes_hands(house):
    with socket.create_server(("127.0.0.1", 0)) as server:
        house.attach(server.getsockname()[1])
        call = fails(house, house.dispatch(), "failed", "trunk")
    assert "certificate" not in call["error_message"]


def test_a_certificate_for_another_name(house, sip_peer, tmp_path):
    ca = (house.data / "ca.pem", house.data / "ca.key")
    wrong = make_certificate(tmp_path, "other", "DNS:other.example", ca)
    peer = sip_peer(wrong, refuse("486 Busy Here"))
    house.attach(peer.port)
    fails(house, house.dispatch(), "failed", "certificate is not trusted",
          "localhost")
    assert not peer.invites


def test_an_authority_that_nobody_trusts(house, sip_peer, tmp_path):
    wrong = make_certificate(tmp_path, "self", "DNS:localhost")
    peer = sip_peer(wrong, refuse("486 Busy Here"))
    house.attach(peer.port)
    fails(house, house.dispatch(), "failed", "certificate is not trusted")
    assert not peer.invites


@pytest.fixture
def peer_of_the_house(house, sip_peer):
    def make(behave):
        peer = sip_peer((house.data / "node.pem", house.data / "node.key"),
                        behave)
        house.attach(peer.port)
        return peer
    return make


CHALLENGE = 'WWW-Authenticate: Digest realm="trunk", nonce="n1", qop="auth"'


def test_a_trunk_that_wants_credentials(house, peer_of_the_house):
    peer = peer_of_the_house(refuse("401 Unauthorized", [CHALLENGE]))
    fails(house, house.dispatch(), "failed", "credentials", "sip_username")
    assert len(peer.invites) == 1


def test_credentials_that_are_wrong(house, peer_of_the_house):
    peer = peer_of_the_house(refuse("401 Unauthorized", [CHALLENGE]))
    house.attach(peer.port, sip_username="u", sip_password="wrong")
    fails(house, house.dispatch(), "failed", "credentials")
    until("both INVITEs", lambda: len(peer.invites) == 2, 5)
    assert 'username="u"' in peer.invites[1].get("Authorization")


@pytest.mark.parametrize("answer, status, words", [
    ("403 Forbidden", "failed", "refused the call"),
    ("480 Gone Out", "no-answer", "temporarily unavailable"),
    ("488 Not Here", "failed", "secure media"),
    ("503 Service Unavailable", "failed", "out of service"),
    ("600 Busy Everywhere", "busy", "busy"),
    ("603 Decline", "failed", "declined"),
    ("499 Odd", "failed", "499 Odd"),
])
def test_final_answers(house, peer_of_the_house, answer, status, words):
    peer_of_the_house(refuse(answer))
    fails(house, house.dispatch(), status, words)


def test_an_answer_without_srtp(house, peer_of_the_house):
    plain = ("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1"
             "\r\nt=0 0\r\nm=audio 40000 RTP/AVP 0\r\na=sendrecv\r\n")

    def behave(link, invite):
        link.answer(invite, "200 OK", [
            f"Contact: <sip:peer@127.0.0.1:{peer.port};transport=tls>",
            "Content-Type: application/sdp"], plain)
    peer = peer_of_the_house(behave)
    fails(house, house.dispatch(), "failed", "SRTP")
    until("it is hung up", lambda: peer.byes, 5)


@pytest.mark.parametrize("code, status, words", [
    ("486", "busy", "busy"), ("404", "failed", "not found")])
def test_a_callee_that_refuses(house, code, status, words):
    callee = house.callee("--reject", code)
    house.attach(callee.port)
    fails(house, house.dispatch(), status, words)


def test_ringing_without_an_answer(house):
    callee = house.callee("--ring")
    house.attach(callee.port)
    fails(house, house.dispatch(), "no-answer", "did not answer in time")
    until("CANCEL arrived", lambda: callee.said("end:"), 5)


def test_stopped_while_it_rings(house):
    callee = house.callee("--ring")
    house.attach(callee.port)
    call_id = house.dispatch()
    until("it rings", lambda: callee.said("call:"), 10)
    house.post(f"/v1/calls/{call_id}/stop")
    fails(house, call_id, "canceled")
    until("CANCEL arrived", lambda: callee.said("end:"), 5)


def test_the_far_end_dies_in_the_call(house):
    callee = house.callee()
    house.attach(callee.port)
    call_id = house.dispatch(task="Hello. " * 30)
    house.wait_up(call_id)
    until("it talks", lambda: house.call(call_id)["started_at"], 5)
    callee.kill()
    call = fails(house, call_id, "failed", within_s=20)
    assert call["error_message"] and call["answered_by"]


def test_a_far_end_that_sends_no_audio(house, peer_of_the_house):
    peer = peer_of_the_house(
        lambda link, invite: link.take(invite))
    call_id = house.dispatch()
    fails(house, call_id, "failed", "No audio arrived", within_s=20)
    until("it is hung up", lambda: peer.byes, 5)
    assert FROM in peer.invites[0].get("From")


def test_transactions_end_too(house):
    """Those of a 2xx stay for 32 s (RFC 6026)."""
    def left():
        return {name: n for name, n in house.metrics().items()
                if name.endswith(("_transactions", "_dialogs")) and n}
    until("nothing is left", lambda: not left(), 45)
