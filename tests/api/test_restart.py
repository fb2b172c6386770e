# SPDX-License-Identifier: MIT
"""Starting: one service for a folder, no older program on a newer folder, and
faults in the settings named. Stopping: calls end first."""
import signal
import sqlite3

from house import STOP_S, read_text, until


def fails_to_start(house, *words):
    process = house.spawn()
    assert process.wait(STOP_S) != 0
    text = read_text(house.log)
    for word in words:
        assert word in text, text[-2000:]


def test_a_second_service_on_the_folder_is_refused(house):
    house.settings.update({"PARLEY_HTTP_PORT": "0", "PARLEY_SIP_PORT": "0"})
    fails_to_start(house, str(house.data / "store"), "another")
    assert house.get("/v1/me")


def test_a_newer_schema_is_refused_and_not_touched(new_house):
    house = new_house().start()
    house.stop()
    files = list((house.data / "store").glob("*.db")) or \
        [f for f in (house.data / "store").iterdir()
         if f.read_bytes()[:6] == b"SQLite"]
    assert len(files) == 1
    with sqlite3.connect(files[0]) as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        db.execute(f"PRAGMA user_version = {version + 1}")
    db.close()
    fails_to_start(house, f"schema version {version + 1}", "newer parley")
    with sqlite3.connect(files[0]) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == version + 1
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    house.start()
    assert house.get("/v1/me")["status"] == "active"


def test_settings_that_cannot_be(new_house):
    house = new_house()
    for key, value, word in [("PARLEY_HTTP_PORT", "99999", "http.port"),
                             ("PARLEY_SIP_LISTEN", "nowhere", "sip.listen"),
                             ("PARLEY_HTTP_NONSENSE", "1", "nonsense"),
                             ("PARLEY_SIP_CERTIFICATE", "/no/file",
                              "/no/file")]:
        house.settings = {key: value}
        fails_to_start(house, word)
    house.settings = {}


def test_a_running_call_ends_before_the_service_does(new_house, desk):
    house = new_house({"PARLEY_SHUTDOWN_DRAIN_S": "2"}).start()
    callee = house.callee()
    house.attach(callee.port)
    call_id = house.dispatch(task="Hello. " * 40,
                             webhook=f"{desk.url}/hook")
    house.wait_up(call_id)
    house.session.close()
    house.process.send_signal(signal.SIGTERM)
    until("it says that it stops", lambda: house.ask(
        "GET", "/healthz").json() == {"status": "stopping", "live": True,
                                      "ready": False}, 1, 0.01)
    assert not house.call(call_id)["completed"]  # its client reads on
    house.session.close()
    assert house.process.wait(STOP_S) == 0
    until("BYE reached the callee", lambda: callee.said("end:"), 5)
    house.start()
    call = house.call(call_id)
    assert call["completed"] and call["transcripts"] and call["summary"]
    until("the webhook", lambda: desk.finals(call_id), 15)


def test_queued_calls_and_the_store_survive_a_clean_stop(house):
    callee = house.callee("--hangup")
    house.attach(callee.port)
    house.set_org("concurrency", 0)
    queued = [house.dispatch() for _ in range(3)]
    house.stop()
    house.start()
    assert [house.call(c)["queue_status"] for c in queued] == ["queued"] * 3
    house.set_org("concurrency", 1)
    house.stop()
    house.start()
    assert {house.completed(c)["status"] for c in queued} == {"completed"}


def test_backup_is_taken_while_it_runs(house, tmp_path):
    copy = tmp_path / "copy.db"
    house.set_org("name", "The clinic")
    house.parley("backup", str(copy))
    with sqlite3.connect(copy) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert ("The clinic",) in db.execute("SELECT name FROM orgs")
    db.close()
