"""Handler `save_parquet`: write an extracted invoice to the lake as Parquet, for queries over many documents."""

from collections.abc import Sequence

from docrail.activities.handlers.save_json import Config, Output, save
from docrail.handlers import Handler, StepCall
from docrail.services.tools import Tools


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Write the file; every attempt writes the same bytes under the same name.

    Raises: NotStored, ValueError (never retried); OSError, such as a full disk (retried).
    """
    return (await run_all([call], tools))[0]


async def run_all(calls: Sequence[StepCall[Config]], tools: Tools) -> list[Output]:
    """Write the files. Raises: as `run`."""
    return await save("parquet", calls, tools)


HANDLER = Handler("save_parquet", Config, Output, run, is_light=True, run_all=run_all)
