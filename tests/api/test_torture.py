# SPDX-License-Identifier: MIT
"""RFC 4475's and RFC 5118's torture messages over a real TLS connection, each
on one of its own: the answers that tests/torture/README.md lists come back,
and the same connection then carries a whole call, or is closed where the
listing says so."""
import pathlib
import re

import pytest

from house import FROM, House, free_port
from sip_caller import Caller

FOLDER = pathlib.Path(__file__).parent.parent / "torture"
CELLS = ("name", "rfc", "expects", "we", "parse", "answer", "link")

# What the answer has to carry.
HEADERS = {
    "bext01": {"Unsupported": "nothingSupportsThis"},
    "esc02": {"Allow": "INVITE"},
    "intmeth": {"Allow": "INVITE"},
    "invut": {"Accept": "application/sdp"},
    "mismatch02": {"To": "sip:j.user@example.com"},
    "regaut01": {"Allow": "INVITE"},
    "sdp01": {"Warning": "399"},
    "zeromf": {"Allow": "INVITE"},
}


def listing():
    rows = []
    for line in (FOLDER / "README.md").read_text().splitlines():
        if line.startswith("| ") and not line.startswith("| file "):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            rows.append(dict(zip(CELLS, cells, strict=True)))
    return rows


def open_number(house):
    """A number that answers and then listens."""
    house.attach(free_port())
    house.post(f"/v1/inbound/{FROM}",
               {"prompt": "Hello.", "wait_for_greeting": True})
    return house


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    house = open_number(House(tmp_path_factory.mktemp("house")).start())
    yield house
    house.close()


@pytest.fixture
def caller(house):
    caller = Caller(house)
    yield caller
    caller.close()


def values(data, *names):
    """Of the headers by these names in the first message of data, as sent."""
    head = data.partition(b"\r\n\r\n")[0].decode("utf-8", "replace")
    head = re.sub(r"\r\n[ \t]+", " ", head)
    found = re.findall(
        rf"(?im)^(?:{'|'.join(names)})[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?$", head)
    return [re.sub(r"\s+", " ", value) for value in found]


def check_answer(name, data, answer):
    """It answers this message: Call-ID and CSeq are there as they came, and as
    many Vias."""
    for header, names in [("Call-ID", ("call-id", "i")), ("CSeq", ("cseq",))]:
        sent = values(data, *names)
        got = [re.sub(r"\s+", " ", value) for value in answer.all(header)]
        assert got == sent[:1], (header, got, sent)
    if name != "badinv01":  # commas without anything between them
        sent = ",".join(values(data, "via", "v")).count("SIP")
        assert ",".join(answer.all("Via")).count("SIP") == sent
    for header, words in HEADERS.get(name, {}).items():
        assert words in ",".join(answer.all(header)), answer.headers


@pytest.mark.parametrize("row", listing(), ids=lambda row: row["name"])
def test_message(house, caller, row):
    data = (FOLDER / f"{row['name']}.dat").read_bytes()
    before = house.metrics()["parley_sip_parse_errors_total"]
    caller.send(data)
    expected = [] if row["answer"] == "none" else row["answer"].split()
    for i, status in enumerate(expected):
        answer = caller.next()
        assert answer, "closed without an answer"
        assert answer.first.startswith(f"SIP/2.0 {status} "), answer.first
        if i == 0:
            check_answer(row["name"], data, answer)
    if row["link"] == "closed":
        assert caller.next() is None
    else:
        assert row["link"] == "stays"
        assert caller.options().first == "SIP/2.0 200 OK"
        caller.whole_call(FROM)
    errors = house.metrics()["parley_sip_parse_errors_total"] - before
    assert errors == (row["parse"] not in ("ok", "frame more") or
                      row["name"] == "dblreq")


def test_the_listing_is_whole():
    names = [row["name"] for row in listing()]
    files = [file.stem for file in FOLDER.glob("*.dat")]
    assert sorted(names) == sorted(files) and len(names) == 61


def test_all_of_them_on_one_connection(new_house):
    """As many as a connection survives, one after the other, unread; in a
    house that has seen none of their transactions."""
    house = open_number(new_house().start())
    caller = Caller(house)
    rows = [row for row in listing() if row["link"] == "stays"]
    caller.send(b"".join((FOLDER / f"{row['name']}.dat").read_bytes()
                         for row in rows))
    expected = sorted(" ".join(row["answer"] for row in rows
                               if row["answer"] != "none").split())
    assert sorted(caller.next().first.split()[1] for _ in expected) == expected
    caller.whole_call(FROM)
    caller.close()
