# SPDX-License-Identifier: MIT
"""Trunks are asked whether they are there: by the service itself, by hand, and
shown in the list of numbers; the addresses for a firewall."""
import socket
import threading
import time

import pytest

from house import FROM, free_port, make_certificate, until

OTHER = "+14155550101"
STATUS = "/v1/sip/status?phone_number=%2B14155550100"


def status(house):
    body = house.get(STATUS)
    assert body["errors"] is None
    return body["data"]


def numbers(house, **options):
    body = house.get("/v1/sip/numbers", **options)
    assert body["errors"] is None
    return body["data"]["numbers"]


def peer_with(sip_peer, house, certificate=None, answer="200 OK"):
    """A far end that gives each OPTIONS this answer; its .seen are those."""
    peer = sip_peer(certificate or (str(house.data / "node.pem"),
                                    str(house.data / "node.key")),
                    lambda link, invite: None)
    peer.seen = []

    def take(link, message):
        if message.method == "OPTIONS":
            peer.seen.append((time.monotonic(), message))
            if answer:
                link.answer(message, answer)
    peer._take = take
    return peer


def test_status_of_one_that_answers(house, sip_peer):
    peer = peer_with(sip_peer, house)
    house.attach(peer.port)
    data = status(house)
    assert data["status"] == "healthy"
    assert 0 <= data["response_time_ms"] < 5000
    assert data["checked_at"].endswith("Z")
    assert set(data) == {"status", "response_time_ms", "checked_at"}
    request = peer.seen[-1][1]
    assert request.first == f"OPTIONS sip:localhost:{peer.port} SIP/2.0"
    assert request.get("Max-Forwards") == "70"
    assert numbers(house) == [{
        "phone_number": FROM, "directions": ["inbound", "outbound"],
        "direction": "both", "sip_endpoint": "sip:localhost",
        "health_status": "healthy", "status": "active"}]


@pytest.mark.parametrize("answer, expected", [
    ("404 Not Found", "healthy"), ("403 Forbidden", "healthy"),
    ("405 Method Not Allowed", "healthy"), ("481 None", "healthy"),
    ("503 Service Unavailable", "unreachable"),
    ("408 Request Timeout", "unreachable")])
def test_what_counts_as_alive(house, sip_peer, answer, expected):
    house.attach(peer_with(sip_peer, house, answer=answer).port)
    assert status(house)["status"] == expected


def test_credentials_stay_at_home(house, sip_peer):
    peer = peer_with(sip_peer, house, answer="401 Unauthorized")
    house.attach(peer.port, sip_username="user", sip_password="secret")
    assert status(house)["status"] == "healthy"
    assert not any(request.get("Authorization") for _, request in peer.seen)


def test_status_of_one_that_is_not_there(house):
    house.attach(free_port())
    data = status(house)
    assert (data["status"], data["response_time_ms"]) == ("unreachable", None)
    assert data["checked_at"] and "refused" in data["reason"]
    assert numbers(house)[0]["health_status"] == "unreachable"


def test_status_of_one_under_a_wrong_name(house, sip_peer, tmp_path):
    certificate = make_certificate(
        tmp_path, "wrong", "DNS:sip.example",
        (house.data / "ca.pem", house.data / "ca.key"))
    peer = peer_with(sip_peer, house, certificate)
    house.attach(peer.port)
    data = status(house)
    assert data["status"] == "unreachable" and "name" in data["reason"]
    assert peer.seen == []


def test_status_comes_within_5_s(house, sip_peer):
    """From a far end that takes the request and from one that takes the
    connection alone; the service answers others meanwhile."""
    silent = peer_with(sip_peer, house, answer=None)
    dumb = socket.create_server(("127.0.0.1", 0))
    took = []
    for port in (silent.port, dumb.getsockname()[1]):
        house.attach(port)
        start = time.monotonic()
        other = threading.Thread(target=status, args=(house,))
        other.start()
        assert house.get("/v1/me", session=house.client())
        assert time.monotonic() - start < 2
        other.join()
        took.append(time.monotonic() - start)
    dumb.close()
    assert 4 < min(took) and max(took) < 7, took
    assert numbers(house)


def test_each_target_once_in_an_interval(new_house, sip_peer):
    house = new_house({"PARLEY_SIP_PROBE_INTERVAL_S": "1"}).start()
    peer, gone = peer_with(sip_peer, house), free_port()
    for i in range(20):
        house.attach(peer.port, number=f"+1415555010{i:02}")
    house.attach(gone, number="+14155550300")
    until("asked by itself", lambda: len(peer.seen) >= 4, 20)
    times = [at for at, _ in peer.seen]
    assert all(after - before > 0.5
               for before, after in zip(times, times[1:])), times
    assert len(peer.links) == 1
    by_health = {n["phone_number"]: n["health_status"]
                 for n in numbers(house)}
    assert by_health.pop("+14155550300") == "unreachable"
    assert set(by_health.values()) == {"healthy"} and len(by_health) == 20
    metrics = house.metrics()
    assert metrics['parley_sip_targets{state="healthy"}'] == 1
    assert metrics['parley_sip_targets{state="unreachable"}'] == 1
    house.post("/v1/sip/detach", {"phone_number": "+14155550300"})
    until("forgotten", lambda: house.metrics()[
        'parley_sip_targets{state="unreachable"}'] == 0, 10)
    peer.server.shutdown(socket.SHUT_RDWR)  # ends its accept()
    peer.close()
    until("seen to be gone", lambda: house.metrics()[
        'parley_sip_targets{state="unreachable"}'] == 1, 20)


def test_off(new_house, sip_peer):
    house = new_house({"PARLEY_SIP_PROBE_INTERVAL_S": "0"}).start()
    peer = peer_with(sip_peer, house)
    house.attach(peer.port)
    assert status(house)["status"] == "healthy"
    assert house.metrics()["parley_sip_probes_total"] == 1


def test_refusals_and_walls(shared_house):
    house = shared_house
    answer = house.ask("GET", "/v1/sip/status")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "phone_number"
    answer = house.ask("GET", STATUS)
    assert answer.status_code == 404
    assert answer.json()["errors"][0]["error"] == "NOT_FOUND"
    house.attach(free_port())
    other = house.client(house.second_org())
    assert numbers(house, session=other) == []
    assert house.ask("GET", STATUS, session=other).status_code == 404
    other.close()


def test_inbound_alone_is_unchecked(shared_house):
    house = shared_house
    house.post("/v1/sip/attach", {"phone_number": OTHER,
                                  "direction": "inbound"})
    assert house.get("/v1/sip/status?phone_number=%2B14155550101") == {
        "data": {"status": "unchecked", "response_time_ms": None,
                 "checked_at": None}, "errors": None}


def test_firewall(shared_house):
    house = shared_house
    assert house.get("/v1/sip/firewall-ips") == {
        "data": {"ip_addresses": ["127.0.0.1"],
                 "ports": {"sip": f"{house.sip_port} TLS",
                           "rtp": "16384-32768 UDP"}}, "errors": None}


def test_entitlement(shared_house):
    house = shared_house
    house.set_org("sip", "off")
    try:
        for path in ("/v1/sip/numbers", STATUS, "/v1/sip/firewall-ips"):
            answer = house.ask("GET", path)
            assert answer.status_code == 403
            assert answer.json()["errors"] == [{
                "error": "FORBIDDEN",
                "message": "SIP is not enabled for your organization"}]
    finally:
        house.set_org("sip", "on")
