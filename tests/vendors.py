"""What is known of a vendor, as tests look it up."""

from collections.abc import Sequence

from docrail.adapters.postgres.pool import Database
from docrail.invoices.assessment.vendor_memory import VendorMemory
from docrail.services.documents.repository.vendors import FIND_VENDORS


async def load_vendor(db: Database, tenant_id: str, keys: Sequence[str]) -> VendorMemory | None:
    """Return what is known of the vendor that `keys` lead to, the first of them if there are several."""
    rows = await db.fetch(FIND_VENDORS, tenant_id, list(keys))
    return VendorMemory.model_validate_json(rows[0]["memory"]) if rows else None
