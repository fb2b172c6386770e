# SPDX-License-Identifier: MIT
"""Fixtures of the black-box tests. TEST_BUILD names the folder with parleyd,
parley and callee; TEST_RELEASE one without sanitizers, for many restarts."""
import os
import resource
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from desk import Desk  # noqa: E402
from house import House  # noqa: E402
from sip_peer import SipPeer  # noqa: E402

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@pytest.fixture
def desk():
    desk = Desk()
    yield desk
    desk.close()


@pytest.fixture(scope="module")
def shared_desk():
    desk = Desk()
    yield desk
    desk.close()


@pytest.fixture
def new_house(tmp_path):
    """Makes houses that are closed, and judged, after the test."""
    houses = []

    def make(settings=None, **options):
        folder = tmp_path / f"house{len(houses)}"
        folder.mkdir()
        house = House(folder, settings=settings, **options)
        houses.append(house)
        return house
    yield make
    faults = []
    for house in houses:
        try:
            house.close()
        except AssertionError as fault:
            faults.append(str(fault))
    assert not faults, "\n".join(faults)


@pytest.fixture
def house(new_house):
    """One that runs."""
    return new_house().start()


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory):
    """One that runs for all tests of a file."""
    house = House(tmp_path_factory.mktemp("house")).start()
    yield house
    house.close()


@pytest.fixture
def sip_peer():
    """Makes scripted SIP peers."""
    peers = []

    def make(certificate, behave):
        peers.append(SipPeer(certificate, behave))
        return peers[-1]
    yield make
    for peer in peers:
        peer.close()
