"""Keep the files of exports, in a folder for each tenant. A file is named by its content and never changes."""

import asyncio
import hashlib
from pathlib import Path

from docrail.adapters.store.checked import CheckedFile, FileDamaged, open_checked
from docrail.adapters.store.folders import Folder, as_folder
from docrail.adapters.store.values import folder_of
from docrail.services.errors import Unavailable
from docrail.services.exports.models import StoredFile

STORE = "the store of exports"


class ExportFiles:
    """The files in the folder `place`, as `{tenant}/{export}/{sha256}{suffix}`."""

    def __init__(self, place: Path | Folder) -> None:
        self.folder = as_folder(place)

    async def write(self, tenant_id: str, export_id: str, suffix: str, data: bytes) -> StoredFile:
        """Store an export's file, durable on return. Raises: OSError."""
        sha256 = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        path = f"{export_id}/{sha256}{suffix}"
        await asyncio.to_thread(self._of(tenant_id).write, path, data)
        return StoredFile(path, sha256, len(data))

    async def read(self, tenant_id: str, path: str, sha256: str) -> bytes:
        """Return the tenant's file. Raises: Unavailable (it is missing or was changed), OSError."""
        return b"".join([piece async for piece in (await self.open(tenant_id, path, sha256)).pieces()])

    async def open(self, tenant_id: str, path: str, sha256: str) -> CheckedFile:
        """Open the tenant's file, to send it. Raises: as `read`."""
        return await asyncio.to_thread(self._open, tenant_id, path, sha256)

    async def keep_only(self, tenant_id: str, export_id: str, path: str | None) -> None:
        """Delete the export's other files: those of attempts that did not end. Raises: OSError."""
        await asyncio.to_thread(self._keep_only, tenant_id, export_id, path)

    def _of(self, tenant_id: str) -> Folder:
        return self.folder.sub(folder_of(tenant_id))

    def _open(self, tenant_id: str, path: str, sha256: str) -> CheckedFile:
        try:
            return open_checked(self._of(tenant_id), path, sha256)
        except FileNotFoundError:
            raise Unavailable(STORE, f"it has no {path}") from None
        except FileDamaged:
            raise Unavailable(STORE, f"{path} is not as it was written") from None

    def _keep_only(self, tenant_id: str, export_id: str, path: str | None) -> None:
        folder = self._of(tenant_id)
        for found in list(folder.files(export_id)):
            if found.path != path:
                folder.delete(found.path)
