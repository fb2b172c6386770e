# SPDX-License-Identifier: MIT
"""The customer's web server: takes webhooks, answers Webhook nodes."""
import hashlib
import hmac
import http.server
import json
import threading


class Post:
    """One request as it came."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def is_final(self):
        """The post-call webhook; in-call events have a category."""
        return "category" not in self.json

    def is_signed(self, secret):
        expected = hmac.new(secret.encode(), self.body,
                            hashlib.sha256).hexdigest()
        return self.headers.get("X-Webhook-Signature") == expected


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a service that was killed does not wait for its answer


class Desk:
    """answers: path -> JSON to answer; statuses: path -> statuses to give
    first, each once."""

    def __init__(self):
        self.posts, self.answers, self.statuses = [], {}, {}
        desk = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                size = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(size)
                desk.posts.append(Post(self.path, self.headers, body))
                queue = desk.statuses.get(self.path)
                answer = json.dumps(desk.answers.get(self.path, {}))
                self.send_response(queue.pop(0) if queue else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, *args):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def to(self, path):
        return [post for post in list(self.posts) if post.path == path]

    def finals(self, call_id=None):
        return [post for post in list(self.posts) if post.is_final and
                (call_id is None or post.json.get("call_id") == call_id)]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
