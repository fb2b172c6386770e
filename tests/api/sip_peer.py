# SPDX-License-Identifier: MIT
"""A scripted SIP far end on TLS, signalling alone: it says what the test tells
it to say and sends no audio."""
import re
import socket
import ssl
import threading
import time

from house import random_key

SDP = ("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\n"
       "t=0 0\r\nm=audio {port} RTP/SAVP 0 101\r\na=rtpmap:0 PCMU/8000\r\n"
       "a=rtpmap:101 telephone-event/8000\r\n"
       "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:{key}\r\n"
       "a=sendrecv\r\n")


class Message:
    def __init__(self, head, body):
        lines = head.split("\r\n")
        self.first, self.body = lines[0], body
        self.headers = [tuple(part.strip() for part in line.split(":", 1))
                        for line in lines[1:] if ":" in line]

    def all(self, name):
        return [value for key, value in self.headers
                if key.lower() == name.lower()]

    def get(self, name):
        return (self.all(name) or [""])[0]

    @property
    def method(self):
        return self.first.split(" ")[0]


class Link:
    """One TLS connection of the peer."""

    def __init__(self, peer, sock):
        self.peer, self.sock, self.lock = peer, sock, threading.Lock()

    def send(self, text):
        with self.lock:
            self.sock.sendall(text.encode())

    def messages(self):
        data = b""
        while True:
            while b"\r\n\r\n" in data:
                if data.startswith(b"\r\n\r\n"):  # keepalive
                    data = data[4:]
                    continue
                head, _, rest = data.partition(b"\r\n\r\n")
                size = re.search(rb"(?im)^content-length\s*:\s*(\d+)", head)
                need = int(size.group(1)) if size else 0
                if len(rest) < need:
                    break
                data = rest[need:]
                yield Message(head.decode(), rest[:need].decode())
            more = self.sock.recv(65536)
            if not more:
                return
            data += more

    def answer(self, request, status, headers=(), body=""):
        tag = "" if status.startswith("100") else f";tag={self.peer.tag}"
        lines = [f"SIP/2.0 {status}"]
        lines += [f"Via: {via}" for via in request.all("Via")]
        to = request.get("To")
        lines += [f"From: {request.get('From')}",
                  f"To: {to}" + ("" if ";tag=" in to else tag),
                  f"Call-ID: {request.get('Call-ID')}",
                  f"CSeq: {request.get('CSeq')}", *headers,
                  f"Content-Length: {len(body)}", "", body]
        self.send("\r\n".join(lines))

    def take(self, request):
        """200 with an answer in SDP."""
        contact = f"<sip:peer@127.0.0.1:{self.peer.port};transport=tls>"
        self.answer(request, "200 OK", [
            f"Contact: {contact}", "Content-Type: application/sdp"],
            SDP.format(port=self.peer.media_port, key=random_key()))

    def hang_up(self, request):
        """BYE in the dialog that request, an INVITE, made."""
        target = re.search(r"<([^>]+)>", request.get("Contact")).group(1)
        self.send("\r\n".join([
            f"BYE {target} SIP/2.0",
            f"Via: SIP/2.0/TLS 127.0.0.1:{self.peer.port};"
            f"branch=z9hG4bK{random_key()[:12].replace('/', 'x')}",
            f"From: {request.get('To')};tag={self.peer.tag}",
            f"To: {request.get('From')}", f"Call-ID: {request.get('Call-ID')}",
            "CSeq: 1 BYE", "Max-Forwards: 70", "Content-Length: 0", "", ""]))


class SipPeer:
    """behave(link, invite) answers each INVITE, in a thread of its own."""

    def __init__(self, certificate, behave):
        self.tag, self.behave = "peer1", behave
        self.invites, self.byes, self.links = [], [], []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*certificate)
        self.media = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.media.bind(("127.0.0.1", 0))  # takes audio, reads none
        self.media_port = self.media.getsockname()[1]
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,),
                             daemon=True).start()

    def _serve(self, sock):
        try:
            link = Link(self, self.context.wrap_socket(sock,
                                                       server_side=True))
            self.links.append(link)
            for message in link.messages():
                self._take(link, message)
        except OSError:
            pass  # a refused certificate, a closed or killed service
        sock.close()

    def _take(self, link, message):
        if message.method == "INVITE":
            self.invites.append(message)
            threading.Thread(target=self._behave, args=(link, message),
                             daemon=True).start()
        elif message.method == "BYE":
            self.byes.append(message)
            link.answer(message, "200 OK")
        elif message.method in ("OPTIONS", "CANCEL"):
            link.answer(message, "200 OK")

    def _behave(self, link, invite):
        try:
            self.behave(link, invite)
        except OSError:
            pass  # the other side is gone

    def close(self):
        self.server.close()
        self.media.close()
        for link in self.links:
            try:
                link.sock.shutdown(socket.SHUT_RDWR)  # its reader ends
            except OSError:
                pass  # it had ended


def refuse(status, headers=()):
    """Answers each INVITE with one final status."""
    def behave(link, invite):
        link.answer(invite, status, headers)
    return behave


def talk_for(seconds):
    """Takes each call and hangs up after seconds()."""
    def behave(link, invite):
        link.answer(invite, "100 Trying")
        link.take(invite)
        time.sleep(seconds())
        link.hang_up(invite)
    return behave
