"""Handler `save_json`: write an extracted invoice to the lake as JSON, with exact values."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall
from docrail.services.lake.files import SavedFormat
from docrail.services.lake.reference import InvoiceRef, load_versions
from docrail.services.tools import Tools


class Config(BaseModel, extra="forbid", frozen=True):
    """The invoice."""

    invoice: InvoiceRef = Field(description="the `invoice_ref` of `extract_invoice` or `ask_gemini`")


class Output(BaseModel):
    """The written file."""

    path: str = Field(description="relative to the lake's root")
    sha256: str = Field(description="of the file's bytes, hex")
    size_bytes: int = Field(description="of the file")


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Write the file; every attempt writes the same bytes under the same name.

    Raises: NotStored, ValueError (never retried); OSError, such as a full disk (retried).
    """
    return (await run_all([call], tools))[0]


async def run_all(calls: Sequence[StepCall[Config]], tools: Tools) -> list[Output]:
    """Write the files. Raises: as `run`."""
    return await save("json", calls, tools)


async def save(kind: SavedFormat, calls: Sequence[StepCall[Config]], tools: Tools) -> list[Output]:
    """Write the invoices of calls of one tenant. Raises: as `run`."""
    tenant_id = calls[0].tenant_id
    states = await load_versions(tools, tenant_id, [call.config.invoice for call in calls], user=kind)
    files = await tools.lake.write_all(tenant_id, kind, states)
    return [Output(path=file.path, sha256=file.sha256, size_bytes=file.size) for file in files]


HANDLER = Handler("save_json", Config, Output, run, is_light=True, run_all=run_all)
