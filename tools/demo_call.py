#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The demo behind tools/demo: one call from REST to the wire and back.

Starts parleyd, a simulated callee and a small HTTP server on free loopback
ports in a throw-away folder, attaches a SIP trunk, creates a pathway, dispatches
a call and shows what happens. Exit status 0: every expectation below held.
"""
import argparse
import array
import datetime
import hashlib
import hmac
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import wave

FROM, TO = "+14155550100", "+14155550123"
CALL_LIMIT_S = 150

PATHWAY = {
    "name": "Clinic appointments",
    "description": "Books an appointment by speech, a web request and a key",
    "nodes": [
        {"id": "greet", "type": "Default", "data": {
            "name": "Greeting", "isStart": True,
            "text": "Hello, this is the clinic. Would you like to book an "
                    "appointment, or cancel an appointment?",
            "pathwayExamples": [
                ["I would like to book an appointment",
                 "book an appointment"],
                ["I need to cancel my appointment",
                 "cancel an appointment"]]}},
        {"id": "day", "type": "Default", "data": {
            "name": "Ask for the day",
            "text": "Which day suits you, Monday or Tuesday?",
            "extractVars": [["day", "string",
                             "the day of the week the caller wants"]],
            "condition": "The caller has named a day.",
            "pathwayExamples": [
                ["Monday please", "the caller has named a day"],
                ["Tuesday please", "the caller has named a day"]]}},
        {"id": "cancel", "type": "End Call", "data": {
            "name": "Cancelled",
            "text": "Your appointment is cancelled. Goodbye."}},
        {"id": "slots", "type": "Webhook", "data": {
            "name": "Find a free time", "url": "", "method": "POST",
            "body": "{\"day\": \"{{day}}\", \"caller\": \"{{to}}\"}",
            "responseData": [{"data": "$.slot", "name": "slot",
                              "context": "the free time"}],
            "responsePathways": [["slot", "is not null", "",
                                  {"id": "offer", "name": "Offer"}]]}},
        {"id": "offer", "type": "Default", "data": {
            "name": "Offer",
            "text": "There is a free time at {{slot}}. To take it, press one."}},
        {"id": "more", "type": "Default", "data": {
            "name": "Anything else",
            "text": "It is booked. Do you need anything else?",
            "pathwayExamples": [["No thank you", "no"],
                                ["Yes please", "yes"]]}},
        {"id": "bye", "type": "End Call", "data": {
            "name": "Goodbye", "text": "Thank you for calling. Goodbye."}},
    ],
    "edges": [
        {"id": "e1", "source": "greet", "target": "day",
         "label": "book an appointment"},
        {"id": "e2", "source": "greet", "target": "cancel",
         "label": "cancel an appointment"},
        {"id": "e3", "source": "day", "target": "slots",
         "label": "the caller has named a day"},
        {"id": "e4", "source": "slots", "target": "offer", "label": "found"},
        {"id": "e5", "source": "offer", "target": "more",
         "label": "pressed 1"},
        {"id": "e6", "source": "more", "target": "bye", "label": "no"},
        {"id": "e7", "source": "more", "target": "greet", "label": "yes"},
    ],
}

# What the callee does each time the agent has finished.
SCRIPT = ["--say", "I would like to book an appointment.",
          "--say", "Tuesday please.",
          "--press", "1",
          "--say", "No, thank you."]


def say(text=""):
    print(text, flush=True)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Desk:
    """The customer's own web server: answers the Webhook node, takes webhooks."""

    def __init__(self):
        self.asked, self.hooks = [], []
        desk = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                size = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(size)
                answer = b"{}"
                if self.path == "/slots":
                    desk.asked.append(json.loads(body))
                    answer = json.dumps({"slot": "half past ten"}).encode()
                else:
                    desk.hooks.append((dict(self.headers), body))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()


class House:
    """A throw-away data folder with parleyd and the callee running in it."""

    def __init__(self, build, folder):
        self.build, self.folder, self.children = build, folder, []
        ports = ["--http-port", str(free_port()), "--sip-port",
                 str(free_port())]
        out = subprocess.run(
            [f"{build}/parley", "init", "--data", f"{folder}/data", "--json",
             "--allow-loopback"] + ports,
            check=True, capture_output=True, text=True).stdout
        self.init = json.loads(out)
        self.tls = ssl.create_default_context(cafile=self.init["ca_file"])

    def start(self, arguments, log):
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE,
                                 stderr=open(f"{self.folder}/{log}", "w"),
                                 text=True)
        self.children.append(child)
        return child

    def start_callee(self):
        data = f"{self.folder}/data"
        child = self.start(
            [f"{self.build}/callee", "--certificate", f"{data}/node.pem",
             "--key", f"{data}/node.key", "--ca", f"{data}/ca.pem",
             "--once"] + SCRIPT, "callee.log")
        for line in child.stdout:
            if line.startswith("ready: port "):
                threading.Thread(target=child.stdout.read,
                                 daemon=True).start()
                return int(line.split()[-1])
        raise SystemExit("demo: the callee did not start:\n" +
                         open(f"{self.folder}/callee.log").read())

    def start_service(self):
        child = self.start([f"{self.build}/parleyd", "--config",
                            self.init["config"]], "parleyd.log")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and child.poll() is None:
            try:
                return self.ask("GET", "/healthz")
            except OSError:
                time.sleep(0.05)
        raise SystemExit("demo: parleyd did not start:\n" +
                         open(f"{self.folder}/parleyd.log").read())

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.init["base_url"] + path, data=data, method=method,
            headers={"Authorization": self.init["api_key"],
                     "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, context=self.tls,
                                        timeout=20) as answer:
                raw = answer.read()
        except urllib.error.HTTPError as error:
            raise SystemExit(f"demo: {method} {path}: {error.code} "
                             f"{error.read().decode()}")
        if answer.headers.get_content_type() == "application/json":
            return json.loads(raw)
        return raw

    def stop(self):
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        for child in self.children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()


def describe(event):
    """One line for an event of the timeline, or None for plain talk."""
    payload = event["payload"] or {}
    kind = event["event_type"]
    if kind.startswith("transcript."):
        return None
    keys = ("chosen_label", "chosen_node_id", "url", "status", "button",
            "action", "message", "duration_ms", "variables_extracted")
    detail = " ".join(f"{key}={payload[key]}" for key in keys
                      if payload.get(key) not in (None, "", {}))
    return f"{kind} {detail}".strip()


def follow(house, call_id):
    """Prints events as they come until the call is completed."""
    seen, deadline = 0, time.monotonic() + CALL_LIMIT_S
    while time.monotonic() < deadline:
        call = house.ask("GET", f"/v1/calls/{call_id}")
        events = house.ask("GET", f"/v1/pathway_calls/{call_id}?v=2")
        for event in events:
            if event["sequence"] <= seen:
                continue
            seen = event["sequence"]
            payload = event["payload"] or {}
            if event["event_type"] == "transcript.assistant":
                say(f"     agent   {payload.get('text')}")
            elif event["event_type"] == "transcript.user":
                say(f"    caller   {payload.get('text')}")
            else:
                say(f"             · {describe(event)}")
        if call["completed"]:
            return call, house.ask("GET", f"/v1/pathway_calls/{call_id}?v=2")
        time.sleep(0.3)
    raise SystemExit(f"demo: the call was not completed in {CALL_LIMIT_S} s")


def is_tuesday(text):
    """A day of the week may come as its name or as the next such date."""
    try:
        return datetime.date.fromisoformat(text).weekday() == 1
    except ValueError:
        return "tuesday" in text.lower()


def loudness(path):
    """Peak of each channel of a stereo WAV."""
    with wave.open(path) as sound:
        samples = array.array("h", sound.readframes(sound.getnframes()))
        seconds = sound.getnframes() / sound.getframerate()
        if sound.getnchannels() != 2:
            return seconds, []
    return seconds, [max(map(abs, samples[side::2]), default=0)
                     for side in (0, 1)]


def judge(call, events, desk, house, recording):
    """Each expectation with whether it held."""
    kinds = [event["event_type"] for event in events]
    turns = [t for t in call["transcripts"] if t["user"] == "user" and
             not t["text"].startswith("Button")]
    final = [(h, b) for h, b in desk.hooks if b'"category"' not in b]
    secret = house.init["webhook_secret"].encode()
    signed = [hmac.compare_digest(
        headers.get("X-Webhook-Signature", ""),
        hmac.new(secret, body, hashlib.sha256).hexdigest())
        for headers, body in desk.hooks]
    seconds, peaks = loudness(recording)
    spoken = [e for e in events if e["event_type"] == "node.transition" and
              (e["payload"] or {}).get("chosen_label") ==
              "book an appointment"]
    order = [event["sequence"] for event in events]
    return [
        ("the call is completed",
         call["completed"] and call["status"] == "completed"),
        ("three caller turns were recognised", len(turns) >= 3),
        ("one key press arrived", any(
            (e["payload"] or {}).get("button") == "1" for e in events
            if e["event_type"] == "button.press")),
        ("the web request ran", bool(desk.asked) and
         "webhook.result" in kinds),
        ("it carried what the caller said", bool(desk.asked) and
         is_tuesday(str(desk.asked[0].get("day", "")))),
        ("an edge was chosen by speech", bool(spoken)),
        ("the pathway reached its End Call node",
         call["call_ended_by"] == "ASSISTANT"),
        ("transcript and summary are there",
         bool(call["concatenated_transcript"]) and bool(call["summary"])),
        ("the timeline is in order", order == sorted(set(order))),
        ("the webhook arrived, signed", len(final) == 1 and all(signed)),
        ("and equals the call object", len(final) == 1 and
         json.loads(final[0][1]) == call),
        ("the recording holds both voices",
         seconds > 5 and len(peaks) == 2 and min(peaks) > 2000),
    ]


def run(arguments, folder):
    desk = Desk()
    house = House(arguments.build, folder)
    try:
        return run_call(arguments, folder, desk, house)
    finally:
        house.stop()


def run_call(arguments, folder, desk, house):
    sip_port = house.start_callee()
    house.start_service()
    url = house.init["base_url"]
    say(f"parleyd   {url}  (TLS by a private CA: {house.init['ca_file']})")
    say(f"callee    sip:localhost:{sip_port};transport=tls")
    house.ask("POST", "/v1/sip/attach", {
        "phone_number": FROM, "service": "sip",
        "directions": [{"type": "outbound", "sip_endpoint": "sip:localhost",
                        "options": {"port": sip_port, "transport": "tls",
                                    "secure_media": True}}]})
    pathway = json.loads(json.dumps(PATHWAY))
    for node in pathway["nodes"]:
        if node["id"] == "slots":
            node["data"]["url"] = f"http://127.0.0.1:{desk.port}/slots"
    pathway_id = house.ask("POST", "/v1/pathway/create", pathway)["pathway_id"]
    call_id = house.ask("POST", "/v1/calls", {
        "phone_number": TO, "from": FROM, "pathway_id": pathway_id,
        "record": True, "webhook": f"http://127.0.0.1:{desk.port}/hook",
        "webhook_events": ["call"], "max_duration": 2})["call_id"]
    say(f"call      {call_id}  from {FROM} to {TO}\n")
    call, events = follow(house, call_id)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and not any(
            b'"category"' not in body for _, body in desk.hooks):
        time.sleep(0.1)
    recording = f"{folder}/{call_id}.wav"
    with open(recording, "wb") as out:
        out.write(house.ask("GET", f"/v1/recordings/{call_id}"))
    say(f"\nsummary    {call['summary']}")
    say(f"status     {call['status']}, {call['corrected_duration']} s, "
        f"{len(events)} events")
    latency = call.get("latency") or {}
    if latency:
        say(f"latency    wire to wire p50 {latency.get('p50')} ms, "
            f"p95 {latency.get('p95')} ms")
        for number, turn in enumerate(latency.get("per_turn", []), 1):
            parts = ", ".join(f"{name} {ms}" for name, ms in turn.items()
                              if name != "total")
            say(f"           turn {number}: {turn['total']} ms ({parts})")
    say(f"recording  {recording}")
    say(f"webhooks   {len(desk.hooks)} received\n")
    failed = 0
    for what, held in judge(call, events, desk, house, recording):
        say(f"  {'ok  ' if held else 'FAIL'}  {what}")
        failed += not held
    if failed:
        say(f"\ndemo: {failed} expectation(s) failed; logs are in {folder}")
        return 1
    say("\ndemo: the call went as scripted")
    if not arguments.once:
        say(f"\nparleyd serves on {url} until Ctrl-C; try:\n"
            f"  curl --cacert {house.init['ca_file']} -H 'Authorization: "
            f"{house.init['api_key']}' {url}/v1/calls/{call_id}")
        try:
            signal.pause()
        except KeyboardInterrupt:
            pass
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--once", action="store_true",
                        help="exit after the call")
    arguments = parser.parse_args()
    arguments.build = os.path.abspath(arguments.build)
    folder = tempfile.mkdtemp(prefix="parley-demo-")
    status = run(arguments, folder)
    if status == 0:
        shutil.rmtree(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
