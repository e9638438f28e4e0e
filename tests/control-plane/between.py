"""A proxy between kube-scheduler and our service: passes everything on, but may act before a pod is bound."""

import contextlib
import http.client
import http.server
import threading

HOST = "127.0.0.1"


class Between:
    """A context manager. Calls before_bind(body) before passing each bind to `service`. Records requests and answers of bind; if the
    service gives no answer, kube-scheduler gets none."""

    def __init__(self, service, before_bind):
        self.service, self.before_bind = service, before_bind
        self.binds = []
        self.server = http.server.ThreadingHTTPServer((HOST, 0), self._handler())
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.address = f"{HOST}:{self.server.server_address[1]}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def _pass_on(self, path, body):
        is_bind = path.endswith("/bind")
        if is_bind:
            self.before_bind(body)
        answer = self.service.post(path, body, {"Content-Type": "application/json"})
        if is_bind:
            self.binds.append((body, answer.json()))
        return answer

    def _handler(self):
        between = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # head and body are written separately

            def do_POST(self):
                self.close_connection = True
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with contextlib.suppress(OSError, http.client.HTTPException):
                    self.answer(between._pass_on(self.path, body))
                    self.close_connection = False

            def answer(self, answer):
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_):
                pass

        return Handler
