# SPDX-License-Identifier: MIT
"""Bad input is refused with the field that is wrong, costs the others nothing,
and shows nobody what is not theirs."""
import socket
import ssl
import time

import pytest

from house import FROM, free_port, until

GOOD = {"phone_number": "+14155550123", "from": FROM, "task": "Hello."}


@pytest.fixture(scope="module")
def house(shared_house):
    shared_house.attach(free_port())
    return shared_house


def refused(answer, status, error=None):
    """The first error object of an error answer in its envelope."""
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body["data"] is None and len(body["errors"]) >= 1
    first = body["errors"][0]
    assert first["error"] and first["message"]
    if error:
        assert first["error"] == error
    return first


# ---- calls ----

@pytest.mark.parametrize("change, field, message", [
    ({"phone_number": None}, "phone_number",
     "Missing required parameter: phone_number."),
    ({"task": None}, "task", "Missing required parameter: task."),
    ({"phone_number": {}}, "phone_number",
     "Phone number must be a string or number."),
    ({"phone_number": "12"}, "phone_number", "Invalid phone number. Please "
     "include a country code if outside the US."),
    ({"phone_number": "+1415555012345678"}, "phone_number", None),
    ({"phone_number": "call me"}, "phone_number", None),
    ({"task": 5}, "task", "Task must be a string."),
    ({"from": "+19995550100"}, "from", "Invalid from phone number."),
    ({"from": "x"}, "from", "Invalid from phone number."),
    ({"record": "yes"}, "record", "record must be a boolean."),
    ({"block_interruptions": 1}, "block_interruptions", None),
    ({"max_duration": "long"}, "max_duration",
     "max_duration must be a number."),
    ({"max_duration": 0}, "max_duration", None),
    ({"max_duration": -1}, "max_duration", None),
    ({"max_duration": 721}, "max_duration", None),
    ({"webhook": "ftp://x.example"}, "webhook",
     "webhook must be a string that starts with https://."),
    ({"request_data": [1]}, "request_data",
     "request_data must be an object."),
    ({"metadata": "x"}, "metadata", "metadata must be an object."),
    ({"transfer_phone_number": "+14155550123"}, "transfer_phone_number",
     "Transfer phone number cannot be the same as the phone number."),
    ({"timezone": "Mars/Base"}, "timezone", "Invalid timezone: Mars/Base"),
    ({"start_time": "tomorrow"}, "start_time", "Invalid start_time."),
    ({"summary_prompt": "x" * 2001}, "summary_prompt",
     "Summary prompt must be less than 2000 characters."),
    ({"keywords": ["w"] * 21}, "keywords",
     "At most 20 keywords can be added."),
])
def test_fields_of_a_call(house, change, field, message):
    answer = house.ask("POST", "/v1/calls", {**GOOD, **change})
    first = refused(answer, 400)
    assert first["field"] == field
    body = answer.json()
    assert body["status"] == "error" and body["message"] == first["message"]
    if message:
        assert first["message"] == message


def test_a_pathway_that_is_not_there(house):
    body = {**GOOD, "task": None,
            "pathway_id": "00000000-0000-4000-8000-000000000000"}
    first = refused(house.ask("POST", "/v1/calls", body), 404)
    assert "not found" in first["message"]


@pytest.mark.parametrize("text, error", [
    ("{", "INVALID_JSON"), ('{"a":1,}', "INVALID_JSON"),
    ('{"a":1,"a":2}', "INVALID_JSON"), ("\x00", "INVALID_JSON"),
    ("[" * 100 + "]" * 100, "INVALID_JSON"), ("[]", None), ('"x"', None),
    ('{"phone_number":"\\ud800"}', None),
])
def test_bodies_that_are_no_json_object(house, text, error):
    answer = house.ask("POST", "/v1/calls", data=text,
                       headers={"Content-Type": "application/json"})
    first = refused(answer, 400, error)
    assert error is None or "line" in first["message"]


# ---- pathways ----

def node(node_id, start=False, **data):
    return {"id": node_id, "type": "Default",
            "data": {"name": node_id, "text": "Hello.", "isStart": start,
                     **data}}


@pytest.mark.parametrize("nodes, edges, words", [
    ([node("a")], [], "start"),
    ([node("a", True), node("b", True)], [], "start"),
    ([node("a", True)], [{"id": "e", "source": "a", "target": "z",
                          "label": "x"}], "z"),
    ([node("a", True)], [{"id": "e", "source": "y", "target": "a",
                          "label": "x"}], "y"),
    ([node("a", True), node("a")], [], "a"),
    ([node("a", True, text=None)], [], "text or prompt"),
    ([{"id": "w", "type": "Webhook",
       "data": {"name": "w", "isStart": True, "url": "gopher://x"}}], [],
     "url"),
    ("nodes", [], "array"),
])
def test_pathways_that_make_no_sense(house, nodes, edges, words):
    body = {"name": "bad", "nodes": nodes, "edges": edges}
    first = refused(house.ask("POST", "/v1/pathway/create", body), 400)
    assert words in first["message"], first
    assert first["field"].startswith(("nodes", "edges"))


# ---- SIP configurations ----

@pytest.mark.parametrize("direction, options, words", [
    ({"sip_endpoint": "sip:x.example"}, {"transport": "udp"}, "transport"),
    ({"sip_endpoint": "sip:x.example"}, {"transport": "tcp"}, "transport"),
    ({"sip_endpoint": "x.example"}, {}, "sip_endpoint"),
    ({"sip_endpoint": "sip:10.0.0.1"}, {}, "sip_endpoint"),
    ({"sip_endpoint": "sip:user@x.example"}, {}, "sip_endpoint"),
    ({"sip_endpoint": "sip:x.example;transport=udp"}, {}, "sip_endpoint"),
    ({}, {}, "sip_endpoint"),
    ({"sip_endpoint": "sip:x.example"}, {"port": 70000}, "port"),
    ({"sip_endpoint": "sip:x.example"}, {"secure_media": False},
     "secure_media"),
])
def test_outbound_configurations(house, direction, options, words):
    body = {"phone_number": "+14155550166", "service": "sip",
            "directions": [{"type": "outbound", **direction,
                            "options": options}]}
    first = refused(house.ask("POST", "/v1/sip/attach", body), 400)
    assert words in first["field"], first
    assert first["field"].startswith("directions[0].")
    stored = house.get("/v1/sip?phone_number=%2B14155550166")["data"]
    assert stored == {"inbound": None, "outbound": None}


@pytest.mark.parametrize("change", [
    {"service": "smtp"}, {"directions": []}, {"directions": "inbound"},
    {"directions": [{"type": "inbound"}, {"type": "inbound"}]},
    {"directions": [{"type": "sideways"}]}, {"phone_number": None},
    {"phone_number": "12"},
])
def test_attachments(house, change):
    body = {"phone_number": "+14155550166", "service": "sip",
            "directions": [{"type": "inbound"}], **change}
    first = refused(house.ask("POST", "/v1/sip/attach", body), 400)
    assert first["field"].startswith(next(iter(change))), first


# ---- who may see what ----

@pytest.mark.parametrize("headers", [
    {}, {"Authorization": ""}, {"Authorization": "org_" + "x" * 40},
    {"Authorization": "Bearer nonsense"}, {"x-api-key": "org_x"},
    {"Authorization": "Basic dTpw"},
])
@pytest.mark.parametrize("path", [
    "/v1/calls", "/v1/pathway", "/v1/me", "/v1/sip?phone_number=%2B1415",
    "/v1/calls/00000000-0000-4000-8000-000000000000"])
def test_a_bad_key_learns_nothing(house, headers, path):
    import requests
    answer = requests.get(house.url + path, headers=headers,
                          verify=house.init["ca_file"], timeout=30)
    assert answer.status_code == 401
    assert answer.json() == {"data": None, "errors": [
        {"error": "AUTH_FAILURE", "message": "Unauthorized"}]}


def test_a_revoked_key_stops_working(house):
    org = house.init["org_id"]
    key = house.parley("key", "add", org, "--name", "short").split()[1]
    session = house.client(key)
    house.get("/v1/me", session=session)
    line = [entry for entry in house.parley("key", "list", org).splitlines()
            if "short" in entry][0]
    house.parley("key", "revoke", org, line.split()[0])
    answer = house.ask("GET", "/v1/me", session=session)
    assert answer.status_code == 401


def test_what_another_organisation_has_is_not_there(house):
    other = house.client(house.second_org())
    call_id = house.dispatch(record=True)
    house.completed(call_id)
    pathway = house.post("/v1/pathway/create", {
        "name": "mine", "nodes": [node("a", True)], "edges": []})
    for method, path in [
            ("GET", f"/v1/calls/{call_id}"),
            ("POST", f"/v1/calls/{call_id}/stop"),
            ("GET", f"/v1/pathway_calls/{call_id}?v=2"),
            ("GET", f"/v1/recordings/{call_id}"),
            ("GET", f"/v1/pathway/{pathway['pathway_id']}")]:
        refused(house.ask(method, path, session=other), 404)
    body = {**GOOD, "from": FROM}
    refused(house.ask("POST", "/v1/calls", body, session=other), 400)
    assert house.get("/v1/calls", session=other)["calls"] == []
    seen = house.get(f"/v1/sip?phone_number=%2B{FROM[1:]}", session=other)
    assert seen["data"] == {"inbound": None, "outbound": None}


def test_paths_and_methods(house):
    refused(house.ask("GET", "/v1/nothing"), 404)
    refused(house.ask("GET", "/v1/calls/not-an-id"), 404, "CALL_NOT_FOUND")
    answer = house.ask("DELETE", "/v1/calls")
    refused(answer, 405)
    assert "POST" in answer.headers["Allow"]


# ---- greedy and slow clients ----

def connect(house, is_tls=True):
    sock = socket.create_connection(("127.0.0.1", house.http_port), 10)
    if is_tls:
        context = ssl.create_default_context(cafile=house.init["ca_file"])
        sock = context.wrap_socket(sock, server_hostname="localhost")
    return sock


def serves_on(house, within_s=3):
    began = time.monotonic()
    assert house.get("/healthz")
    house.get("/v1/me")
    assert time.monotonic() - began < within_s


def test_a_body_of_ten_megabytes(house):
    answer = house.ask("POST", "/v1/calls", data=b" " * (10 << 20), headers={
        "Content-Type": "application/json"})
    refused(answer, 413)
    serves_on(house)


def test_a_body_that_says_it_will_be_huge(house):
    sock = connect(house)
    sock.sendall(b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nAuthorization: " +
                 house.init["api_key"].encode() +
                 b"\r\nContent-Length: 10485760000\r\n\r\n")
    assert b" 413 " in sock.recv(4096).split(b"\r\n")[0]
    serves_on(house)
    sock.close()


def test_a_head_that_comes_byte_by_byte(house):
    sock = connect(house)
    sock.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
    began = time.monotonic()
    sock.settimeout(0.5)
    answer = b""
    while time.monotonic() - began < 30:
        try:
            sock.sendall(b"x")
            more = sock.recv(4096)
            answer += more
            if not more:
                break
        except socket.timeout:
            continue
        except OSError:
            break
        finally:
            serves_on(house)
    assert time.monotonic() - began < 20, "it was let go on"
    assert not answer or b" 408 " in answer or b" 400 " in answer
    sock.close()


@pytest.mark.parametrize("head", [
    b"GET /healthz HTTP/1.1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n",
    b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"\x00\x01\x02\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 100000 + b"\r\n\r\n",
])
def test_heads_that_are_not_http(house, head):
    sock = connect(house)
    sock.sendall(head)
    first = sock.recv(4096).split(b"\r\n")[0]
    assert first.startswith(b"HTTP/1.1 4"), first
    sock.close()
    serves_on(house)


def test_a_thousand_idle_connections(house):
    idle = [connect(house, is_tls=n % 10 == 0) for n in range(1000)]
    serves_on(house, 5)
    call_id = house.dispatch()
    assert house.completed(call_id, 20)["status"] == "failed"
    for sock in idle:
        sock.close()
    until("they are closed", lambda: house.descriptors() < 200, 30)
    serves_on(house)
