"""Open the folder that a setting names: on a disk, or in S3."""

from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from docrail.adapters.store.folders import Folder, LocalFolder


def open_store(location: str | None, data_dir: Path, *, endpoint: str | None = None) -> Folder:
    """Return the folder for `s3://bucket/prefix` or `file:///folder`; without a location, `data_dir`.

    Makes no request yet. Raises: ValueError; OSError if S3's keys are incomplete.
    """
    if location is None:
        return LocalFolder(data_dir)
    parts = urlsplit(checked_location(location))
    if parts.scheme == "file":
        return LocalFolder(Path(url2pathname(parts.path)))
    from docrail.adapters.store.s3 import open_s3  # noqa: PLC0415  # most processes keep their files on a disk

    return open_s3(parts.netloc, unquote(parts.path).strip("/"), endpoint=endpoint)


def checked_location(location: str) -> str:
    """Return `location` if it is valid. Raises: ValueError, which does not repeat it: it may contain a key."""
    parts = urlsplit(location)
    on_disk = parts.scheme == "file" and not parts.netloc and parts.path.startswith("/")
    in_s3 = parts.scheme == "s3" and parts.netloc and "@" not in parts.netloc
    if not (on_disk or in_s3) or parts.query or parts.fragment:
        raise ValueError("expected s3://bucket/prefix or file:///folder, and no keys in it: AWS_* variables have them")
    return location
