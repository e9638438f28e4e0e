"""HTTP by hand over a socket: for requests that a client library would not send, and for the exact bytes of answers."""

import re
import socket

from limit import LIMIT_S


class Raw:
    """One connection. Answers are read one at a time, by their Content-Length."""

    def __init__(self, address, tls=None):
        """tls: an ssl.SSLContext."""
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host.strip("[]"), int(port)), LIMIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a segment a send
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=host.strip("[]"))
        self.left = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def answer(self, has_body=True):
        """(status, headers by lower-case name, body). EOFError if the connection ends before that."""
        while b"\r\n\r\n" not in self.left:
            self._more()
        head, _, self.left = self.left.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers["content-length"]) if has_body else 0
        while len(self.left) < length:
            self._more()
        body, self.left = self.left[:length], self.left[length:]
        return int(re.match(r"HTTP/1\.1 (\d{3}) ", status).group(1)), headers, body

    def is_closed(self):
        """Waits until the other side closes; False if bytes arrive instead."""
        try:
            return not self.left and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise EOFError(f"closed after {self.left!r}")
        self.left += piece


def request(method, path, body=b"", *headers):
    """The bytes of a request, as kube-scheduler's client writes them."""
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1:8888",
        "User-Agent: Go-http-client/1.1",
        f"Content-Length: {len(body)}",
        "Content-Type: application/json",
        "Accept-Encoding: gzip",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
