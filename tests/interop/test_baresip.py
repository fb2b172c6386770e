# SPDX-License-Identifier: MIT
"""Parley and baresip call each other over TLS with SDES SRTP: sound both ways,
keys, either side hangs up, and nothing of it can be read on the wire."""
import pytest

import capture as wire
import sound
import srtp
from capture import Capture
from house import FROM, channels, read_text, until

GREETING = ("Hello, this is the clinic. We have free appointments on Monday "
            "morning, on Tuesday afternoon, and on Friday. To book one of "
            "them now, please press five.")
PATHWAY = {
    "name": "Keys",
    "nodes": [
        {"id": "greet", "type": "Default", "data": {
            "name": "Greeting", "isStart": True, "text": GREETING}},
        {"id": "bye", "type": "End Call", "data": {
            "name": "Goodbye", "text": "Thank you. Goodbye."}}],
    "edges": [{"id": "e", "source": "greet", "target": "bye",
               "label": "pressed 5"}],
}


@pytest.fixture
def tap(network, tmp_path):
    tap = Capture(tmp_path)
    yield tap
    tap.stop()


def agent_has_spoken(house, call_id):
    return until("the agent has spoken", lambda: any(
        event["event_type"] == "transcript.assistant"
        for event in house.events(call_id)), 40)


def alike(found, least=3):
    """Most half seconds are nearly equal; a stall spoils those around it."""
    good = [value for value in found if value > 0.9]
    assert len(good) >= least and len(good) > len(found) / 2, found


def check_sound(house, phone, source, call_id, folder, least=3):
    """What each side said is what the other heard."""
    wav = house.ask("GET", f"/v1/recordings/{call_id}").content
    rate, caller, agent = channels(wav, folder)
    assert rate == sound.RATE
    alike(sound.match(agent, sound.read(phone.dump("dec"))), least)
    alike(sound.match(caller, sound.read(source)[:len(caller) * 2]), least)


def check_wire(tap):
    """Nothing in the clear: not SIP, not sound, not reports; but baresip sends
    its first RTCP (to open a NAT) and its BYE in plain text."""
    tap.stop()
    packets = list(tap.packets())
    assert not [p for p in packets if p[0] == 6 and
                (b"SIP/2.0" in p[3] or b"a=crypto" in p[3])]
    udp = [p for p in packets if p[0] == 17 and
           (wire.is_media(p[1]) or wire.is_media(p[2]))]
    rtp = {False: [], True: []}
    reports = 0
    for _, source, to, payload in udp:
        if source % 2:
            if not wire.is_media(source):
                continue
            reports += 1
            assert payload[0] >> 6 == 2 and 200 <= payload[1] <= 204
            assert payload[-14] & 0x80, "not marked as encrypted"
            size = 4 * (int.from_bytes(payload[2:4], "big") + 1)
            second = payload[size:size + 2]
            assert second[:1] != b"\x81" or second[1:] != b"\xca", "SDES"
        else:
            assert payload[0] >> 6 == 2
            assert wire.longest_run(payload[12:]) < 16, "silence is readable"
            rtp[wire.is_media(source)].append(payload[12:-10])
    assert reports >= 1
    for packets in rtp.values():
        assert len(packets) > 200
        assert len(set(packets)) == len(packets)
        assert wire.entropy(b"".join(packets)) > 7.9, "not like noise"


@pytest.mark.parametrize("codec", ["pcmu", "pcma"])
def test_parley_calls_baresip(house, phone, source, tap, tmp_path, codec):
    baresip = phone(codec=codec)
    house.attach(baresip.port)
    pathway = house.post("/v1/pathway/create", PATHWAY)["pathway_id"]
    call_id = house.dispatch(task=None, pathway_id=pathway, record=True,
                             block_interruptions=True)
    baresip.wait_for("CALL_ESTABLISHED")
    agent_has_spoken(house, call_id)
    baresip.command("sndcode", "5")
    call = house.completed(call_id, 40)
    assert call["status"] == "completed"
    assert call["call_ended_by"] == "ASSISTANT"
    baresip.wait_for("CALL_CLOSED")
    assert [e["payload"]["button"] for e in house.events(call_id)
            if e["event_type"] == "button.press"] == ["5"]
    media = call["media"][0]
    assert media["codec"].lower().startswith(codec)
    assert media["lost"] == 0
    assert media["failed_authentication"] <= 2  # see check_wire
    check_sound(house, baresip, source, call_id, tmp_path)
    check_wire(tap)


def dial(house, number):
    return f"sip:{number}@127.0.0.1:{house.sip_port};transport=tls"


def inbound(house, baresip, **settings):
    """baresip dials a number of ours: the call that Parley took."""
    house.attach(baresip.port)
    house.post(f"/v1/inbound/{FROM}", {
        "record": True, "block_interruptions": True, **settings})
    baresip.command("dial", dial(house, FROM))
    baresip.wait_for("CALL_ESTABLISHED")
    calls = until("the call is listed", lambda: house.get(
        "/v1/calls?inbound=true")["calls"], 10)
    assert len(calls) == 1
    return calls[0]["call_id"]


def test_baresip_calls_parley_and_hangs_up(house, phone, source, tap,
                                           tmp_path):
    baresip = phone()
    call_id = inbound(house, baresip, prompt=GREETING)
    agent_has_spoken(house, call_id)
    baresip.command("sndcode", "#7")
    until("the keys", lambda: [
        e["payload"]["button"] for e in house.events(call_id)
        if e["event_type"] == "button.press"] == ["#", "7"], 10)
    baresip.command("hangup")
    call = house.completed(call_id, 20)
    assert call["status"] == "completed" and call["inbound"] is True
    assert call["call_ended_by"] == "USER" and call["to"] == FROM
    baresip.wait_for("CALL_CLOSED")
    check_sound(house, baresip, source, call_id, tmp_path)
    check_wire(tap)


def test_a_number_that_is_not_ours(house, phone):
    baresip = phone()
    baresip.command("dial", dial(house, "+14155559999"))
    closed = baresip.wait_for("CALL_CLOSED")
    assert "404" in closed[0].get("param", ""), closed
    assert house.get("/v1/calls?inbound=true")["calls"] == []


def sent_by(tap, port):
    """The RTP of one side so far."""
    return [payload for protocol, source, _, payload in tap.packets()
            if protocol == 17 and source == port]


def hear(house, tap, baresip, call_id, folder, start):
    """The agent's voice in what Parley sent from packet start on: what baresip
    1.0 records ends with any offer inside the call, also one of another
    baresip, so it is read from the wire under the key of the last answer."""
    port, key, _ = baresip.answers()[-1]
    until("3 s of audio", lambda: len(sent_by(tap, port)) > start + 150, 10)
    house.post(f"/v1/calls/{call_id}/stop")
    baresip.wait_for("CALL_CLOSED")
    call = house.completed(call_id, 10)
    assert call["call_ended_by"] == "ASSISTANT"
    wav = house.ask("GET", f"/v1/recordings/{call_id}").content
    _, caller, agent = channels(wav, folder)
    alike(sound.match(srtp.decode(sent_by(tap, port)[start:], key), agent), 2)
    return caller


def press(house, baresip, call_id, key):
    baresip.command("sndcode", key)
    until("the key", lambda: [
        e["payload"]["button"] for e in house.events(call_id)
        if e["event_type"] == "button.press"] == [key], 10)


def test_hold_and_resume(house, phone, source, tap, tmp_path):
    baresip = phone()
    call_id = inbound(house, baresip, prompt=GREETING + " " + GREETING)
    house.wait_up(call_id)
    port = baresip.answers()[0][0]
    until("the agent sends", lambda: len(sent_by(tap, port)) > 25, 10)
    baresip.renew("hold")
    assert baresip.answers()[-1][2] == "recvonly"
    held = len(sent_by(tap, port))
    said = baresip.dump("enc").stat().st_size
    until("a second passes", lambda: baresip.dump("enc").stat().st_size >
          said + 2 * sound.RATE, 10)
    still = len(sent_by(tap, port))
    assert still <= held + 5, "Parley sends to one who holds"
    baresip.renew("resume")
    assert baresip.answers()[-1][2] == "sendrecv"
    press(house, baresip, call_id, "9")
    caller = hear(house, tap, baresip, call_id, tmp_path, still)
    alike(sound.match(caller, sound.read(source)[:len(caller) * 2]), 2)


def test_an_offer_that_changes_nothing(house, phone, source, tap, tmp_path):
    """baresip has no session timers: this is how it would refresh one."""
    baresip = phone()
    call_id = inbound(house, baresip, prompt=GREETING + " " + GREETING)
    house.wait_up(call_id)
    baresip.renew("reinvite")
    first, last = baresip.answers()[0], baresip.answers()[-1]
    assert len(baresip.answers()) == 2 and first == last
    start = len(sent_by(tap, first[0]))
    press(house, baresip, call_id, "3")
    caller = hear(house, tap, baresip, call_id, tmp_path, start)
    alike(sound.match(caller, sound.read(source)[:len(caller) * 2]), 2)


def test_the_session_is_refreshed(house, phone):
    """We dial with the least interval there is (RFC 4028, 4); baresip has no
    session timers, so the refresh is ours, after half of it."""
    house.stop()
    house.settings["PARLEY_SIP_SESSION_EXPIRES_S"] = "90"
    house.start()
    baresip = phone()
    house.attach(baresip.port)
    call_id = house.dispatch(task="Hello.", block_interruptions=True)
    baresip.wait_for("CALL_ESTABLISHED")

    def answered():
        messages = house.get(f"/v1/calls/{call_id}/sip")["data"]["messages"]
        asked = {m["cseq"] for m in messages if m["direction"] == "out" and
                 m["status"] is None and m["method"] == "INVITE"}
        return asked & {m["cseq"] for m in messages if m["status"] == 200}
    until("the refresh is answered", lambda: len(answered()) == 2, 70, 0.5)
    press(house, baresip, call_id, "5")
    baresip.command("hangup")
    call = house.completed(call_id, 20)
    assert call["status"] == "completed" and call["call_ended_by"] == "USER"


def test_a_transfer_to_elsewhere_is_refused(house, phone):
    """A stranger's host is not called; baresip then gives up its call."""
    baresip, other = phone(), phone()
    call_id = inbound(house, baresip, prompt=GREETING)
    house.wait_up(call_id)
    baresip.command("transfer", f"sip:+14155550166@127.0.0.1:{other.port};"
                                "transport=tls")
    until("refused", lambda: "transfer failed: 403 Forbidden" in
          read_text(baresip.log), 10)
    call = house.completed(call_id, 10)
    assert call["status"] == "completed" and call["call_ended_by"] == "USER"
    assert call["transferred_to"] is None
    assert not [event for event in house.events(call_id)
                if event["event_type"].startswith("transfer_call")]
    assert other.events == []
    house.idle()
