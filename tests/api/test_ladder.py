# SPDX-License-Identifier: MIT
"""The SIP messages of a call: GET /v1/calls/{id}/sip and `parley call ID
--ladder`. All of them, in order, without a secret, also after a restart, and
for their own organisation alone."""
import datetime
import re
import types

import pytest

import sip_peer as peers
from house import FROM, random_key, until

CHALLENGE = ('WWW-Authenticate: Digest realm="trunk", nonce="n0nce", '
             'algorithm=MD5, qop="auth"')
PASSWORD = "a-password-of-the-trunk"


def steps(ladder):
    """[">INVITE", "<100", ...]"""
    return [(">" if m["direction"] == "out" else "<") +
            str(m["status"] or m["method"]) for m in ladder["messages"]]


def ladder_of(house, call_id, **options):
    body = house.get(f"/v1/calls/{call_id}/sip", **options)
    assert body["errors"] is None
    return body["data"]


def wait_for(house, call_id, last):
    """The ladder once its last messages are these."""
    return until(f"{last} is in the ladder", lambda: (
        lambda ladder: ladder if steps(ladder)[-len(last):] == last else None
    )(ladder_of(house, call_id)), 10)


@pytest.fixture(scope="module")
def plain(shared_house):
    """A call that a callee takes and ends."""
    callee = shared_house.callee("--hangup")
    shared_house.attach(callee.port)
    call_id = shared_house.dispatch()
    shared_house.completed(call_id)
    return types.SimpleNamespace(
        call_id=call_id, ladder=wait_for(shared_house, call_id,
                                         ["<BYE", ">200"]))


def test_every_message_is_there_in_order(plain):
    assert steps(plain.ladder) == [">INVITE", "<100", "<180", "<200", ">ACK",
                                   "<BYE", ">200"]
    assert plain.ladder["call_id"] == plain.call_id
    assert plain.ladder["dropped"] == 0
    messages = plain.ladder["messages"]
    times = [m["at"] for m in messages]
    assert times == sorted(times)
    for at in times:
        datetime.datetime.strptime(at, "%Y-%m-%dT%H:%M:%S.%fZ")
    assert {m["leg"] for m in messages} == {1}
    assert len({m["sip_call_id"] for m in messages}) == 1
    assert messages[0]["cseq"] == messages[3]["cseq"]
    assert messages[3]["method"] == "INVITE"
    assert messages[3]["start_line"] == "SIP/2.0 200 OK"
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+|\[::1\]:\d+", m["peer"])
               for m in messages)
    assert all(m["text"].startswith(m["start_line"] + "\r\n")
               for m in messages)


def test_media_keys_are_removed(plain):
    with_sdp = [m["text"] for m in plain.ladder["messages"]
                if "\r\n\r\nv=0" in m["text"]]
    assert len(with_sdp) == 2
    for text in with_sdp:
        keys = re.findall(r"a=crypto:\d+ \S+ (.*)\r\n", text)
        assert keys and set(keys) == {"inline:...removed"}


def test_another_organisation_sees_no_call(plain, shared_house):
    stranger = shared_house.client(shared_house.second_org())
    for path in (plain.call_id, "nonsense"):
        answer = shared_house.ask("GET", f"/v1/calls/{path}/sip",
                                  session=stranger)
        assert answer.status_code == 404
        assert answer.json()["errors"][0]["error"] == "CALL_NOT_FOUND"


def draw(house, call_id, *more):
    return house.parley("call", call_id, "--ladder", "--key",
                        house.init["api_key"], *more)


def test_the_ladder_is_drawn(plain, shared_house):
    text = draw(shared_house, plain.call_id)
    lines = text.splitlines()
    assert all(len(line) <= 80 for line in lines), text
    assert "\x1b" not in text
    drawn = "\n".join(line for line in lines if "---" in line)
    wanted = [r"\|--- INVITE \(\d+\) -+>\|", r"\|<-+ 100 \w+ \(\d+ INVITE\)",
              r"\|<-+ 180 Ringing", r"\|<-+ 200 OK \(\d+ INVITE\) ---\|",
              r"\|--- ACK \(\d+\) -+>\|", r"\|<-+ BYE \(\d+\) ---\|",
              r"\|--- 200 OK \(\d+ BYE\) -+>\|"]
    assert re.search(".*\n.*".join(wanted), drawn), text
    assert re.search(r"offer: sendrecv, RTP/SAVP PCMU PCMA telephone-event",
                     text), text
    assert re.search(r"answer: sendrecv, RTP/SAVP PCMU", text), text
    assert "again" not in text


def test_messages_are_printed_whole(plain, shared_house):
    text = draw(shared_house, plain.call_id, "--text")
    for message in plain.ladder["messages"]:
        assert message["text"].replace("\r", "") in text


def test_the_ladder_is_complete_and_stays(plain, shared_house):
    """An outgoing call listens 32 s for other branches of a fork."""
    whole = until("it is complete", lambda: (
        lambda ladder: ladder if ladder["complete"] else None)(
            ladder_of(shared_house, plain.call_id)), 45, 0.5)
    assert whole["messages"] == plain.ladder["messages"]
    assert "Not complete" not in draw(shared_house, plain.call_id)
    shared_house.idle()
    shared_house.stop()
    shared_house.start()
    assert ladder_of(shared_house, plain.call_id) == whole


def test_credentials_are_removed_before_they_are_kept(house, sip_peer):
    key = random_key()

    def challenge(link, invite):
        if not invite.get("Authorization"):
            link.answer(invite, "401 Unauthorized", [CHALLENGE])
            return
        assert 'response="' in invite.get("Authorization")
        link.answer(invite, "100 Trying")
        link.answer(invite, "180 Ringing")
        link.answer(invite, "200 OK", [
            f"Contact: <sip:p:secret@127.0.0.1:{link.peer.port}"
            ";transport=tls>", "Content-Type: application/sdp"],
            peers.SDP.format(port=link.peer.media_port, key=key))
    peer = sip_peer((f"{house.data}/node.pem", f"{house.data}/node.key"),
                    challenge)
    house.attach(peer.port, sip_username="trunk-user", sip_password=PASSWORD)
    call_id = house.dispatch()
    house.wait_up(call_id)
    house.post(f"/v1/calls/{call_id}/stop")
    house.completed(call_id)
    ladder = wait_for(house, call_id, [">BYE", "<200"])
    assert steps(ladder) == [">INVITE", "<401", ">ACK", ">INVITE", "<100",
                             "<180", "<200", ">ACK", ">BYE", "<200"]
    text = "".join(m["text"] for m in ladder["messages"])
    assert "\r\nAuthorization: Digest ...removed\r\n" in text
    assert CHALLENGE in text
    assert "response=" not in text and "trunk-user" not in text
    assert "<sip:p:...removed@" in text
    house.stop()
    kept = b"".join(path.read_bytes() for path in
                    [*house.data.rglob("parley.db*"), house.log])
    assert call_id.encode() in kept and b"...removed" in kept
    for secret in (key, PASSWORD, "response=", ":secret@"):
        assert secret.encode() not in kept, secret


def hold(link, invite):
    """re-INVITE: the peer only sends from now on. Its 200 gets no ACK."""
    target = re.search(r"<([^>]+)>", invite.get("Contact")).group(1)
    sdp = peers.SDP.format(port=link.peer.media_port, key=random_key())
    sdp = sdp.replace("sendrecv", "sendonly").replace("1 1 IN", "1 2 IN")
    link.send("\r\n".join([
        f"INVITE {target} SIP/2.0",
        f"Via: SIP/2.0/TLS 127.0.0.1:{link.peer.port};branch=z9hG4bKhold",
        f"From: {invite.get('To')};tag={link.peer.tag}",
        f"To: {invite.get('From')}", f"Call-ID: {invite.get('Call-ID')}",
        f"Contact: <sip:p@127.0.0.1:{link.peer.port};transport=tls>",
        "CSeq: 7 INVITE", "Max-Forwards: 70", "Content-Type: application/sdp",
        f"Content-Length: {len(sdp)}", "", sdp]))


def test_what_is_sent_again_and_hold_are_marked(house, sip_peer, monkeypatch):
    def behave(link, invite):
        link.answer(invite, "180 Ringing")
        link.answer(invite, "180 Ringing")
        link.take(invite)
        hold(link, invite)
    peer = sip_peer((f"{house.data}/node.pem", f"{house.data}/node.key"),
                    behave)
    house.attach(peer.port)
    call_id = house.dispatch()
    until("the peer's re-INVITE is answered", lambda: any(
        m["cseq"] == "7 INVITE" and m["status"] == 200
        for m in ladder_of(house, call_id)["messages"]), 20)
    house.post(f"/v1/calls/{call_id}/stop")
    house.completed(call_id)
    monkeypatch.setenv("COLUMNS", "64")
    text = draw(house, call_id)
    assert all(len(line) <= 64 for line in text.splitlines()), text
    lines = [line for line in text.splitlines() if "|" in line]
    ringing = [line for line in lines if " 180 Ringing" in line]
    assert ["again" in line for line in ringing] == [False, True]
    held = [line for line in lines if " 200 OK (7 INVITE)" in line]
    assert ["again" in line for line in held][:2] in ([False], [False, True])
    sdp = [line.strip(" |") for line in lines if "RTP/SAVP" in line]
    assert [line.split()[0] for line in sdp[:4]] == ["offer:", "answer:",
                                                     "offer:", "answer:"]
    assert "sendonly (hold)" in sdp[2], sdp
    assert "recvonly (hold)" in sdp[3], sdp


def test_nothing_is_kept_when_that_is_the_setting(new_house):
    house = new_house(settings={"PARLEY_SIP_TRACE_DAYS": "0"}).start()
    callee = house.callee("--hangup")
    house.attach(callee.port)
    call_id = house.dispatch()
    house.completed(call_id)
    assert ladder_of(house, call_id) == {
        "call_id": call_id, "complete": False, "dropped": 0, "messages": []}
    assert "No SIP messages" in draw(house, call_id)
    assert FROM not in draw(house, call_id, "--text")
