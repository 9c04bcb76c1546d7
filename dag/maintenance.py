"""What the workflow that looks after the files asks of its activities, and what they answer."""

from pydantic import BaseModel, ConfigDict


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class Compacted(_Model):
    """What a compaction did: small files merged, parts written, their rows and bytes."""

    files: int = 0
    parts: int = 0
    rows: int = 0
    size_bytes: int = 0

    def __add__(self, other: "Compacted") -> "Compacted":
        """Return what both did."""
        return Compacted(
            files=self.files + other.files,
            parts=self.parts + other.parts,
            rows=self.rows + other.rows,
            size_bytes=self.size_bytes + other.size_bytes,
        )


class LookedAfter(_Model):
    """What was done to one tenant's lake."""

    compacted: Compacted = Compacted()
    removed: int = 0
    """Files that nobody needs any more."""


class MaintenanceReport(_Model):
    """What a whole round did; it is also what a round hands on to its continuation."""

    tenants: int = 0
    compacted: Compacted = Compacted()
    removed_files: int = 0
    removed_values: int = 0
    removed_originals: int = 0
    failed: tuple[str, ...] = ()
    """What could not be done in this round: the next one tries it again."""


class MaintenanceRequest(_Model):
    """Where a round begins: at once, or where the history of an earlier one became too long."""

    after_tenant: str | None = None
    so_far: MaintenanceReport = MaintenanceReport()
