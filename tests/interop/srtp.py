# SPDX-License-Identifier: MIT
"""What SRTP packets of a capture say, for one who has the key (RFC 3711):
AES in counter mode by openssl, PCMU alone."""
import array
import base64
import subprocess

HEAD, TAG = 12, 10


def aes(key, blocks):
    """Each block of 16 bytes enciphered by itself."""
    done = subprocess.run(
        ["openssl", "enc", "-aes-128-ecb", "-nopad", "-K", key.hex()],
        input=b"".join(blocks), capture_output=True, check=True)
    return done.stdout


def counters(start, size):
    return [(start + i).to_bytes(16, "big") for i in range(-(-size // 16))]


def derive(master, salt, label, size):
    start = (int.from_bytes(salt, "big") ^ label << 48) << 16
    return aes(master, counters(start, size))[:size]


def to_linear(byte):
    """One sample of PCMU (G.711)."""
    byte = ~byte & 0xff
    size = (((byte & 15) << 3) + 132 << (byte >> 4 & 7)) - 132
    return -size if byte & 0x80 else size


LINEAR = [to_linear(byte) for byte in range(256)]


def decode(packets, inline):
    """The samples of RTP packets, in their order, under an SDES key."""
    secret = base64.b64decode(inline)
    key = derive(secret[:16], secret[16:30], 0, 16)
    salt = int.from_bytes(derive(secret[:16], secret[16:30], 2, 14), "big")
    blocks, parts = [], []
    for packet in packets:
        ssrc, number = int.from_bytes(packet[8:12], "big"), packet[2:4]
        start = (salt << 16) ^ (ssrc << 64) ^ \
            (int.from_bytes(number, "big") << 16)
        parts.append(packet[HEAD:-TAG])
        blocks += counters(start, len(parts[-1]))
    stream = aes(key, blocks)
    samples = array.array("h")
    at = 0
    for part in parts:
        samples.extend(LINEAR[byte ^ stream[at + i]]
                       for i, byte in enumerate(part))
        at += -(-len(part) // 16) * 16
    return samples
