# SPDX-License-Identifier: MIT
"""Signalling by RFC 3665 and beyond, with sipp at the other end: each scenario
is judged by sipp, which must see it to its end and nothing else, and by
Parley's call object, and nothing of it may be held afterwards."""
import itertools
import socket

import pytest

from house import House, until
from sip_peer import SipPeer
from sipp import Peers
from sipp_rows import ROWS
from sipp_run import TALK, Row, Run, has, stop_when_up

# An OPTIONS that asks for a trunk's health is no part of a scenario.
PLAIN = {"PARLEY_SIP_PROBE_INTERVAL_S": "0"}


@pytest.fixture(scope="module")
def houses(network, tmp_path_factory):
    """One house for all rows with the same settings."""
    made = {}

    def get(settings):
        settings = {**PLAIN, **settings}
        key = tuple(sorted(settings.items()))
        if key not in made:
            made[key] = House(tmp_path_factory.mktemp("house"),
                              settings=settings).start()
        return made[key]

    def drop(house):
        """What a failed test leaves is nothing to build on."""
        for key in [key for key in made if made[key] is house]:
            del made[key]
        house.process.kill()
        house.process.wait()
        house.check_log()
    get.drop = drop
    yield get
    for house in made.values():
        house.close()


numbers = (f"+1415556{n:04}" for n in itertools.count())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_signalling(row, houses, tmp_path):
    house = houses(row.settings)
    peers = Peers(tmp_path, house)
    run = Run(row, house, peers, next(numbers))
    try:
        run.start()
        if row.act:
            row.act(run)
        run.judge()
    except BaseException as fault:
        story = "\n".join(sipp.story() for sipp in (run.sipp, run.second)
                          if sipp)
        fault.add_note(f"{house.tail()}\n{story}")
        houses.drop(house)
        raise
    finally:
        peers.close()


@pytest.fixture
def answering(houses):
    """A peer that takes each call; sipp would answer a BYE on the connection
    that is gone."""
    data = houses({}).data
    peer = SipPeer((data / "node.pem", data / "node.key"),
                   lambda link, invite: link.take(invite))
    yield peer
    peer.close()


def test_shutdown(network, tmp_path):
    """Calls that are up may go on for a while, new ones may not; then BYE."""
    house = House(tmp_path, settings={
        **PLAIN, "PARLEY_SHUTDOWN_DRAIN_S": "3"}).start()
    peers = Peers(tmp_path, house)
    old = Run(Row("old", "in_ended_by_us", act=stop_when_up), house, peers,
              next(numbers))
    new = Run(Row("new", "in_refused", {
        "status": 503, "check": has("Retry-After", "[1-9]")}, number=False),
        house, peers, old.number)
    try:
        old.start()
        old.wait_up()
        house.process.terminate()
        new.start()
        new.sipp.finish()
        old.sipp.finish()
        assert house.process.wait(20) == 0
        house.check_log()
        house.start()
        call = house.call(old.call_id())
        assert call["completed"] and call["media"]
    finally:
        peers.close()
        house.stop()


def test_bye_over_a_new_connection(houses, answering):
    house, number = houses({}), next(numbers)
    house.attach(answering.port, number)
    call_id = house.dispatch(**{**TALK, "from": number})
    house.wait_up(call_id)
    answering.links[0].sock.shutdown(socket.SHUT_RDWR)
    until("the link is gone",
          lambda: not house.metrics()["parley_sip_links"], 10)
    house.post(f"/v1/calls/{call_id}/stop")
    until("the BYE comes", lambda: answering.byes, 10)
    assert len(answering.links) == 2
    assert house.completed(call_id, 20)["status"] == "completed"
    house.idle()
