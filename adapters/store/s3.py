"""Implement the folder interface for S3 and compatible services, using obstore."""

import contextlib
import io
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import S3Store

from docrail.adapters.store.folders import FileChanged, FileInfo, StoreUnavailable, Tagged, checked_path

REQUEST_SECONDS = 60
"""Timeout of a request: the largest stored value has 64 MiB."""
RETRY_SECONDS = 20
"""How long refused and lost requests are retried; after that, Temporal's retries apply."""

PUTS_AT_ONCE = 8
"""Requests that `write_all` makes at the same time."""

WITHOUT_KEYS = ("Missing AccessKeyId", "Missing SecretAccessKey", "/latest/api/token")
"""Texts in the client's errors that indicate missing keys. The last is where a machine at Amazon requests the keys of
its role."""
NO_KEYS = (
    "its keys are missing or incomplete: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, with temporary keys "
    "AWS_SESSION_TOKEN too; only a machine at Amazon with a role needs none"
)

NO_BUCKET = "NoSuchBucket"
"""Error code of S3 for a missing bucket, also when a file is read or written; it then says nothing about the file."""

READ_AHEAD_BYTES = 2**16
"""Parquet readers request many small adjacent parts."""


class S3Unavailable(StoreUnavailable):
    """S3 is unavailable, or refused the request. An OSError, like that of a disk: a retry may help."""

    def __init__(self, what: str, bucket: str, error: Exception) -> None:
        text = str(error).partition("\n")[0]  # the rest are the client's internal structures
        reason = NO_KEYS if any(sign in text for sign in WITHOUT_KEYS) else text
        if reason is text and NO_BUCKET in str(error):
            reason = f"it does not exist ({NO_BUCKET}): create it, or correct DOCRAIL_STORE"
        super().__init__(f"cannot {what} in the S3 bucket {bucket!r}: {reason}")


def open_s3(bucket: str, prefix: str = "", *, endpoint: str | None = None) -> "S3Folder":
    """Return the files of a bucket whose keys begin with `prefix/`. Makes no request yet.

    The keys, the region and, without `endpoint`, the address come from the usual AWS_* variables.
    Raises: S3Unavailable.
    """
    try:
        store = S3Store(
            bucket,
            config={"endpoint": endpoint, "virtual_hosted_style_request": False} if endpoint else None,
            client_options={"allow_http": True, "timeout": timedelta(seconds=REQUEST_SECONDS)},
            retry_config={"max_retries": 5, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
        )
    except BaseError as error:  # it reads the variables at this point
        raise S3Unavailable("keep files", bucket, error) from None
    return S3Folder(bucket, f"{prefix}/" if prefix else "", store)


@dataclass(frozen=True, slots=True)
class S3Folder:
    """The objects of `bucket` under `prefix`. Objects appear atomically, so there are no leftovers."""

    bucket: str
    prefix: str
    store: S3Store = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    def read(self, path: str) -> bytes:
        """Return the object's bytes. Raises: FileNotFoundError, S3Unavailable."""
        with self._request("read", path) as key:
            return bytes(obstore.get(self.store, key).bytes())

    def read_tagged(self, path: str) -> Tagged | None:
        """Return the object's bytes with its ETag."""
        try:
            with self._request("read", path) as key:
                found = obstore.get(self.store, key)
                return Tagged(bytes(found.bytes()), found.meta["e_tag"] or "")
        except FileNotFoundError:
            return None

    def open(self, path: str) -> io.BufferedReader:
        """Open the object: each read requests a range of it."""
        info = self.stat(path)
        if info is None:
            raise FileNotFoundError(f"no {self.prefix}{path} in the S3 bucket {self.bucket!r}")
        return io.BufferedReader(_Ranges(self, path, info.size), READ_AHEAD_BYTES)

    def read_range(self, path: str, start: int, size: int) -> bytes:
        """Return `size` bytes of the object from `start`. Raises: FileNotFoundError, S3Unavailable."""
        with self._request("read", path) as key:
            return bytes(obstore.get_range(self.store, key, start=start, length=size))

    def write(self, path: str, data: bytes, *, durable: bool = True) -> None:  # noqa: ARG002  # S3 always is
        """Put the object."""
        with self._request("write", path) as key:
            obstore.put(self.store, key, data, use_multipart=False)

    def write_all(self, files: Mapping[str, bytes]) -> None:
        """Put the objects, some at the same time."""
        with ThreadPoolExecutor(PUTS_AT_ONCE) as threads:
            list(threads.map(self.write, files, files.values()))  # raises the first error

    def create(self, path: str, data: bytes) -> bool:
        """Put the object with If-None-Match."""
        with self._request("write", path) as key:
            try:
                obstore.put(self.store, key, data, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
            return True

    def swap(self, path: str, data: bytes, tag: str | None) -> None:
        """Put the object with If-Match."""
        if tag is None:
            if not self.create(path, data):
                raise FileChanged(path)
            return
        with self._request("write", path) as key:
            try:
                obstore.put(self.store, key, data, mode={"e_tag": tag}, use_multipart=False)
            except (PreconditionError, FileNotFoundError) as error:
                if NO_BUCKET in str(error):
                    raise S3Unavailable(f"write {key}", self.bucket, error) from None
                raise FileChanged(path) from None

    def stat(self, path: str) -> FileInfo | None:
        """Return the object's metadata; None if there is no such object."""
        try:
            with self._request("look for", path) as key:
                found = obstore.head(self.store, key)
        except FileNotFoundError:
            return None
        return FileInfo(path, found["size"], found["last_modified"])

    def files(self, under: str = "") -> Iterator[FileInfo]:
        """Yield all objects below `under`, a thousand per request."""
        start = len(self.prefix)
        with self._request("list", under) as key:
            for batch in obstore.list(self.store, key.rstrip("/") or None):
                for found in batch:
                    yield FileInfo(found["path"][start:], found["size"], found["last_modified"])

    def folders(self, under: str = "") -> list[str]:
        """Return the names followed by a `/` in `under`, sorted."""
        with self._request("list", under) as key:
            found = obstore.list_with_delimiter(self.store, key.rstrip("/") or None)
        return sorted(path.rpartition("/")[2] for path in found["common_prefixes"])

    def delete(self, path: str) -> None:
        """Delete the object."""
        with contextlib.suppress(FileNotFoundError), self._request("delete", path) as key:
            obstore.delete(self.store, key)

    def sub(self, name: str) -> "S3Folder":
        """Return the folder `name` in this one."""
        return S3Folder(self.bucket, f"{self.prefix}{checked_path(name)}/", self.store)

    def local_path(self, path: str) -> Path | None:  # noqa: ARG002  # no object does
        """Return None: it is not on this machine."""
        return None

    def free_bytes(self) -> None:
        """Return None: a bucket has no limit."""

    def remove_leftovers(self) -> int:
        """Return 0: an incomplete upload leaves no object."""
        return 0

    @contextlib.contextmanager
    def _request(self, verb: str, path: str) -> Iterator[str]:
        """Yield the object's key; translate errors into messages without keys and requests."""
        try:
            yield f"{self.prefix}{checked_path(path)}"
        except FileNotFoundError as error:
            if NO_BUCKET in str(error):
                raise S3Unavailable(f"{verb} {self.prefix}{path}", self.bucket, error) from None
            raise FileNotFoundError(f"no {self.prefix}{path} in the S3 bucket {self.bucket!r}") from None
        except BaseError as error:
            raise S3Unavailable(f"{verb} {self.prefix}{path}", self.bucket, error) from None


class _Ranges(io.RawIOBase):
    """An object as a seekable file."""

    def __init__(self, folder: S3Folder, path: str, size: int) -> None:
        self._folder = folder
        self._path = path
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # the type `Buffer` is younger than 3.11
        view = memoryview(buffer).cast("B")
        size = max(0, min(len(view), self._size - self._place))
        if size:
            view[:size] = self._folder.read_range(self._path, self._place, size)
        self._place += size
        return size
