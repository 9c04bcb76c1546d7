"""A real HTTP server on loopback that gives prepared answers and records its requests."""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from docrail.dag.values.json_values import Json


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `holds`: nothing is sent at all; `missing_bytes`: the connection closes so much too early."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    holds: bool = False
    missing_bytes: int = 0

    def encoded(self) -> bytes:
        headers = {"Content-Length": str(len(self.body) + self.missing_bytes), "Connection": "close", **self.headers}
        lines = [f"HTTP/1.1 {self.status} Reason", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


def reply_json(value: Json, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **named})


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came in. Header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    at: float = 0
    """When, on the monotonic clock."""

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query)

    def json(self) -> Json:
        return json.loads(self.body)


@dataclass
class Loopback:
    """The server. The last of its replies is given again and again."""

    replies: list[Reply]
    url: str = ""
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.asked.append(await _request(reader))
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
            if reply.holds:
                await self.stopping.wait()
            else:
                writer.write(reply.encoded())
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # who asked has gone: that is what some tests are about
        finally:
            writer.close()


@asynccontextmanager
async def loopback(
    *replies: Reply, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Loopback]:
    """Serve the replies in turn on a free port."""
    served = Loopback(list(replies or (Reply(),)))
    server = await asyncio.start_server(served.serve, host, 0, ssl=tls)
    served.port = server.sockets[0].getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    served.url = f"{'https' if tls else 'http'}://{shown}:{served.port}"
    try:
        yield served
    finally:
        served.stopping.set()
        server.close()
        await server.wait_closed()


async def _request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, target, headers, body, time.monotonic())
