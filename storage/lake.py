"""Keeps each document's extraction as one Parquet and one JSON file, by names and bytes that a retry repeats."""

import asyncio
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from invoices.model import InvoiceData
from storage.files import write_atomic

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
"""What a tenant or document id may be as part of a path: no separator, no hidden file, no way up."""


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A file of the lake; `path` is relative to its root, `size` in bytes."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Lake:
    """The files under the folder `root`: `{tenant}/parquet/{document}.parquet` and `{tenant}/json/{document}.json`."""

    root: Path

    async def write_parquet(self, tenant_id: str, invoice: InvoiceData) -> LakeFile:
        """Write the invoice as Parquet (see storage/parquet.py), durable when this returns.

        Raises: ValueError (an id that is no file name, an amount that does not fit), OSError (disk full).
        """
        return await asyncio.to_thread(self._write_parquet, tenant_id, invoice)

    async def write_json(self, tenant_id: str, invoice: InvoiceData) -> LakeFile:
        """Write the invoice as JSON, every value exact, durable when this returns. Raises: ValueError, OSError."""
        return await asyncio.to_thread(self._write_json, tenant_id, invoice)

    def _write_parquet(self, tenant_id: str, invoice: InvoiceData) -> LakeFile:
        from storage.parquet import encode  # noqa: PLC0415  # pyarrow: only workers that save need its memory

        return self._write(f"{_folder(tenant_id)}/parquet/{_file(invoice)}.parquet", encode(tenant_id, invoice))

    def _write_json(self, tenant_id: str, invoice: InvoiceData) -> LakeFile:
        text = invoice.model_dump_json(indent=2) + "\n"
        return self._write(f"{_folder(tenant_id)}/json/{_file(invoice)}.json", text.encode())

    def _write(self, path: str, data: bytes) -> LakeFile:
        write_atomic(self.root / path, data)
        return LakeFile(path, hashlib.sha256(data).hexdigest(), len(data))


def _folder(tenant_id: str) -> str:
    return _checked("tenant id", tenant_id)


def _file(invoice: InvoiceData) -> str:
    return _checked("document id", invoice.document_id)


def _checked(what: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name!r} cannot name a file: expected letters, digits and _ . : - (at most 128)")
    return name
