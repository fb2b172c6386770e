# SPDX-License-Identifier: MIT
"""baresip, a SIP phone of others, driven over its control connection."""
import json
import pathlib
import re
import socket
import subprocess
import threading

from house import TO, free_port, read_text, until

CONFIG = """\
sip_listen 127.0.0.1:{sip}
sip_certificate {pem}
sip_cafile {ca}
sip_verify_server yes
call_max_calls 10
audio_source aufile,{source}
audio_player aufile,{folder}/play.wav
audio_alert aufile,{folder}/alert.wav
ausrc_srate 8000
auplay_srate 8000
rtp_ports 40000-40100
module_path /usr/lib/baresip/modules
module g711.so
module aufile.so
module srtp.so
module sndfile.so
snd_path {folder}
module_app account.so
module_app menu.so
module_app debug_cmd.so
module_app ctrl_tcp.so
ctrl_tcp_listen 127.0.0.1:{control}
"""
ACCOUNT = ("<sip:{number}@127.0.0.1:{sip};transport=tls>;regint=0;"
           "mediaenc=srtp-mand;audio_codecs={codec};answermode=auto\n")


class Baresip:
    def __init__(self, folder, house, source, codec="pcmu"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        sip = free_port()  # listens for TLS on the port above
        self.port, control = sip + 1, free_port()
        pem = self.folder / "node.pem"
        pem.write_text(read_text(house.data / "node.key") +
                       read_text(house.data / "node.pem"))
        (self.folder / "config").write_text(CONFIG.format(
            sip=sip, pem=pem, ca=house.init["ca_file"], source=source,
            folder=self.folder, control=control))
        (self.folder / "accounts").write_text(
            ACCOUNT.format(number=TO, sip=sip, codec=codec))
        for name in ("contacts", "uuid"):
            (self.folder / name).write_text("")
        self.log = self.folder / "log"
        self.process = subprocess.Popen(
            ["baresip", "-s", "-f", str(self.folder)], stdin=subprocess.DEVNULL,
            stdout=open(self.log, "w"), stderr=subprocess.STDOUT)
        self.events = []
        self.control = until("baresip takes commands",
                             lambda: self._connect(control), 15)
        threading.Thread(target=self._read, daemon=True).start()

    def _connect(self, port):
        assert self.process.poll() is None, read_text(self.log)
        try:
            return socket.create_connection(("127.0.0.1", port), 5)
        except ConnectionRefusedError:
            return None

    def _read(self):
        data = b""
        self.control.settimeout(None)
        while True:
            try:
                more = self.control.recv(65536)
            except OSError:
                return
            if not more:
                return
            data += more
            while b":" in data:  # netstrings
                size, _, rest = data.partition(b":")
                if len(rest) < int(size) + 1:
                    break
                self.events.append(json.loads(rest[:int(size)]))
                data = rest[int(size) + 1:]

    def command(self, name, params=""):
        text = json.dumps({"command": name, "params": params, "token": "1"})
        self.control.sendall(f"{len(text)}:{text},".encode())

    def wait_for(self, kind, timeout_s=20):
        return until(f"baresip says {kind}", lambda: [
            e for e in self.events if e.get("type") == kind], timeout_s)

    def count(self, kind):
        return len([e for e in self.events if e.get("type") == kind])

    def renew(self, command):
        """A command that offers anew; returns when the answer is there."""
        before = self.count("CALL_REMOTE_SDP")
        self.command(command)
        until(f"an answer to {command}", lambda:
              self.count("CALL_REMOTE_SDP") > before, 10)

    def answers(self):
        """(audio port, key, direction) of each SDP answer that it got."""
        found = []
        for message in re.split(r"\x1b\[;m", read_text(self.log)):
            _, mark, answer = message.partition("SIP/2.0 200 OK")
            media = re.search(r"(?m)^m=audio (\d+) ", answer)
            if mark and media:
                key = re.search(r"inline:([^|\s]+)", answer)[1]
                way = re.search(r"(?m)^a=((?:send|recv)\w+|inactive)", answer)
                found.append((int(media[1]), key, way[1]))
        return found

    def dump(self, side):
        """The one recording of what it heard ("dec") or said ("enc")."""
        files = list(self.folder.glob(f"dump-*-{side}.wav"))
        assert len(files) == 1, (files, read_text(self.log))
        return files[0]

    def stop(self):
        self.control.close()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
