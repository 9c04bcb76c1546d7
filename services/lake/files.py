"""Store each document's extraction as one Parquet and one JSON file; a retry writes the same names and bytes."""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from docrail.adapters.store.folders import Folder, as_folder, local_root
from docrail.invoices.model import InvoiceData
from docrail.services.lake.models import LakeFile, LakeVersion, Saved

SNAPSHOTS = "metrics"
"""The folder of the store with what the metrics showed each hour, next to the lake's."""

FIELDS = "fields"
"""The folder of a tenant with the documents of other kinds than invoices."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
"""Tenant and document ids allowed in a path: no separator, no hidden file, no parent folder."""

_FILE_NAME = re.compile(r"(?P<document>.+?)\.v(?P<version>[1-9][0-9]{0,8})\.(?:parquet|json)")


SavedState = tuple[InvoiceData, LakeVersion]
"""A document as it is saved, and its version."""

SavedFormat = Literal["parquet", "json"]


class Lake:
    """The lake's files in the folder `place`.

    This module writes `{tenant}/parquet/{document}.v{n}.parquet` and `{tenant}/json/{document}.v{n}.json`, and of other
    kinds of documents `{tenant}/fields/{kind}/`;
    services/lake/compaction.py writes `{tenant}/compacted/`.
    """

    def __init__(self, place: Path | Folder) -> None:
        self.folder = as_folder(place)

    @property
    def root(self) -> Path:
        """Return the lake's folder on this machine. Raises: ValueError if it is elsewhere."""
        return local_root(self.folder)

    async def write_parquet(self, tenant_id: str, invoice: InvoiceData, version: LakeVersion) -> LakeFile:
        """Write the invoice as Parquet (see services/lake/parquet.py), durable on return. Raises: as `write_all`."""
        return (await self.write_all(tenant_id, "parquet", [(invoice, version)]))[0]

    async def write_json(self, tenant_id: str, invoice: InvoiceData, version: LakeVersion) -> LakeFile:
        """Write the invoice as JSON with exact values, durable on return. Raises: as `write_all`."""
        return (await self.write_all(tenant_id, "json", [(invoice, version)]))[0]

    async def write_all(self, tenant_id: str, kind: SavedFormat, states: Sequence[SavedState]) -> list[LakeFile]:
        """Write each invoice, durable on return.

        Raises: ValueError (an id that cannot be a file name, an amount that does not fit), OSError (disk full, S3
        unavailable); then some may be written.
        """
        return await asyncio.to_thread(self._write, tenant_id, kind, states)

    async def write_fields(self, tenant_id: str, record: Mapping[str, Any]) -> tuple[LakeFile, LakeFile]:
        """Write a document of any kind as `{tenant}/fields/{kind}/{document}.json` and `.parquet`, durable on return.

        `record`: as `checked_record` in invoices/by_schema/checked.py makes it. Raises: ValueError, OSError.
        """
        return await asyncio.to_thread(self._write_fields, tenant_id, record)

    def tenants(self) -> list[str]:
        """Return the tenants with files here, sorted. Blocking: call it in a thread."""
        return [name for name in self.folder.folders() if _NAME.fullmatch(name)]

    def of(self, tenant_id: str) -> Folder:
        """Return the tenant's folder. Raises: ValueError for an id that cannot be a file name."""
        return self.folder.sub(_checked("tenant id", tenant_id))

    def _write_fields(self, tenant_id: str, record: Mapping[str, Any]) -> tuple[LakeFile, LakeFile]:
        from docrail.services.lake.fields import encode  # noqa: PLC0415  # pyarrow: see _write

        kind, document_id = _checked("kind", record["kind"]), _checked("document id", record["document_id"])
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
        name = f"{FIELDS}/{kind}/{document_id}"
        files = {f"{name}.json": text.encode(), f"{name}.parquet": encode(tenant_id, record)}
        as_json, as_parquet = self._put(tenant_id, files)
        return as_json, as_parquet

    def _write(self, tenant_id: str, kind: SavedFormat, states: Sequence[SavedState]) -> list[LakeFile]:
        if kind == "parquet":
            from docrail.services.lake.parquet import encode  # noqa: PLC0415  # pyarrow: only workers that save need its memory

            written = [encode(tenant_id, *state) for state in states]
        else:
            written = [(invoice.model_dump_json(indent=2) + "\n").encode() for invoice, _ in states]
        names = [
            f"{kind}/{_checked('document id', invoice.document_id)}.v{version.number}.{kind}"
            for invoice, version in states
        ]
        return self._put(tenant_id, dict(zip(names, written, strict=True)))

    def _put(self, tenant_id: str, files: Mapping[str, bytes]) -> list[LakeFile]:
        self.of(tenant_id).write_all(files)
        return [
            LakeFile(f"{tenant_id}/{path}", hashlib.sha256(data).hexdigest(), len(data)) for path, data in files.items()
        ]


def saved_in(tenant: Folder, kind: str) -> list[Saved]:
    """Return the tenant's files of one kind, `parquet` or `json`, sorted by document and version. Blocking."""
    found = ((info.path, _FILE_NAME.fullmatch(info.path.rpartition("/")[2])) for info in tenant.files(kind))
    return sorted(Saved(name["document"], int(name["version"]), path) for path, name in found if name)


def _checked(what: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name!r} cannot name a file: expected letters, digits and _ . : - (at most 128)")
    return name
