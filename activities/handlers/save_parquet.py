"""Handler `save_parquet`: write an extracted invoice to the lake as Parquet, for queries over many documents."""

from docrail.activities.handlers.save_json import Config, Output
from docrail.handlers import Handler, StepCall
from docrail.services.lake.reference import load_version
from docrail.services.tools import Tools


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Write the file; every attempt writes the same bytes under the same name.

    Raises: NotStored, ValueError (never retried); OSError, such as a full disk (retried).
    """
    invoice, version = await load_version(tools, call.tenant_id, call.config.invoice)
    file = await tools.lake.write_parquet(call.tenant_id, invoice, version)
    return Output(path=file.path, sha256=file.sha256, size_bytes=file.size)


HANDLER = Handler("save_parquet", Config, Output, run, is_light=True)
