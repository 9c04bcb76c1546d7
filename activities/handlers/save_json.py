"""Handler `save_json`: write an extracted invoice to the lake as JSON, with exact values."""

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall
from docrail.services.lake.reference import InvoiceRef, load_version
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
    invoice, version = await load_version(tools, call.tenant_id, call.config.invoice)
    file = await tools.lake.write_json(call.tenant_id, invoice, version)
    return Output(path=file.path, sha256=file.sha256, size_bytes=file.size)


HANDLER = Handler("save_json", Config, Output, run, is_light=True)
