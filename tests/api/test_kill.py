# SPDX-License-Identifier: MIT
"""kill -9 at any moment of a call: whatever was acknowledged is there after
the next start. The interrupted call is completed as failed, with the events it
had; its webhook goes out; queued calls are dialled."""
import os
import random
import threading
import time

import requests

from house import FROM, RELEASE, TO, until
from sip_peer import talk_for

KILLS = int(os.environ.get("TEST_KILLS", "50"))
BUDGET_S = 240
INTERRUPTED = "The service was restarted during the call."


def test_a_killed_call_is_completed_with_what_it_had(new_house, desk):
    house = new_house().start()
    callee = house.callee()
    house.attach(callee.port)
    house.set_org("concurrency", 1)
    hook = {"webhook": f"{desk.url}/hook"}
    call_id = house.dispatch(task="Hello. " * 10, record=True, **hook)
    waiting = house.dispatch(**hook)
    house.wait_up(call_id)
    before = house.events(call_id)
    recording = house.data / "recordings" / f"{call_id}.wav"
    until("some of the recording is on the disk", lambda:
          recording.exists() and recording.stat().st_size > 16000, 20)
    house.kill()
    callee.kill()
    house.set_org("concurrency", 2)
    house.start()
    call = house.completed(call_id, 10)
    assert call["status"] == "failed"
    assert call["error_message"] == INTERRUPTED
    assert call["end_at"] and call["summary"]
    after = house.events(call_id)
    assert after[:len(before)] == before and before
    until("its webhook", lambda: desk.finals(call_id), 15)
    assert desk.finals(call_id)[0].json == call
    # The callee is gone: the queued call fails, but it was dialled.
    assert "reached" in house.completed(waiting, 20)["error_message"]
    until("the other's webhook", lambda: desk.finals(waiting), 15)
    answer = house.ask("GET", f"/v1/recordings/{call_id}")
    assert answer.status_code == 200 and answer.content[:4] == b"RIFF"
    assert len(answer.content) > 8000


class Client(threading.Thread):
    """Dispatches and reads while the service runs; remembers what it was
    promised: ids that were acknowledged, events and ends that it has seen."""

    def __init__(self, house, desk):
        super().__init__(daemon=True)
        self.house, self.hook = house, f"{desk.url}/hook"
        self.acknowledged, self.events, self.ended = [], {}, {}
        self.is_over = False

    def dispatch(self, session):
        body = {"phone_number": TO, "from": FROM, "webhook": self.hook,
                "task": "Hello, this is the clinic."}
        answer = self.house.ask("POST", "/v1/calls", body, session=session)
        if answer.status_code == 200:
            self.acknowledged.append(answer.json()["call_id"])

    def look(self, session):
        for call_id in self.acknowledged[-6:]:
            if call_id in self.ended:
                continue
            call = self.house.get(f"/v1/calls/{call_id}", session=session)
            self.events[call_id] = self.house.get(
                f"/v1/pathway_calls/{call_id}?v=2", session=session)
            if call["completed"]:
                self.ended[call_id] = call

    def run(self):
        session = self.house.client()
        n = 0
        while not self.is_over:
            try:
                if n % 3 == 0:
                    self.dispatch(session)
                self.look(session)
            except requests.RequestException:
                session.close()  # it was killed
                time.sleep(0.02)
            n += 1
            time.sleep(0.03)
        session.close()


def judge(house, desk, client):
    """Everything that was promised has been kept."""
    for call_id in client.acknowledged:
        call = house.completed(call_id, 60)
        assert call["status"] == "completed" or \
            call["error_message"] == INTERRUPTED, call
        assert call["end_at"] and call["summary"]
        if call_id in client.ended:
            assert call == client.ended[call_id]
        seen = client.events.get(call_id, [])
        assert house.events(call_id)[:len(seen)] == seen
        until("its webhook", lambda: desk.finals(call_id), 20)
        posts = desk.finals(call_id)
        assert all(post.json == call for post in posts)
        assert len({post.headers["X-Webhook-Id"] for post in posts}) == 1


def test_kills_at_random_moments(new_house, desk, sip_peer):
    seed = int(os.environ.get("TEST_SEED", "0")) or \
        random.randrange(1, 1 << 31)
    print(f"TEST_SEED={seed}")
    draw = random.Random(seed)
    house = new_house(build=RELEASE)
    talk = random.Random(seed + 1)
    peer = sip_peer((house.data / "node.pem", house.data / "node.key"),
                    talk_for(lambda: talk.uniform(0.02, 0.5)))
    house.start()
    house.attach(peer.port)
    house.set_org("concurrency", 3)
    client = Client(house, desk)
    client.start()
    began = time.monotonic()
    kills = 0
    while kills < KILLS and time.monotonic() - began < BUDGET_S - 60:
        time.sleep(draw.uniform(0.02, 1.5))
        house.kill()
        kills += 1
        house.start()
    client.is_over = True
    client.join(30)
    print(f"{kills} kills in {time.monotonic() - began:.0f} s, "
          f"{len(client.acknowledged)} calls, {len(client.ended)} seen to end")
    assert kills == KILLS, "the kills took too long"
    assert len(client.acknowledged) >= KILLS / 2 and client.ended
    judge(house, desk, client)
    cut = [c for c in client.acknowledged
           if house.call(c)["status"] == "failed"]
    assert cut, "no kill hit a call"
    invited = {invite.get("Call-ID") for invite in peer.invites}
    assert len(invited) >= len(client.acknowledged) - len(cut)
