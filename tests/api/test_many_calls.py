# SPDX-License-Identifier: MIT
"""20,000 calls, set up and torn down: answered, canceled and refused, from
outside and to outside. Afterwards descriptors, memory and every table are back
where they were. With the release build; C programs (tools/benches) are the far
ends."""
import concurrent.futures
import json
import re
import signal
import subprocess
import threading
import time

import pytest

from house import FROM, RELEASE, free_port, read_text, until

SETTINGS = {
    "PARLEY_AGENT_MAX_CALLS": "5000",
    "PARLEY_AGENT_MAX_LATE_MS": "0",  # a busy machine is no reason here
    "PARLEY_LOG_LEVEL": "info",
    "PARLEY_SIP_INVITES_PER_S": "0",
    "PARLEY_SIP_PROBE_INTERVAL_S": "0",  # nobody answers between the rounds
    "PARLEY_SIP_RING_TIMEOUT_S": "5",
}
# One round: twenty are warm-up, which fills SQLite's caches, a hundred are
# measured.
INBOUND = {"answered": 80, "canceled": 30, "missing": 20, "unsafe": 20}
OUTBOUND = {"1": 30, "2": 15, "3": 5}  # by the number's last digit
ROUND = sum(INBOUND.values()) + sum(OUTBOUND.values())
WARM_UP, MEASURED = 4000 // ROUND, 20000 // ROUND
CLIENTS = 4

# The heap in use: who forgets one allocation in a call forgets 32 bytes, with
# malloc's own; half of that in all the calls may be what settles late (pages in
# SQLite's cache, a longer queue). And arrays of pointers, of timers and of hash
# tables, keep the size they once had: four of them for each transaction.
HEAP_BYTES, ARRAY_BYTES = MEASURED * ROUND * 32 // 2, 4 * 8
# Resident memory is what the most at once have needed, since malloc gives back
# little: a transaction lives 32 s, and of 20,000 calls more are at once in it
# than of 4,000. In proportion to them, with a quarter for what malloc wastes.
WASTE = 1.25

# Gauges that say how it went, or what the machine does, not what is held.
NOT_HELD = re.compile(r"parley_(process_.*|store_wal_bytes|.*_max|"
                      r".*longest.*|.*_late_.*|.*latency.*|.*_ms|"
                      r"sip_targets)$")


def gauges(house):
    """Every table that /metrics counts, by name."""
    answer = house.ask("GET", "/metrics")
    kinds = dict(re.findall(r"(?m)^# TYPE (\w+) (\w+)$", answer.text))
    found, targets = {}, 0
    for line in answer.text.splitlines():
        name = re.match(r"\w*", line)[0]
        if kinds.get(name) == "gauge" and not NOT_HELD.match(name):
            found[line.rsplit(" ", 1)[0]] = float(line.rsplit(" ", 1)[1])
        if name == "parley_sip_targets":
            targets += float(line.rsplit(" ", 1)[1])
    found["parley_loop_timers"] -= targets  # the trunk's health has one
    return found


def held(house):
    """What has to be nothing when all calls are over."""
    return {name: n for name, n in gauges(house).items() if n and re.search(
        r"live|sip_(sess|dial|cli|serv|link)|streams|_used|queued|flight",
        name)}


def resident_kb(house):
    text = read_text(f"/proc/{house.process.pid}/status")
    return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))


def heap_bytes(house):
    """The least of a few: a query of the moment is no leak."""
    house.descriptors()  # and our own connections are closed
    return min(house.metrics()["parley_process_heap_bytes"]
               for _ in range(5))


class Peak:
    """The most transactions at once, looked at ten times a second."""

    def __init__(self, house):
        self.most, self.house, self.is_over = 1, house, threading.Event()
        self.session = house.client()
        self.thread = threading.Thread(target=self._look)

    def _look(self):
        while not self.is_over.wait(0.1):
            text = self.house.ask("GET", "/metrics",
                                  session=self.session).text
            self.most = max(self.most, sum(map(float, re.findall(
                r"(?m)^parley_sip_\w+_transactions (\d+)", text))))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.is_over.set()
        self.thread.join()
        self.session.close()


@pytest.fixture
def house(new_house):
    house = new_house(SETTINGS, build=RELEASE).start()
    house.set_org("concurrency", 5000)
    house.trunk_port = free_port()
    house.attach(house.trunk_port)
    house.post(f"/v1/inbound/{FROM}",
               {"prompt": "Hello.", "wait_for_greeting": True})
    return house


def tls(house):
    return ["--certificate", f"{house.data}/node.pem", "--key",
            f"{house.data}/node.key", "--ca", f"{house.data}/ca.pem"]


def callers(house, rounds):
    """Starts those who call us: a process that ends with them."""
    counts = [part for kind, n in INBOUND.items()
              for part in (f"--{kind}", str(n * rounds))]
    return subprocess.Popen(
        [f"{RELEASE}/bench_parts", "sip-callers", *tls(house), "--port",
         str(house.sip_port), "--number", FROM, *counts],
        stdout=subprocess.PIPE, text=True)


def callees(house):
    """Starts those whom we call: our trunk."""
    child = subprocess.Popen(
        [f"{RELEASE}/bench_parts", "sip-callees", *tls(house), "--port",
         str(house.trunk_port)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline().startswith("ready: port ")
    return child


def dispatch(house, rounds):
    """Every outgoing call, from several clients at once."""
    digits = [digit for _ in range(rounds)
              for digit, n in OUTBOUND.items() for _ in range(n)]

    def post(share):
        session = house.client()
        for digit in share:
            house.post("/v1/calls", {
                "phone_number": f"+1415555012{digit}", "from": FROM,
                "task": "Hello.", "wait_for_greeting": True},
                session=session)
        session.close()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(post, [digits[i::CLIENTS] for i in range(CLIENTS)]))


def judge(said, rounds, out):
    """What the far ends saw is what was asked for."""
    assert said == {**{kind: n * rounds for kind, n in INBOUND.items()},
                    "failed": 0, "why": ""}, said
    assert out == {"invited": sum(OUTBOUND.values()) * rounds,
                   "hung_up": OUTBOUND["1"] * rounds,
                   "refused": OUTBOUND["2"] * rounds,
                   "canceled": OUTBOUND["3"] * rounds, "lost": 0}, out


def run(house, rounds):
    """So many rounds, to the end of the last call and of all they held."""
    done = house.metrics()["parley_calls_completed_total"]
    # one that was refused with 404 or 488 is no call
    calls = sum(OUTBOUND.values()) + INBOUND["answered"] + INBOUND["canceled"]
    ends = [callees(house), callers(house, rounds)]
    try:
        dispatch(house, rounds)
        said = json.loads(ends[1].communicate(timeout=300)[0])
        until("all calls are completed", lambda: house.metrics()[
            "parley_calls_completed_total"] == done + calls * rounds, 120)
        ends[0].send_signal(signal.SIGTERM)
        judge(said, rounds, json.loads(ends[0].communicate(timeout=30)[0]))
    finally:
        for end in ends:
            end.kill()
            end.wait()
    try:  # the transactions of a 2xx stay for 32 s (RFC 6026)
        until("nothing is held", lambda: not held(house), 60, 0.5)
    except AssertionError:
        raise AssertionError(f"still held: {held(house)}") from None


def test_twenty_thousand_calls(house):
    assert MEASURED * ROUND == 20000
    empty_kb = resident_kb(house)
    with Peak(house) as warm:
        run(house, WARM_UP)
    before = gauges(house), house.descriptors(), heap_bytes(house)
    warm_kb = resident_kb(house)
    began = time.monotonic()
    with Peak(house) as full:
        run(house, MEASURED)
    after = gauges(house), house.descriptors(), heap_bytes(house)
    full_kb = resident_kb(house)
    print(f"{MEASURED * ROUND} calls and their end in "
          f"{time.monotonic() - began:.0f} s; heap {before[2]:,.0f} and "
          f"{after[2]:,.0f} bytes; resident {empty_kb:,}, {warm_kb:,} and "
          f"{full_kb:,} kB with {warm.most:,.0f} and {full.most:,.0f} "
          "transactions at once")
    changed = {name: (n, after[0].get(name)) for name, n in before[0].items()
               if after[0].get(name) != n}
    assert not changed, "before and after"
    assert after[1] == before[1]
    more = max(0, full.most - warm.most)
    assert after[2] - before[2] < HEAP_BYTES + ARRAY_BYTES * more
    allowed_kb = (warm_kb - empty_kb) * max(1, full.most / warm.most) * WASTE
    assert full_kb - empty_kb < allowed_kb
    assert house.metrics()["parley_sip_parse_errors_total"] == 0
