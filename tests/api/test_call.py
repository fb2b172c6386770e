# SPDX-License-Identifier: MIT
"""A call from REST to the wire and back: a scripted conversation, and that all
of its outcome becomes visible at one moment; stopping, start time, longest
duration, and the limit of calls at once."""
import datetime
import threading
import time

import pytest

from house import FROM, TO, channels, until

PATHWAY = {
    "name": "Clinic",
    "nodes": [
        {"id": "greet", "type": "Default", "data": {
            "name": "Greeting", "isStart": True,
            "text": "Would you like to book an appointment, or cancel an "
                    "appointment?",
            "pathwayExamples": [
                ["I would like to book an appointment",
                 "book an appointment"],
                ["I need to cancel my appointment",
                 "cancel an appointment"]]}},
        {"id": "day", "type": "Default", "data": {
            "name": "Day", "text": "Which day suits you, Monday or Tuesday?",
            "extractVars": [["day", "string", "the day of the week"]],
            "condition": "The caller has named a day.",
            "pathwayExamples": [
                ["Monday please", "the caller has named a day"],
                ["Tuesday please", "the caller has named a day"]]}},
        {"id": "cancel", "type": "End Call", "data": {
            "name": "Cancelled", "text": "It is cancelled. Goodbye."}},
        {"id": "offer", "type": "Default", "data": {
            "name": "Offer", "text": "{{day}} then. To take it, press one."}},
        {"id": "bye", "type": "End Call", "data": {
            "name": "Goodbye", "text": "It is booked. Goodbye."}},
    ],
    "edges": [
        {"id": "e1", "source": "greet", "target": "day",
         "label": "book an appointment"},
        {"id": "e2", "source": "greet", "target": "cancel",
         "label": "cancel an appointment"},
        {"id": "e3", "source": "day", "target": "offer",
         "label": "the caller has named a day"},
        {"id": "e4", "source": "offer", "target": "bye",
         "label": "pressed 1"},
    ],
}
SCRIPT = ["--say", "I would like to book an appointment.",
          "--say", "Tuesday please.", "--press", "1"]


class Watcher(threading.Thread):
    """Polls a call as a client would, but faster, and keeps what it saw in
    the moment that completed turned true."""

    def __init__(self, house, call_id):
        super().__init__(daemon=True)
        self.house, self.call_id = house, call_id
        self.session = house.client()
        self.turns, self.regressions = [], []
        self.call = self.events = None

    def run(self):
        while self.call is None:
            call = self.house.get(f"/v1/calls/{self.call_id}",
                                  session=self.session)
            turns = [(t["id"], t["text"]) for t in call["transcripts"]]
            if turns[:len(self.turns)] != self.turns:
                self.regressions.append((self.turns, turns))
            self.turns = turns
            if call["completed"]:
                self.events = self.house.get(
                    f"/v1/pathway_calls/{self.call_id}?v=2",
                    session=self.session)
                self.call = call
            time.sleep(0.03)


@pytest.fixture(scope="module")
def scripted(shared_house, shared_desk):
    """One conversation that the tests below look at from all sides."""
    house, desk = shared_house, shared_desk
    callee = house.callee("--once", *SCRIPT)
    house.attach(callee.port)
    pathway = house.post("/v1/pathway/create", PATHWAY)["pathway_id"]
    call_id = house.dispatch(
        task=None, pathway_id=pathway, record=True, max_duration=2,
        webhook=f"{desk.url}/hook", webhook_events=["call"],
        metadata={"order": 7}, request_data={"name": "Ann"})
    watcher = Watcher(house, call_id)
    watcher.start()
    watcher.join(120)
    assert watcher.call, house.tail()
    until("the webhook", lambda: desk.finals(call_id), 10)
    watcher.callee = callee
    return watcher


def is_tuesday(text):
    """The word, or the date of one."""
    try:
        return datetime.date.fromisoformat(text).weekday() == 1
    except ValueError:
        return "tuesday" in text.lower()


def of(events, kind):
    return [e for e in events if e["event_type"] == kind]


def test_the_conversation_goes_as_scripted(scripted):
    call, events = scripted.call, scripted.events
    assert call["status"] == "completed" and call["error_message"] is None
    assert call["queue_status"] == "complete"
    assert call["call_ended_by"] == "ASSISTANT"
    assert call["to"] == TO and call["from"] == FROM
    assert call["metadata"] == {"order": 7}
    assert call["variables"]["name"] == "Ann"
    assert is_tuesday(call["variables"]["day"])
    assert [e["payload"]["button"] for e in of(events, "button.press")] == \
        ["1"]
    said = [e["payload"]["text"].lower() for e in of(events,
                                                     "transcript.user")]
    assert any("appointment" in text for text in said), said
    chosen = [e["payload"]["chosen_node_id"]
              for e in of(events, "node.transition")]
    assert [n for n in chosen if n != "greet"] == ["day", "offer", "bye"]
    assert len(scripted.callee.said("heard")) >= 3  # open decoding guesses


def test_all_of_the_outcome_appears_at_once(scripted, shared_house):
    call, events = scripted.call, scripted.events
    assert call["summary"] and call["end_at"] and call["recording_url"]
    assert call["concatenated_transcript"].count("user: ") >= 2
    assert len(call["transcripts"]) >= 5
    shared_house.idle()  # what could still be written has been
    shared_house.stop()
    shared_house.start()
    assert shared_house.call(scripted.call_id) == call
    assert shared_house.events(scripted.call_id) == events


def test_turns_seen_early_never_change(scripted):
    assert not scripted.regressions


def test_the_timeline_is_ordered_and_complete(scripted):
    events = scripted.events
    order = [e["sequence"] for e in events]
    assert order == sorted(set(order))
    assert events[0]["event_type"] == "conversation.init"
    assert all(e["conversation_id"] == scripted.call_id for e in events)
    spoken = [e["payload"]["text"] for e in events
              if e["event_type"].startswith("transcript.")]
    turns = [t["text"] for t in scripted.call["transcripts"]
             if not t["text"].startswith("Button")]
    assert turns == spoken


def test_events_and_the_call_arrive_as_signed_webhooks(scripted, shared_house,
                                                       shared_desk):
    posts = [p for p in shared_desk.posts
             if p.json["call_id"] == scripted.call_id]
    secret = shared_house.init["webhook_secret"]
    assert all(post.is_signed(secret) for post in posts)
    assert [p.json.get("message") for p in posts[:-1]] == \
        ["Call connected", "Call ended"]
    assert posts[-1].is_final and posts[-1].json == scripted.call
    assert all(p.headers.get("X-Webhook-Id") for p in posts)


def test_turn_latency_is_measured(scripted):
    latency = scripted.call["latency"]
    assert latency["p50"] > 0 and latency["p50"] <= latency["p95"]


def test_lists_leave_out_transcripts(scripted, shared_house):
    body = shared_house.get(f"/v1/calls?to_number=%2B{TO[1:]}&completed=true")
    assert body["count"] == len(body["calls"]) <= body["total_count"]
    entry = [c for c in body["calls"] if c["call_id"] == scripted.call_id]
    assert entry and "transcripts" not in entry[0]
    assert entry[0]["summary"] == scripted.call["summary"]
    other = shared_house.get("/v1/calls?to_number=%2B14155559999")
    assert other["calls"] == [] and other["total_count"] == 0


def test_the_recording_is_served_in_ranges(scripted, shared_house, tmp_path):
    path = f"/v1/recordings/{scripted.call_id}"
    whole = shared_house.ask("GET", path)
    assert whole.status_code == 200
    assert whole.headers["Content-Type"].startswith("audio/")
    rate, caller, agent = channels(whole.content, tmp_path)
    assert rate in (8000, 16000)
    assert len(caller) / rate > 5
    assert max(map(abs, caller)) > 2000 and max(map(abs, agent)) > 2000
    size = len(whole.content)
    for value, expected in [("bytes=0-43", whole.content[:44]),
                            (f"bytes={size - 10}-", whole.content[-10:]),
                            ("bytes=-7", whole.content[-7:])]:
        part = shared_house.ask("GET", path, headers={"Range": value})
        assert part.status_code == 206 and part.content == expected
        assert part.headers["Content-Range"].endswith(f"/{size}")
    beyond = shared_house.ask("GET", path,
                              headers={"Range": f"bytes={size}-"})
    assert beyond.status_code == 416


def test_a_live_call_is_stopped(house):
    callee = house.callee()
    house.attach(callee.port)
    call_id = house.dispatch(task="Hello. " * 20)
    until("it has talked for two seconds", lambda: house.metrics()[
        "parley_media_packets_out_total"] > 100, 30)
    answer = house.post(f"/v1/calls/{call_id}/stop")
    assert answer["message"] == "Call ended successfully."
    call = house.completed(call_id, 10)
    assert call["call_ended_by"] == "ASSISTANT"
    assert call["transcripts"] and call["summary"]
    until("the callee saw BYE", lambda: callee.said("end:"), 10)
    assert house.post(f"/v1/calls/{call_id}/stop")["status"] == "success"


def test_start_time_is_kept_and_a_queued_call_can_be_stopped(house):
    callee = house.callee("--hangup")
    house.attach(callee.port)
    at = datetime.datetime.now(datetime.timezone.utc) + \
        datetime.timedelta(seconds=4)
    at = at.replace(microsecond=0)
    text = at.strftime("%Y-%m-%d %H:%M:%S -00:00")
    late = at + datetime.timedelta(hours=1)
    first = house.dispatch(start_time=text)
    second = house.dispatch(start_time=late.strftime("%Y-%m-%d %H:%M:%S"))
    assert house.call(first)["queue_status"] == "queued"
    assert not house.call(first)["completed"]
    house.post(f"/v1/calls/{second}/stop")
    stopped = house.completed(second, 5)
    assert stopped["status"] == "canceled" and not stopped["started_at"]
    call = house.completed(first)
    started = datetime.datetime.fromisoformat(
        call["started_at"].replace("Z", "+00:00"))
    assert 0 <= (started - at).total_seconds() < 3
    assert len(callee.said("call:")) == 1


def test_max_duration_cuts(house):
    callee = house.callee()
    house.attach(callee.port)
    call_id = house.dispatch(task="Hello. " * 40, max_duration=0.1)
    call = house.completed(call_id, 30)
    assert call["status"] == "completed"
    assert call["call_ended_by"] == "ASSISTANT"
    assert 6 <= float(call["corrected_duration"]) <= 8
    assert any(t["user"] == "assistant" for t in call["transcripts"])


def test_one_call_at_once_holds_in_a_burst(house):
    """The callee takes one call at a time: a second would be busy."""
    callee = house.callee("--hangup")
    house.attach(callee.port)
    house.set_org("concurrency", 1)
    calls, lock = [], threading.Lock()

    def send():
        session = house.client()
        call_id = house.post("/v1/calls", {
            "phone_number": TO, "from": FROM, "task": "Hello."},
            session=session)["call_id"]
        with lock:
            calls.append(call_id)
    threads = [threading.Thread(target=send) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(calls) == 5
    ended = [house.completed(call_id, 90) for call_id in calls]
    assert [c["status"] for c in ended] == ["completed"] * 5
    spans = sorted((c["started_at"], c["end_at"]) for c in ended)
    assert all(before[1] <= after[0]
               for before, after in zip(spans, spans[1:])), spans
    assert len(callee.said("call:")) == 5
