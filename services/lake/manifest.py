"""The manifest of a tenant's compacted files: the parts that readers take, and replaced ones that are still kept.

It is replaced as a whole, by compare-and-swap: a reader sees the state before or the state after.
"""

import datetime as dt
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.folders import Folder

PATH = "compacted/manifest.json"
"""In the tenant's folder, as all paths here."""


class ManifestDamaged(StorageError, ValueError):  # noqa: N818  # a statement about the manifest
    """A tenant's manifest is none of ours. A ValueError: reading it again does not help."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"{PATH} is no manifest that Docrail wrote ({found}): put back the last good one from your backup, for "
            "only it tells which compacted files count"
        )


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(_Model):
    """A compacted file: each document in it once. `issue_month` is YYYY-MM, or `unknown` without a date."""

    path: str
    issue_month: str
    rows: int
    size_bytes: int
    schema_version: int


class Retired(_Model):
    """A part that others replaced. Queries that began before may still read it."""

    path: str
    retired_at: dt.datetime


class Manifest(_Model):
    """A tenant's compacted rows. Without a manifest, nothing was compacted."""

    parts: tuple[Part, ...] = ()
    retired: tuple[Retired, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """A manifest as it was read; `tag` is what a swap compares, None where there was none."""

    manifest: Manifest
    tag: str | None


def read_manifest(tenant: Folder) -> Read:
    """Return the tenant's manifest. Blocking. Raises: ManifestDamaged, OSError."""
    found = tenant.read_tagged(PATH)
    if found is None:
        return Read(Manifest(), None)
    try:
        return Read(Manifest.model_validate_json(found.data), found.tag)
    except ValidationError as error:
        raise ManifestDamaged(error.errors()[0]["msg"]) from None


def swap_manifest(tenant: Folder, manifest: Manifest, replaced: Read) -> None:
    """Put `manifest` in the place of the one that was read. Blocking. Raises: FileChanged, OSError."""
    tenant.swap(PATH, manifest.model_dump_json(indent=1).encode(), replaced.tag)
