"""A TCP proxy that can be cut, between our service and kube-apiserver: network faults of connections.

Knows only bytes and connections; TLS hides the contents. One thread with its own event loop.
"""

import asyncio
import threading

HOST = "127.0.0.1"
PIECE = 65536


class Connection:
    """Both ends of one connection. Data from the server reaches the client `delay_s` later."""

    def __init__(self):
        self.delay_s = 0
        self.undelayed = asyncio.Event()
        self.writers = []

    def close(self):
        for writer in self.writers:
            writer.transport.abort()


class Proxy:
    """A context manager: listens on a free `port` and forwards everything to `target` until cut."""

    def __init__(self, target):
        self.target = target
        self.connections = set()
        self.is_cut = False
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.n_held = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.server = self.port = None

    def __enter__(self):
        self.thread.start()
        self.server = self._call(asyncio.start_server(self._serve, HOST, 0))
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_):
        self._call(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def _end(self):
        self.server.close()
        await self._set_cut(True)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    # ---- for tests ----

    def cut(self):
        """Resets all connections, and new ones, until mend()."""
        self._call(self._set_cut(True))

    def mend(self):
        self._call(self._set_cut(False))

    def delay(self, seconds):
        """Delays the server's data on all open connections from now on; later connections are not delayed."""
        self._call(self._set_delay(seconds))

    def no_delay(self):
        """Delivers delayed data now."""
        self._call(self._set_delay(0))

    async def _set_cut(self, is_cut):
        self.is_cut = is_cut
        if is_cut:
            for connection in list(self.connections):
                connection.close()

    async def _set_delay(self, seconds):
        for connection in self.connections:
            connection.delay_s = seconds
            (connection.undelayed.clear if seconds else connection.undelayed.set)()

    def hold(self):
        """New connections get no data until let_go(), as if the server were slow to accept them."""
        self.loop.call_soon_threadsafe(self.is_open.clear)

    def let_go(self):
        self.loop.call_soon_threadsafe(self.is_open.set)

    # ---- forwarding ----

    async def _serve(self, client_reader, client_writer):
        connection = Connection()
        connection.writers.append(client_writer)
        if self.is_cut:
            connection.close()
            return
        self.connections.add(connection)
        try:
            await self._be_held()
            server_reader, server_writer = await asyncio.open_connection(HOST, self.target)
            connection.writers.append(server_writer)
            sides = [self._carry(client_reader, server_writer), self._carry_late(server_reader, client_writer, connection)]
            tasks = [asyncio.ensure_future(side) for side in sides]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        except OSError:
            pass  # the server is away, and so is the client's connection
        finally:
            connection.close()
            self.connections.discard(connection)

    async def _be_held(self):
        self.n_held += 1
        try:
            await self.is_open.wait()
        finally:
            self.n_held -= 1

    async def _carry(self, reader, writer):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()

    async def _carry_late(self, reader, writer, connection):
        pieces = asyncio.Queue()

        async def read():
            while piece := await reader.read(PIECE):
                pieces.put_nowait((self.loop.time() + connection.delay_s, piece))
            pieces.put_nowait((0, b""))

        reading = asyncio.ensure_future(read())
        try:
            while True:
                due, piece = await pieces.get()
                if not piece:
                    return
                await self._wait_until(due, connection)
                writer.write(piece)
                await writer.drain()
        finally:
            reading.cancel()

    async def _wait_until(self, due, connection):
        left = due - self.loop.time()
        if left <= 0 or not connection.delay_s:
            return
        try:
            await asyncio.wait_for(connection.undelayed.wait(), left)
        except asyncio.TimeoutError:
            pass
