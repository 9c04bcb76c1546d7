"""Read and replace a tenant's manifest: the compacted parts that readers use, and replaced ones that are still kept.

It is replaced as a whole, by compare-and-swap: a reader sees the state before or the state after.
"""

import datetime as dt
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from docrail.adapters.postgres.pool import StorageError
from docrail.adapters.store.folders import Folder

PATH = "compacted/manifest.json"
"""Relative to the tenant's folder, as all paths here."""


class ManifestDamaged(StorageError, ValueError):  # noqa: N818  # a statement about the manifest
    """The tenant's manifest was not written by Docrail. A ValueError, because reading it again does not help."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"{PATH} is not a manifest that Docrail wrote ({found}): restore the last good one from a backup: "
            "it lists the compacted files in use"
        )


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(_Model):
    """A compacted file; it contains each document once. `issue_month` is YYYY-MM, or `unknown` without a date."""

    path: str
    issue_month: str
    rows: int
    size_bytes: int
    schema_version: int


class Retired(_Model):
    """A part that has been replaced. Queries that started earlier may still read it."""

    path: str
    retired_at: dt.datetime


class Manifest(_Model):
    """A tenant's compacted files. Without a manifest, nothing is compacted yet."""

    parts: tuple[Part, ...] = ()
    retired: tuple[Retired, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """A manifest with the `tag` that a swap compares; None if there was no manifest."""

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
    """Replace the manifest that was read with `manifest`. Blocking. Raises: FileChanged, OSError."""
    tenant.swap(PATH, manifest.model_dump_json(indent=1).encode(), replaced.tag)
