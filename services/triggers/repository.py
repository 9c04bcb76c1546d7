"""Remember the files of watched folders whose documents are stored, so that unchanged ones are not read again."""

from collections.abc import Collection

from docrail.adapters.postgres.pool import Database

LOAD_WATCHED = "SELECT file, stamp FROM watched_files WHERE tenant_id = $1 AND folder = $2"

SAVE_WATCHED = """
INSERT INTO watched_files (tenant_id, folder, file, stamp) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant_id, folder, file) DO UPDATE SET stamp = excluded.stamp"""

FORGET_WATCHED = """
DELETE FROM watched_files WHERE tenant_id = $1 AND folder = $2 AND file = ANY ($3::bytea[])"""

FORGET_FOLDER = "DELETE FROM watched_files WHERE tenant_id = $1 AND folder = $2"


async def load_watched(db: Database, tenant_id: str, folder: str) -> dict[bytes, str]:
    """Return the stamp of each file of the folder, by the digest of its place, as it was when it was last read."""
    return {row["file"]: row["stamp"] for row in await db.fetch(LOAD_WATCHED, tenant_id, folder)}


async def save_watched(db: Database, tenant_id: str, folder: str, file: bytes, stamp: str) -> None:
    """Remember that the document of a file with this stamp is stored."""
    await db.execute(SAVE_WATCHED, tenant_id, folder, file, stamp)


async def forget_watched(db: Database, tenant_id: str, folder: str, files: Collection[bytes]) -> None:
    """Forget files that the folder has no more."""
    await db.execute(FORGET_WATCHED, tenant_id, folder, [*files])


async def forget_folder(db: Database, tenant_id: str, folder: str) -> None:
    """Forget all files of a folder: they are read once more if it is watched again."""
    await db.execute(FORGET_FOLDER, tenant_id, folder)
