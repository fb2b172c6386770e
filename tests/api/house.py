# SPDX-License-Identifier: MIT
"""A Parley of its own for each test that wants one: data folder, service,
simulated callees and a client that verifies its certificate."""
import base64
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time
import wave

import requests

FROM, TO = "+14155550100", "+14155550123"
BUILD = os.environ.get("TEST_BUILD", "build")
RELEASE = os.environ.get("TEST_RELEASE", BUILD)
REPORTS = ("AddressSanitizer", "LeakSanitizer", "runtime error:",
           "Assertion ")
HELD = {f"parley_{name}" for name in (
    "calls_live", "webhooks_in_flight", "sip_sessions",
    "media_streams", "media_ports_used")}
STOP_S = 60  # SIGTERM to exit, with a sanitizer


def until(what, condition, timeout_s=20.0, pause_s=0.05):
    """Polls until condition() is true and returns its value."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s} s: {what}")
        time.sleep(pause_s)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def read_text(path):
    return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")


def environment():
    """Ours without settings of a Parley that somebody uses."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith("PARLEY_")}


def run(*command):
    """What a program prints; it must end well."""
    done = subprocess.run(command, capture_output=True, text=True,
                          env=environment())
    assert done.returncode == 0, f"{command}: {done.stderr[-3000:]}"
    return done.stdout


class Callee:
    """tools/callee: a far end that plays a script."""

    def __init__(self, house, steps, build):
        data = house.data
        self.log = house.folder / f"callee-{house.n_callees}.log"
        house.n_callees += 1
        self.lines = []
        self.process = subprocess.Popen(
            [f"{build}/callee", "--certificate", f"{data}/node.pem",
             "--key", f"{data}/node.key", "--ca", f"{data}/ca.pem",
             *steps],
            stdout=subprocess.PIPE, stderr=open(self.log, "w"), text=True)
        line = self.process.stdout.readline()
        assert line.startswith("ready: port "), read_text(self.log)
        self.port = int(line.split()[-1])
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def said(self, start):
        return [line for line in self.lines if line.startswith(start)]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Its own end must be clean too."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the callee did not stop") from None
        text = read_text(self.log)
        assert not any(report in text for report in REPORTS), text[-4000:]


class House:
    """A data folder and the parleyd that runs on it, when it runs."""

    def __init__(self, folder, build=BUILD, settings=None):
        self.folder = pathlib.Path(folder)
        self.build = build
        self.data = self.folder / "data"
        self.log = self.folder / "parleyd.log"
        self.settings = dict(settings or {})
        self.callees, self.n_callees = [], 0
        self.process = None
        ports = free_port(), free_port()
        self.init = json.loads(run(
            f"{build}/parley", "init", "--data", str(self.data), "--json",
            "--allow-loopback", "--http-port", str(ports[0]),
            "--sip-port", str(ports[1])))
        self.url = self.init["base_url"]
        self.http_port, self.sip_port = ports
        self.session = self.client()

    def client(self, key=None):
        session = requests.Session()
        session.verify = self.init["ca_file"]
        session.trust_env = False
        session.headers["Authorization"] = key or self.init["api_key"]
        return session

    # ---- the service ----

    def spawn(self):
        """Starts parleyd without waiting for it."""
        return subprocess.Popen(
            [f"{self.build}/parleyd", "--config", self.init["config"]],
            stdout=subprocess.DEVNULL, stderr=open(self.log, "a"),
            env={**environment(), **self.settings})

    def start(self):
        before = read_text(self.log).count("ready: http") if \
            self.log.exists() else 0
        self.process = self.spawn()

        def is_ready():
            assert self.process.poll() is None, self.tail()
            return read_text(self.log).count("ready: http") > before
        until("parleyd is ready", is_ready, 60, 0.01)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.session.close()

    def stop(self):
        """SIGTERM; it must end by itself, well and without a report."""
        if self.process is None:
            return
        self.session.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(
                f"parleyd did not stop:\n{self.tail()}") from None
        assert status == 0, f"exit status {status}:\n{self.tail()}"
        self.check_log()

    def check_log(self):
        text = read_text(self.log)
        assert not any(report in text for report in REPORTS), text[-6000:]

    def tail(self, n=40):
        return "\n".join(read_text(self.log).splitlines()[-n:])

    def close(self):
        """End of a test: callees and service stop and are judged."""
        faults = []
        if self.process and self.process.poll() is None:
            try:
                self.idle()
            except AssertionError as fault:
                faults.append(str(fault))
        for part in [*self.callees, self]:
            try:
                part.stop()
            except AssertionError as fault:
                faults.append(str(fault))
        assert not faults, "\n".join(faults)

    # ---- REST ----

    def ask(self, method, path, body=None, session=None, **options):
        """The answer as it came."""
        if body is not None:
            options["json"] = body
        return (session or self.session).request(
            method, self.url + path, timeout=options.pop("timeout", 30),
            **options)

    def get(self, path, **options):
        answer = self.ask("GET", path, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path, body=None, **options):
        answer = self.ask("POST", path, body, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def attach(self, port, number=FROM, **more):
        """An outbound trunk to a far end on localhost, and inbound."""
        options = {"port": port, "transport": "tls", "secure_media": True,
                   **more}
        body = self.post("/v1/sip/attach", {
            "phone_number": number, "service": "sip",
            "directions": [
                {"type": "outbound", "sip_endpoint": "sip:localhost",
                 "options": options},
                {"type": "inbound"}]})
        assert body["errors"] is None and \
            body["data"]["configured"] == [number], body

    def callee(self, *steps, build=None):
        callee = Callee(self, steps, build or self.build)
        self.callees.append(callee)
        return callee

    def stop_callees(self):
        while self.callees:
            self.callees.pop().stop()

    def dispatch(self, **fields):
        body = {"phone_number": TO, "from": FROM,
                "task": "Hello, this is the clinic.", **fields}
        return self.post("/v1/calls", body)["call_id"]

    def call(self, call_id):
        return self.get(f"/v1/calls/{call_id}")

    def events(self, call_id):
        return self.get(f"/v1/pathway_calls/{call_id}?v=2")

    def completed(self, call_id, timeout_s=60.0):
        def look():
            call = self.call(call_id)
            return call if call["completed"] else None
        return until(f"call {call_id} is completed", look, timeout_s)

    def wait_up(self, call_id, timeout_s=30.0):
        return until("the call is up", lambda: any(
            event["event_type"] == "conversation.init"
            for event in self.events(call_id)), timeout_s)

    def metrics(self):
        answer = self.ask("GET", "/metrics")
        assert answer.status_code == 200, answer.text
        found = {}
        for line in answer.text.splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                found[name] = float(value)
        return found

    def idle(self):
        """Waits until no call holds anything: sessions, ports, streams."""
        def busy():
            return {name: n for name, n in self.metrics().items()
                    if name in HELD and n}
        try:
            until("nothing is held", lambda: not busy(), 15)
        except AssertionError:
            raise AssertionError(f"still held: {busy()}") from None

    def descriptors(self):
        """Those of the service, without our own connections to it."""
        self.session.close()
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def parley(self, *arguments):
        return run(f"{self.build}/parley", *arguments, "--config",
                   self.init["config"])

    def set_org(self, field, value):
        self.parley("org", "set", self.init["org_id"], field, str(value))

    def second_org(self):
        """The key of another organisation."""
        for line in self.parley("org", "add", "--name", "other").splitlines():
            if line.startswith("api_key"):
                return line.split()[1]
        raise AssertionError("no key")


def channels(wav_bytes, folder):
    """(rate, caller, agent) of a stereo recording."""
    import array
    path = pathlib.Path(folder) / "recording.wav"
    path.write_bytes(wav_bytes)
    with wave.open(str(path)) as sound:
        assert sound.getnchannels() == 2 and sound.getsampwidth() == 2
        samples = array.array("h", sound.readframes(sound.getnframes()))
        return sound.getframerate(), samples[0::2], samples[1::2]


def make_certificate(folder, name, names, ca=None):
    """PEM files (certificate, key), signed by ca (certificate, key) or by
    themselves; names as openssl writes subjectAltName."""
    key, pem = f"{folder}/{name}.key", f"{folder}/{name}.pem"
    run = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
           "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
           "-subj", f"/CN={name}", "-keyout", key, "-out", pem,
           "-addext", f"subjectAltName={names}"]
    if ca:
        run += ["-CA", str(ca[0]), "-CAkey", str(ca[1]),
                "-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run(run, check=True, capture_output=True)
    return pem, key


def random_key():
    """An SDES key of the one suite."""
    return base64.b64encode(os.urandom(30)).decode()
