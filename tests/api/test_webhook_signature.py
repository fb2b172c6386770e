# SPDX-License-Identifier: MIT
"""The published signature check, run by Node: HMAC-SHA256 over
JSON.stringify(JSON.parse(body)). So a webhook's body must be byte for byte what
JavaScript writes, whatever numbers, texts and keys a client sent."""
import json
import subprocess

import pytest

from house import free_port, until

CHECK = """
const crypto = require("crypto");
const chunks = [];
process.stdin.on("data", (chunk) => chunks.push(chunk));
process.stdin.on("end", () => {
  const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()));
  const mac = crypto.createHmac("sha256", process.argv[1]);
  console.log(mac.update(text).digest("hex"));
});
"""

# As the client sends them: JSON text, not what Python would make of it.
VALUES = [
    '{"a":1.0,"b":0.1,"c":1e21,"d":1e-7,"e":-0,"f":-0.0}',
    '{"a":1e20,"b":123456789012345680000,"c":1e-6,"d":5e-324}',
    '{"a":1.7976931348623157e308,"b":0.30000000000000004,"c":2.5e-5}',
    '{"a":9007199254740993,"b":-9007199254740993,"c":12345678901234567890}',
    '{"a":100,"b":1E2,"c":1.10,"d":-1.5e+3}',
    '{"a":"\\u0001\\u001f\\b\\f\\n\\r\\t\\u007f\\u0080\\u2028\\u2029"}',
    '{"a":"\\"\\\\\\/","b":"\\ud83d\\ude00","c":"\\u00e9\\u0153"}',
    '{"b":1,"10":2,"9":3,"01":4,"-1":5,"1.5":6,"0":7,"a":8}',
    '{"4294967294":1,"4294967295":2,"4294967296":3,"7":4}',
    '{"list":[{"2":[],"1":{}},null,true,false,"",[[]]]," ":{"":1}}',
]


def node_signature(body, secret):
    done = subprocess.run(["node", "-e", CHECK, secret], input=body,
                          capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture(scope="module")
def dead_trunk(shared_house):
    """Calls over it fail at once, which sends their webhook."""
    shared_house.attach(free_port())
    return shared_house


@pytest.mark.parametrize("field", ["request_data", "metadata"])
@pytest.mark.parametrize("value", VALUES)
def test_the_body_passes_the_published_check(dead_trunk, shared_desk, field,
                                             value):
    house = dead_trunk
    text = ('{"phone_number":"+14155550123","from":"+14155550100",'
            f'"task":"Hello.","webhook":"{shared_desk.url}/hook",'
            f'"{field}":{value}}}')
    answer = house.ask("POST", "/v1/calls", data=text,
                       headers={"Content-Type": "application/json"})
    assert answer.status_code == 200, answer.text
    call_id = answer.json()["call_id"]
    until("the webhook", lambda: shared_desk.finals(call_id), 15)
    post = shared_desk.finals(call_id)[0]
    secret = house.init["webhook_secret"]
    assert post.headers["X-Webhook-Signature"] == \
        node_signature(post.body, secret)
    told = json.loads(post.body, parse_int=float)
    request = told["request_data"]  # in answers: the request as it came
    assert request[field] == json.loads(value, parse_int=float)
    assert field != "metadata" or told[field] == request[field]
    answer = house.ask("GET", f"/v1/calls/{call_id}")
    assert answer.content == post.body


def test_a_wrong_secret_fails_the_check(dead_trunk, shared_desk):
    house = dead_trunk
    call_id = house.dispatch(webhook=f"{shared_desk.url}/hook")
    until("the webhook", lambda: shared_desk.finals(call_id), 15)
    post = shared_desk.finals(call_id)[0]
    assert post.headers["X-Webhook-Signature"] != \
        node_signature(post.body, "another secret")


def test_a_failed_delivery_is_tried_again_in_order(dead_trunk, shared_desk):
    house = dead_trunk
    shared_desk.statuses["/flaky"] = [500]
    call_id = house.dispatch(webhook=f"{shared_desk.url}/flaky")
    until("a second try", lambda: len(shared_desk.to("/flaky")) == 2, 15)
    first, second = shared_desk.to("/flaky")
    assert first.body == second.body and first.json["call_id"] == call_id
    assert first.headers["X-Webhook-Id"] == second.headers["X-Webhook-Id"]
    assert [p.headers["X-Webhook-Attempt"] for p in (first, second)] == \
        ["1", "2"]


def test_a_refusing_desk_is_not_asked_again(dead_trunk, shared_desk):
    house = dead_trunk
    shared_desk.statuses.update({"/gone": [410], "/later": [503]})
    house.dispatch(webhook=f"{shared_desk.url}/gone")
    house.dispatch(webhook=f"{shared_desk.url}/later")
    until("the other's retry",
          lambda: len(shared_desk.to("/later")) == 2, 15)
    assert len(shared_desk.to("/gone")) == 1
