# SPDX-License-Identifier: MIT
"""A hostile carrier or caller against the whole service: endless forks,
redirections and challenges, odd session timers, control codes for terminals,
requests that nobody reads the answers of."""
import re
import ssl

import pytest

from house import FROM, TO, random_key, read_text, run, until
from sip_caller import Caller
from sip_peer import SDP, SipPeer, refuse

PASSWORD = "geheim-und-lang"


@pytest.fixture
def carrier(house):
    """carrier(behave): the trunk behaves so from now on."""
    peers = []

    def behave(how, **options):
        peer = SipPeer((f"{house.data}/node.pem", f"{house.data}/node.key"),
                       how)
        peers.append(peer)
        house.attach(peer.port, **options)
        return peer
    yield behave
    for peer in peers:
        peer.close()


def test_no_control_codes_reach_a_terminal(house, carrier):
    carrier(refuse("603 Decline \u009b31m", [
        'Reason: SIP;cause=603;text="\x1b]0;mine\x07\x1b[2J"']))
    first = house.dispatch()
    message = house.completed(first)["error_message"]
    assert message.startswith("The call was declined: 603 Decline")
    assert not re.search("[\x00-\x1f\x7f-\x9f]", message)
    key = ["--key", house.init["api_key"]]
    shown = run(f"{house.build}/parley", "call", "--ladder", first, "--text",
                "--config", house.init["config"], *key)
    assert "603" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)


def forks(status, final):
    """1000 far ends at once."""
    def behave(link, invite):
        own = link.peer.tag
        for n in range(1000):
            link.peer.tag = f"fork{n}"
            link.answer(invite, status, [
                f"Contact: <sip:fork@127.0.0.1:{link.peer.port}>"])
        link.peer.tag = own
        link.answer(invite, final)
    return behave


def test_forks_without_end(house, carrier):
    carrier(forks("180 Ringing", "486 Busy Here"))
    assert house.completed(house.dispatch())["status"] == "busy"


def elsewhere(link, invite):
    n = len(link.peer.invites)
    link.answer(invite, "302 Moved Temporarily", [
        f"Contact: <sip:+1415555{50 * n + i:04d}@localhost:{link.peer.port}>"
        for i in range(40)])


def challenge(link, invite):
    kind = ("407 Proxy", "Proxy") if len(link.peer.invites) % 2 else \
        ("401 Unauthorized", "WWW")
    link.answer(invite, kind[0], [
        f'{kind[1]}-Authenticate: Digest realm="r", stale=true, '
        f'nonce="{random_key()}"'])


def too_small(link, invite):
    link.answer(invite, "422 Session Interval Too Small",
                [f"Min-SE: {100 + len(link.peer.invites)}"])


@pytest.mark.parametrize("how, most", [
    (elsewhere, 8), (challenge, 6), (too_small, 4)])
def test_loops_end(house, carrier, how, most):
    peer = carrier(how, sip_username="user", sip_password=PASSWORD)
    assert house.completed(house.dispatch())["status"] == "failed"
    assert 1 < len(peer.invites) <= most
    assert PASSWORD not in read_text(house.log)


@pytest.mark.parametrize("text", [
    "0", "-5", "4294967295", "9" * 4000, "", "x;;;", "90;refresher=us"])
def test_odd_session_timers(house, carrier, text):
    def behave(link, invite):
        link.answer(invite, "200 OK", [
            f"Contact: <sip:peer@127.0.0.1:{link.peer.port};transport=tls>",
            "Content-Type: application/sdp", f"Session-Expires: {text}"],
            SDP.format(port=link.peer.media_port, key=random_key()))
        link.hang_up(invite)
    peer = carrier(behave)
    call = house.dispatch()
    house.completed(call)
    until("the call is answered", lambda: peer.invites)


def test_who_never_reads(house):
    """Its connection goes; others are served."""
    deaf, other = Caller(house), Caller(house)
    deaf.sock.setblocking(False)
    ask = "\r\n".join([
        f"OPTIONS sip:127.0.0.1:{house.sip_port} SIP/2.0",
        "Via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bKdeaf",
        "From: <sip:a@127.0.0.1>;tag=a", "To: <sip:b@127.0.0.1>",
        "Call-ID: deaf", "CSeq: 1 OPTIONS",
        *["Record-Route: <sip:proxy.example;lr>"] * 60,
        "Content-Length: 0", "", ""]).encode() * 40

    def is_cut():
        try:
            for _ in range(20):
                deaf.sock.send(ask)
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return False
        except OSError:
            return True
        return False
    until("the connection is cut", is_cut, 60, 0.01)
    assert other.options().first == "SIP/2.0 200 OK"
    for caller in (deaf, other):
        caller.close()


def test_inside_a_call(house):
    """Requests that want too much are refused one by one; the call lives."""
    house.callee()
    house.attach(house.callees[0].port)
    house.post(f"/v1/inbound/{FROM}", {"prompt": "Talk. " * 100})
    caller = Caller(house)
    uri = f"sip:{FROM}@127.0.0.1:{house.sip_port};transport=tls"
    caller.request("INVITE", uri, "in", body=SDP.format(
        port=caller.media.getsockname()[1], key=random_key()))
    answer = caller.final()
    assert answer.first == "SIP/2.0 200 OK"
    to = answer.get("To")
    uri = re.search(r"<([^>]+)>", answer.get("Contact")).group(1)
    caller.request("ACK", uri, "in", to=to)
    rows = [
        ("UPDATE", ["Session-Expires: -1"], "400"),
        ("UPDATE", ["Session-Expires: 4294967295;refresher=uac"], "200"),
        ("NOTIFY", ["Event: refer", "Subscription-State: active"], "481"),
        ("REFER", [f"Refer-To: <sip:{TO}@evil.example>"], "403"),
        ("REFER", [f"Refer-To: <sip:{TO}@localhost?Route=%3Csip:x%3E>",
                   "Refer-To: <sip:x@localhost>"], "400"),
        ("REFER", ["Refer-To: <sip:%0d%0aX:y@localhost>"], "403"),
        ("REFER", [f"Refer-To: <sip:{TO}@localhost?Replaces="
                   "%0d%0aa%3Bto-tag%3Db%3Bfrom-tag%3Dc>"], "400"),
        ("REFER", ["Refer-To: <sip:a\x1bb@localhost>"], "400"),
        ("CANCEL", [], "481"),
    ]
    cseq = 1
    for method, headers, status in rows:
        cseq += 1
        caller.request(method, uri, "in", cseq, to, headers)
        assert caller.final().first.split(" ")[1] == status, (method, headers)
    while status != "603":  # tries are counted, the refused ones too
        cseq += 1
        caller.request("REFER", uri, "in", cseq, to,
                       ["Refer-To: <sip:x@evil.example>"])
        status = caller.final().first.split(" ")[1]
        assert status in ("403", "603") and cseq < 60
    assert read_text(house.log).count("transfer to") < 40
    for wrong in (to[:-1] + "~", "<sip:x@127.0.0.1>;tag=no"):
        caller.request("BYE", uri, "in", cseq + 1, wrong)
        assert caller.final().first.split(" ")[1] == "481"
    caller.request("BYE", uri, "in", cseq + 2, to)
    assert caller.final().first == "SIP/2.0 200 OK"
    caller.close()
