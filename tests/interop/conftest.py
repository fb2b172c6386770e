# SPDX-License-Identifier: MIT
"""Fixtures of the interop tests: a network namespace of their own, in which
nothing leaves the machine, and what the black-box tests have."""
import ctypes
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api")]

ADDRESS = "198.51.100.2"  # TEST-NET-2: baresip will not announce loopback
NEW_USER, NEW_NET = 0x10000000, 0x40000000


def unshare(what):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(what):
        raise OSError(ctypes.get_errno(), "unshare")


def enter():
    """This thread, and what it starts, in a new namespace."""
    if os.geteuid() == 0:
        unshare(NEW_NET)
        return
    uid, gid = os.geteuid(), os.getegid()
    unshare(NEW_USER | NEW_NET)
    for name, text in [("setgroups", "deny"), ("uid_map", f"0 {uid} 1"),
                       ("gid_map", f"0 {gid} 1")]:
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


@pytest.fixture(scope="session")
def network():
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    enter()
    for command in ["link set lo up",
                    "link add near type veth peer name far",
                    f"addr add {ADDRESS}/24 dev near",
                    "link set near up", "link set far up"]:
        subprocess.run(["ip", *command.split()], check=True)
    yield ADDRESS
    ctypes.CDLL(None).setns(before, NEW_NET)
    os.close(before)


@pytest.fixture
def house(network, tmp_path):
    from house import House
    folder = tmp_path / "house"
    folder.mkdir()
    house = House(folder, settings={"PARLEY_MEDIA_ADDRESS": network})
    house.start()
    yield house
    house.close()


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """What baresip says: longer than any call, for at its end it hangs up."""
    import sound
    path = tmp_path_factory.mktemp("sound") / "say.wav"
    sound.write(path, sound.sweeps(120))
    return path


@pytest.fixture
def phone(house, source, tmp_path):
    """Starts phones of baresip."""
    from baresip import Baresip
    phones = []

    def start(**options):
        phones.append(Baresip(tmp_path / f"phone{len(phones)}", house,
                              source, **options))
        return phones[-1]
    yield start
    for each in phones:
        each.stop()
