# SPDX-License-Identifier: MIT
"""A trunk that cannot prove who it is gets no call and learns nothing: the call
fails with the reason in error_message, and not one byte of SIP went over any
connection to it."""
import pathlib
import signal
import socket
import ssl
import subprocess
import threading

import pytest

from house import House, make_certificate, read_text, until

PAST, FUTURE = ("20200101000000Z", "20210101000000Z"), \
    ("20900101000000Z", "20910101000000Z")

# openssl ca alone takes dates.
CONFIG = """[ca]
default_ca = it
[it]
database = {folder}/index
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = any
x509_extensions = leaf
[any]
commonName = supplied
[leaf]
subjectAltName = DNS:localhost
basicConstraints = critical,CA:FALSE
"""


def dated_certificate(folder, ca, start, end):
    """PEM files (certificate, key) for localhost, valid from start to end."""
    folder.mkdir()
    (folder / "index").touch()
    (folder / "serial").write_text("01\n")
    (folder / "config").write_text(CONFIG.format(folder=folder))
    pem, key = folder / "leaf.pem", folder / "leaf.key"

    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True,
                       capture_output=True)
    openssl("req", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            "/CN=localhost", "-keyout", key, "-out", folder / "csr")
    openssl("ca", "-batch", "-notext", "-config", folder / "config", "-cert",
            ca[0], "-keyfile", ca[1], "-startdate", start, "-enddate", end,
            "-in", folder / "csr", "-out", pem)
    return pem, key


class Trunk:
    """A TLS server that answers INVITEs with 486 and keeps every byte that
    came through TLS, by connection."""

    def __init__(self, certificate):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*certificate)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.came, self.alerts, self.connects = [], [], 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.server.accept()
            except OSError:
                return
            self.connects += 1
            threading.Thread(target=self._serve, args=(sock,),
                             daemon=True).start()

    def _serve(self, sock):
        try:
            with self.context.wrap_socket(sock, server_side=True) as link:
                self.came.append(b"")
                self._read(link, len(self.came) - 1)
        except OSError as error:
            self.alerts.append(str(error))

    def _read(self, link, i):
        while more := link.recv(65536):
            self.came[i] += more
            if more.startswith(b"INVITE "):
                link.sendall(self._busy(more.decode()))

    def _busy(self, invite):
        kept = [line for line in invite.partition("\r\n\r\n")[0].split("\r\n")
                if line.split(":")[0] in ("Via", "From", "To", "Call-ID",
                                          "CSeq")]
        kept = [line + ";tag=t" if line.startswith("To:") else line
                for line in kept]
        return "\r\n".join(["SIP/2.0 486 Busy Here", *kept,
                            "Content-Length: 0", "", ""]).encode()

    @property
    def bytes(self):
        return b"".join(self.came)

    def close(self):
        self.server.close()


@pytest.fixture
def trunk():
    trunks = []

    def make(certificate):
        trunks.append(Trunk(certificate))
        return trunks[-1]
    yield make
    for one in trunks:
        one.close()


@pytest.fixture(scope="module")
def authorities(tmp_path_factory):
    """A second authority beside the house's own."""
    folder = tmp_path_factory.mktemp("authorities")
    return folder, make_authority(folder, "second"), \
        make_authority(folder, "unknown")


def make_authority(folder, name):
    pem, key = f"{folder}/{name}.pem", f"{folder}/{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj",
         f"/CN={name} authority", "-keyout", key, "-out", pem, "-addext",
         "keyUsage=critical,keyCertSign"], check=True, capture_output=True)
    return pem, key


@pytest.fixture(scope="module")
def house(tmp_path_factory, authorities):
    """It trusts its own authority and the second one."""
    trusted = authorities[0] / "trusted.pem"
    house = House(tmp_path_factory.mktemp("house"),
                  settings={"PARLEY_SIP_CA_FILE": str(trusted)})
    trusted.write_text(read_text(house.data / "ca.pem") +
                       read_text(authorities[1][0]))
    house.start()
    yield house
    house.close()


def with_chain(certificate, issuer):
    """The server shows its issuer too."""
    with open(certificate[0], "a", encoding="ascii") as pem:
        pem.write(read_text(issuer))
    return certificate


def ends(house, trunk, status, *words):
    house.attach(trunk.port)
    call = house.completed(house.dispatch(), 20)
    assert call["status"] == status, call
    for word in words:
        assert word in call["error_message"], call["error_message"]
    return call


@pytest.mark.parametrize("kind, words", [
    ("other name", ["name mismatch", "localhost", "other.example"]),
    ("name of the number", ["name mismatch", "localhost"]),
    ("expired", ["expired", "2021-01-01"]),
    ("not yet valid", ["not yet valid", "2090-01-01"]),
    ("self-signed", ["self-signed"]),
    ("unknown authority", ["unknown CA", "unknown authority"]),
    ("a leaf as authority", ["unknown CA"]),
])
def test_who_cannot_prove_its_name(house, trunk, authorities, tmp_path, kind,
                                   words):
    ca = house.data / "ca.pem", house.data / "ca.key"
    leaf = house.data / "node.pem", house.data / "node.key"
    made = {
        "other name": lambda: make_certificate(
            tmp_path, "other", "DNS:other.example", ca),
        "name of the number": lambda: make_certificate(
            tmp_path, "number", "URI:sip:+14155550123@localhost", ca),
        "expired": lambda: dated_certificate(tmp_path / "d", ca, *PAST),
        "not yet valid": lambda: dated_certificate(
            tmp_path / "d", ca, *FUTURE),
        "self-signed": lambda: make_certificate(
            tmp_path, "self", "DNS:localhost"),
        "unknown authority": lambda: make_certificate(
            tmp_path, "unknown", "DNS:localhost", authorities[2]),
        "a leaf as authority": lambda: with_chain(make_certificate(
            tmp_path, "leaf", "DNS:localhost", leaf), leaf[0]),
    }
    peer = trunk(made[kind]())
    ends(house, peer, "failed", "certificate is not trusted", *words)
    until("the peer saw the end", lambda: peer.alerts, 5)
    assert peer.connects == len(peer.alerts) and peer.bytes == b""


def test_who_can_is_called(house, trunk, authorities, tmp_path):
    """The same far end with a certificate that is good: so its silence above
    means something."""
    peer = trunk(make_certificate(tmp_path, "good", "DNS:localhost",
                                  authorities[1]))
    ends(house, peer, "busy")
    assert peer.bytes.startswith(b"INVITE sip:") and not peer.alerts


def test_an_authority_that_is_taken_away(house, trunk, authorities, tmp_path):
    """SIGHUP: neither the connection of before nor a new one carries a call."""
    trusted = authorities[0] / "trusted.pem"
    peer = trunk(make_certificate(tmp_path, "good", "DNS:localhost",
                                  authorities[1]))
    ends(house, peer, "busy")
    until("ACK", lambda: b"\r\nCSeq: 1 ACK" in peer.bytes, 5)
    before = list(peer.came)
    assert len(before) == 1
    trusted.write_bytes(pathlib.Path(house.data / "ca.pem").read_bytes())
    house.process.send_signal(signal.SIGHUP)
    until("reloaded", lambda: "certificates reloaded" in read_text(house.log))
    ends(house, peer, "failed", "certificate is not trusted", "unknown CA",
         "second authority")
    until("the peer saw the end", lambda: peer.alerts, 5)
    assert peer.came == before and peer.connects == 1 + len(peer.alerts)
