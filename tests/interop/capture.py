# SPDX-License-Identifier: MIT
"""What was on the wire: tcpdump writes it, this reads it."""
import math
import struct
import subprocess

from house import read_text, until


class Capture:
    def __init__(self, folder):
        self.file, self.log = folder / "wire.pcap", folder / "tcpdump.log"
        self.process = subprocess.Popen(
            ["tcpdump", "-i", "lo", "-w", str(self.file), "-U", "-Z", "root",
             "-B", "8192", "udp or tcp"],
            stderr=open(self.log, "w"), stdout=subprocess.DEVNULL)
        until("tcpdump listens", lambda: "listening" in read_text(self.log),
              15)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(10)

    def packets(self):
        """(protocol, source port, destination port, payload) of IPv4."""
        data = self.file.read_bytes()
        assert data[:4] == b"\xd4\xc3\xb2\xa1" and data[20] == 1
        at = 24
        while at + 16 <= len(data):
            size = struct.unpack_from("<I", data, at + 8)[0]
            frame = data[at + 16:at + 16 + size]
            at += 16 + size
            if len(frame) < 34 or frame[12:14] != b"\x08\x00":
                continue
            ip = frame[14:]
            segment = ip[(ip[0] & 15) * 4:struct.unpack_from(">H", ip, 2)[0]]
            if ip[9] not in (6, 17) or len(segment) < 8:
                continue
            source, to = struct.unpack_from(">HH", segment)
            head = 8 if ip[9] == 17 else (segment[12] >> 4) * 4
            yield ip[9], source, to, segment[head:]


def is_media(port):
    return 16384 <= port <= 32767


def entropy(data):
    """Bits per byte."""
    counts = [0] * 256
    for byte in data:
        counts[byte] += 1
    return -sum(n / len(data) * math.log2(n / len(data))
                for n in counts if n)


def longest_run(data):
    longest = run = 0
    last = None
    for byte in data:
        run = run + 1 if byte == last else 1
        last = byte
        longest = max(longest, run)
    return longest
