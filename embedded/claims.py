"""Reserve what a stack needs exclusively before it starts anything: its data folder, its keys and its ports."""

import base64
import errno
import fcntl
import json
import os
import random
import secrets
import socket
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from docrail.adapters.store.files import open_private
from docrail.embedded.processes import ProcessError

HOST = "127.0.0.1"
WEBHOOK_SECRET = Path("secrets", "default", "webhooks")
"""In the data folder: where a worker looks for it without another folder of secrets configured."""
LOCAL_KEY = "api-key.json"
"""In the data folder: the key with which this machine's user calls the API."""
FORMAT_FILE, FORMAT = "format", "2\n"
"""In the data folder: the format of its servers' data. Any other format is refused."""
FREE_PORTS = range(20000, 32000)
"""Range searched for free ports: below Linux's ephemeral range (32768 and up), in which a client that reconnects to a
killed server's port can get that very port as its own, connect to itself and keep the server from restarting."""


class PortError(ProcessError):
    """A port cannot be used; the message names the option that chooses another."""


class DataFolderError(ProcessError):
    """The data folder, or a folder in it, cannot be used."""


class FolderInUse(DataFolderError):  # noqa: N818  # a statement about the folder
    """Another process of Docrail holds the data folder."""


@contextmanager
def hold(data_dir: Path) -> Iterator[None]:
    """Create the data folder and lock it against other stacks.

    Raises: DataFolderError; a folder of an earlier build is left unchanged.
    """
    if _has_other_format(data_dir):
        raise DataFolderError(
            f"{data_dir} was made by an earlier build of Docrail, whose data this one does not read. Nothing in it was "
            "changed: move it, or choose another folder with --data"
        )
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        data_dir.chmod(0o700)
        lock = open_private(data_dir / "lock", "a+")
    except OSError as error:
        raise _unusable(data_dir, error.strerror or str(error)) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released when this process ends, however it ends
        except BlockingIOError:
            lock.seek(0)
            raise FolderInUse(
                f"{data_dir} is in use by another docrail (pid {lock.read().strip() or 'unknown'}): stop that one, or "
                "choose another folder with --data"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        write_whole(data_dir / FORMAT_FILE, FORMAT)
        yield


def _unusable(data_dir: Path, reason: str) -> DataFolderError:
    return DataFolderError(
        f"{data_dir} cannot be the folder of the data: {reason}; expected a folder that this user may write to: choose "
        "another with --data"
    )


def _has_other_format(data_dir: Path) -> bool:
    """Return whether the folder contains data of servers in a format other than this build's."""
    marker = data_dir / FORMAT_FILE
    if marker.exists():
        return marker.read_text("utf-8") != FORMAT
    return any((data_dir / server).exists() for server in ("postgres", "temporal"))


def keep_key(data_dir: Path) -> str:
    """Return the folder's own key for callback URLs, created at the first start: URLs survive a restart."""
    path = data_dir / "callback.key"
    if not path.exists():
        write_whole(path, secrets.token_hex(32))
    return path.read_text("utf-8").strip()


@dataclass(frozen=True, slots=True)
class LocalKey:
    """The API key of `docrail up --require-keys`, and the address of the API that it is for."""

    api_url: str
    key: str = field(repr=False)

    @property
    def key_id(self) -> str | None:
        """Return the public part of the key; None if there is none."""
        return self.key.split("_")[1] if self.key.count("_") > 1 else None


def read_local_key(data_dir: Path) -> LocalKey:
    """Return the data folder's key; an empty one if there is none, or if its file is not readable."""
    try:
        return LocalKey(**json.loads((data_dir / LOCAL_KEY).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return LocalKey("", "")


def write_local_key(data_dir: Path, key: LocalKey) -> None:
    """Write the data folder's key, for its user only."""
    write_whole(data_dir / LOCAL_KEY, json.dumps(asdict(key)))


def make_webhook_secret(data_dir: Path) -> Path | None:
    """Create the secret that signs the default tenant's webhooks; None if it, or an empty file in its place, exists.

    It has the format of Standard Webhooks, which receivers' libraries accept. Raises: DataFolderError.
    """
    path = data_dir / WEBHOOK_SECRET
    if path.exists():
        return None
    try:
        path.parent.parent.mkdir(mode=0o700, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(path, f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}\n")
    except OSError as error:
        raise _unusable(data_dir, f"{path.parent}: {error.strerror or error}") from error
    return path


def write_whole(path: Path, text: str) -> None:
    """Write a file that only this user may read; after a crash it exists completely or not at all."""
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    new.replace(path)


def claim_ports(wanted: Mapping[str, tuple[int, str]]) -> dict[str, int]:
    """Return each option's port: the requested one on its host, or a free one if it is 0, all different.

    Raises: PortError.
    """
    asked: dict[int, list[str]] = {}
    for option, (port, _) in wanted.items():
        asked.setdefault(port, []).append(option)
    for port, options in asked.items():
        if port and len(options) > 1:
            raise PortError(f"{' and '.join(options)} ask for the same port, {port}: give each a port of its own")
    claimed: dict[str, int] = {}
    for option, (port, host) in wanted.items():
        claimed[option] = claim_port(port, option, host, others={*asked, *claimed.values()})
    return claimed


def claim_port(port: int, option: str, host: str = HOST, *, others: Collection[int] = ()) -> int:
    """Return `port` if it is available, or a free one, none of `others`, if it is 0.

    Raises: PortError, naming `option`.
    """
    if port:
        match _refusal(port, host):
            case None:
                return port
            case error if error.errno == errno.EADDRINUSE:
                raise PortError(
                    f"port {port} is taken by another program: stop that program, or choose another port with {option} "
                    f"({option} 0 takes a free one)"
                )
            case error:
                reason = error.strerror or str(error)
                raise PortError(
                    f"cannot listen on {host}:{port}: {reason}: choose another port with {option}, or another host"
                )
    candidates = random.sample(FREE_PORTS, len(FREE_PORTS))
    return next(candidate for candidate in candidates if candidate not in others and not _refusal(candidate, host))


def _refusal(port: int, host: str) -> OSError | None:
    """Return why the port cannot be used; None if it can."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        # As servers do: otherwise a port counts as taken for a minute after its last connection closed.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
        return None
