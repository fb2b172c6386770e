# SPDX-License-Identifier: MIT
"""Kamailio as a carrier's proxy between Parley and a far end."""
import pathlib
import re
import socket
import subprocess

from house import FROM, free_port, make_certificate, read_text, until

HERE = pathlib.Path(__file__).parent
TLS = """\
[server:default]
method = TLSv1.2+
verify_certificate = yes
require_certificate = {require}
private_key = {key}
certificate = {certificate}
ca_list = {ca}

[client:default]
method = TLSv1.2+
verify_certificate = yes
require_certificate = yes
private_key = {key}
certificate = {certificate}
ca_list = {ca}
"""
NAMES = "DNS:localhost,IP:127.0.0.1"


class Kamailio:
    """far: port of the one far end; gateways: ports to be tried in turn;
    features: WITH_... of kamailio.cfg; other words replace theirs there."""

    def __init__(self, folder, house, far=0, gateways=(), features=(),
                 names=NAMES, ca=None, require=False, **words):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.port = free_port()
        data = house.data
        certificate, key = make_certificate(
            self.folder, "carrier", names,
            ca or (data / "ca.pem", data / "ca.key"))
        (self.folder / "tls.cfg").write_text(TLS.format(
            certificate=certificate, key=key, ca=data / "ca.pem",
            require="yes" if require else "no"))
        self.words = {
            "PORT": self.port, "FOLDER": self.folder, "NUMBER": FROM,
            "PARLEY": f"127.0.0.1:{house.sip_port}",
            "FAR": f"127.0.0.1:{far}", "ALGORITHM": "MD5",
            "REALM": "carrier.test", "PASSWORD": "secret", "QOP": "1",
            "MOVED": "+14155550177", "REDIRECT": f"localhost:{self.port}",
            **words}
        lines = [f"1 sip:127.0.0.1:{port};transport=tls 0 {9 - i}"
                 for i, port in enumerate(gateways)]
        lines.append(f"2 sip:127.0.0.1:{house.sip_port};transport=tls 9")
        (self.folder / "dispatcher.list").write_text("\n".join(lines) + "\n")
        text = re.sub("@([A-Z]+)@", lambda found: str(
            self.words[found.group(1)]), read_text(HERE / "kamailio.cfg"))
        features = [*features, *(["WITH_GATEWAYS"] if gateways else [])]
        text = text.replace("#!KAMAILIO\n", "#!KAMAILIO\n" + "".join(
            f"#!define {name}\n" for name in features), 1)
        (self.folder / "cfg").write_text(text)
        self.log = self.folder / "log"
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            ["kamailio", "-DD", "-E", "-f", str(self.folder / "cfg"),
             "-Y", str(self.folder), "-P", str(self.folder / "pid"),
             "-m", "64", "-M", "8"], stdin=subprocess.DEVNULL,
            stdout=open(self.log, "a"), stderr=subprocess.STDOUT)
        return self

    def wait(self):
        """Until it has asked Parley whether it is there: both are up."""
        until("Kamailio is up", lambda: self.is_running() and
              self.lines("up sip:"), 20)
        return self

    def is_running(self):
        assert self.process.poll() is None, read_text(self.log)
        return True

    def takes_connections(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
        except ConnectionRefusedError:
            return False
        return True

    def lines(self, start):
        """What the script noted, without Kamailio's own head of a line."""
        if not self.log.exists():
            return []
        found = re.findall(r"<script>: (.*)", read_text(self.log))
        return [line for line in found if line.startswith(start)]

    def stop(self):
        """The main process ends its children."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
