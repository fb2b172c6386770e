# SPDX-License-Identifier: MIT
"""sipp, a SIP scenario player of others, behind stunnel4, which gives it TLS.

A scenario is a file sipp/NAME.xml in sipp's own language with two additions,
resolved here: <use block="X" a="b">more</use> stands for the text of the block
X, in this file or in sipp/blocks.xml, with {{a}} for each of its attributes
(the element's text is {{more}}); {{name}} is else what the test gives. A line
that holds nothing but an empty value goes."""
import itertools
import pathlib
import re
import signal
import subprocess

from house import read_text, until
from sip_peer import Message

HERE = pathlib.Path(__file__).parent / "sipp"
ATTRIBUTES = r'((?:\s+\w+="[^"]*")*)\s*'
BLOCK = re.compile(r'<block name="([\w-]+)"' + ATTRIBUTES +
                   r'>\n?(.*?)</block>\n?', re.S)
USE = re.compile(r'<use block="([^"]+)"' + ATTRIBUTES +
                 r'(?:/>|>\n?(.*?)\n?</use>)(\n?)', re.S)
COMMENT = re.compile(r"<!--.*?-->\n?", re.S)
HEAD = ('<?xml version="1.0" encoding="ISO-8859-1" ?>\n'
        '<!DOCTYPE scenario SYSTEM "sipp.dtd">\n')
TRACE = re.compile(
    r"^-{10,} [-\d]+[ T\t][\d:.]+[^\n]*\n"
    r"\w+ message (sent|received) [\[(](\d+)\]? bytes\)? ?:\n\n", re.M)
GIVE_UP_MS = 20000
# Below those that the kernel gives to connections; we are alone here.
PORTS = itertools.count(10000)


def attributes(text):
    return dict(re.findall(r'(\w+)="([^"]*)"', text))


def fill(text, values):
    def line(match):
        return "" if values.get(match[1]) == "" else match[0]
    text = re.sub(r"(?m)^[ \t]*\{\{(\w+)\}\}[ \t]*\n", line, text)
    return re.sub(r"\{\{(\w+)\}\}",
                  lambda m: str(values.get(m[1], m[0])), text)


def take_blocks(text, blocks):
    for name, preset, body in BLOCK.findall(text):
        blocks[name] = (attributes(preset), body)
    return BLOCK.sub("", text)


def expand(name, values):
    """The scenario as sipp reads it."""
    blocks = {}
    take_blocks(COMMENT.sub("", read_text(HERE / "blocks.xml")), blocks)
    text = COMMENT.sub("", read_text(HERE / f"{name}.xml"))
    text = take_blocks(text, blocks)

    def use(match):
        preset, body = blocks[fill(match[1], values)]
        given = attributes(match[2])
        if match[3]:
            given["more"] = match[3]
        body = fill(body, {"more": "", **preset, **given})
        if match[4]:  # alone on its line: that of the block has an end too
            body = body.removesuffix("\n")
        return body + match[4]
    while USE.search(text):
        text = USE.sub(use, text)
    for _ in range(2):  # a value may name another
        text = fill(text, values)
    text = re.sub(r' (?:start|ack|response)_txn=""', "", text)
    left = re.search(r"\{\{\w+\}\}", text)
    assert not left, f"{name}: {left[0]} has no value"
    # sipp takes a variable that nothing reads for a mistake
    names = sorted({name for group in re.findall(r'assign_to="([^"]+)"', text)
                    for name in group.split(",")})
    reference = f'<Reference variables="{",".join(names)}"/>\n'
    return HEAD + text.replace("</scenario>", reference + "</scenario>")


def is_listening(port):
    """Without connecting: that would be a call to some."""
    for line in read_text("/proc/thread-self/net/tcp").splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == port:
            return True
    return False


class Process:
    """One of ours, that ends with the test."""

    def __init__(self, folder, name, command):
        self.log = folder / f"{name}.log"
        self.name, self.command, self.folder = name, command, folder
        self.process = None

    def start(self, port=None):
        self.process = subprocess.Popen(
            self.command, cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=open(self.log, "a"), stderr=subprocess.STDOUT)
        if port:
            until(f"{self.name} listens", lambda: self.is_up(port), 10, 0.01)
        return self

    def is_up(self, port):
        assert self.process.poll() is None, read_text(self.log)
        return is_listening(port)

    def kill(self):
        """At once: what it held open is closed by the kernel."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()


class Tunnel(Process):
    """stunnel4. settings: those of its one service."""

    def __init__(self, folder, name, port, settings):
        path = folder / f"{name}.conf"
        lines = ["foreground = yes", "syslog = no", "pid =", "debug = info",
                 "sslVersionMin = TLSv1.2", "[sip]",
                 f"accept = 127.0.0.1:{port}", "delay = yes",
                 "TIMEOUTclose = 0", *settings]
        path.write_text("\n".join(lines) + "\n")
        self.port = port
        super().__init__(folder, name, ["stunnel4", str(path)])

    def start(self, port=None):
        return super().start(self.port)


class Sipp(Process):
    def __init__(self, folder, name, scenario, options):
        path = folder / f"{name}.xml"
        path.write_text(scenario)
        self.messages_file = folder / f"{name}.messages"
        self.errors_file = folder / f"{name}.errors"
        super().__init__(folder, name, [
            "sipp", "-sf", str(path), "-t", "t1", "-i", "127.0.0.1",
            "-m", "1", "-nostdin", "-trace_msg", "-message_file",
            str(self.messages_file), "-trace_err", "-error_file",
            str(self.errors_file), "-recv_timeout", str(GIVE_UP_MS),
            "-timeout", "30", "-timeout_error", *options])

    def messages(self, side="received"):
        """Those that came or were sent, in order."""
        if not self.messages_file.exists():
            return []
        text = read_text(self.messages_file)
        found = []
        for part in TRACE.finditer(text):
            if part[1] != side:
                continue
            whole = text[part.end():part.end() + int(part[2])]
            head, _, body = whole.replace("\r\n", "\n").partition("\n\n")
            found.append(Message(head.replace("\n", "\r\n"), body))
        return found

    def has_sent(self, start):
        return any(message.first.startswith(start)
                   for message in self.messages("sent"))

    def has_received(self, start):
        return any(message.first.startswith(start)
                   for message in self.messages())

    def story(self):
        parts = [self.name]
        for path in (self.errors_file, self.messages_file, self.log):
            if path.exists():
                parts.append(f"---- {path.name}\n{read_text(path)[-9000:]}")
        return "\n".join(parts)

    def finish(self):
        """It must have seen all of its scenario, and nothing else."""
        try:
            status = self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.kill()
            status = "none: it hung"
        assert status == 0, f"exit status {status} of {self.story()}"
        errors = read_text(self.errors_file) if self.errors_file.exists() \
            else ""
        assert "Dead call" not in errors, f"after the end: {self.story()}"


class Peers:
    """The far ends of one test."""

    def __init__(self, folder, house):
        self.folder, self.house = folder, house
        self.processes = []

    def _keep(self, process):
        self.processes.append(process)
        return process

    def _name(self, kind):
        return f"{kind}{len(self.processes)}"

    def _more(self, lines):
        names = {"data": self.house.data, "ca": self.house.init["ca_file"]}
        return [line.format(**names) for line in lines]

    def caller(self, scenario, values, tls=()):
        """sipp calls the house over TLS, its certificate verified. tls: more
        lines of stunnel's, with {data} and {ca}."""
        address = self.house.settings.get("PARLEY_SIP_LISTEN", "127.0.0.1")
        tunnel = self._keep(Tunnel(
            self.folder, self._name("tunnel"), next(PORTS),
            ["client = yes", f"connect = {address}:{self.house.sip_port}",
             f"CAfile = {self.house.init['ca_file']}", "verifyChain = yes",
             "checkHost = localhost", *self._more(tls)])).start()
        values = {"sip_port": self.house.sip_port, **values}
        sipp = self._keep(Sipp(
            self.folder, self._name("sipp"), expand(scenario, values),
            [f"127.0.0.1:{tunnel.port}"]))
        sipp.tunnel = tunnel
        return sipp.start()

    def callee(self, scenario, values, tls=()):
        """sipp takes calls; sipp.tunnel.port is the TLS port."""
        data = self.house.data
        plain, port = next(PORTS), next(PORTS)
        tunnel = self._keep(Tunnel(
            self.folder, self._name("tunnel"), port,
            [f"connect = 127.0.0.1:{plain}", f"cert = {data}/node.pem",
             f"key = {data}/node.key", *self._more(tls)]))
        values = {"trunk_port": port, "sip_port": self.house.sip_port,
                  **values}
        sipp = self._keep(Sipp(
            self.folder, self._name("sipp"), expand(scenario, values),
            ["-p", str(plain)]))
        sipp.tunnel = tunnel
        sipp.start(plain)
        tunnel.start()
        return sipp

    def close(self):
        for process in reversed(self.processes):
            process.stop()
