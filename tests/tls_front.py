"""A TLS front before a server that speaks none: what a Temporal with certificates is to its clients."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from trustme import CA

SERVER_NAME = "temporal.test"
CHUNK_BYTES = 2**16


@dataclass(frozen=True, slots=True)
class TlsFront:
    """Where the front listens, and the variables of Temporal's own configuration by which it is reached."""

    address: str
    variables: dict[str, str]


@asynccontextmanager
async def tls_front(address: str, folder: Path) -> AsyncIterator[TlsFront]:
    """Pass on to `address` what clients say that bring a certificate of a new authority; its files go to `folder`."""
    authority = CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])
    authority.configure_trust(context)
    authority.issue_cert(SERVER_NAME).configure_cert(context)
    authority.cert_pem.write_to_path(folder / "ca.pem")
    client = authority.issue_cert("docrail.test")
    client.private_key_pem.write_to_path(folder / "key.pem")
    client.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    host, port = address.split(":")
    connections: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        task.add_done_callback(connections.discard)
        with suppress(ConnectionError):
            behind_reader, behind_writer = await asyncio.open_connection(host, int(port))
            await asyncio.gather(_pass_on(reader, behind_writer), _pass_on(behind_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    listening = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    files = {"SERVER_CA_CERT": "ca.pem", "CLIENT_CERT": "cert.pem", "CLIENT_KEY": "key.pem"}
    paths = {f"TEMPORAL_TLS_{name}_PATH": str(folder / file) for name, file in files.items()}
    yield TlsFront(listening, {"TEMPORAL_ADDRESS": listening, "TEMPORAL_TLS_SERVER_NAME": SERVER_NAME, **paths})
    server.close()
    for task in connections:
        task.cancel()
    await asyncio.gather(*connections, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
    finally:
        writer.close()
