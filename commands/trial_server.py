"""The Temporal that `docrail test` starts for itself: it skips time, and knows nothing but the tests."""

import asyncio
import logging
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RPCError

from commands.catalogue import all_handlers
from commands.speaking import complain
from dag.definition import Definition
from dag.simulation import simulate
from dag.verdict import Difference, Verdict, assess
from embedded.temporal import start_temporal
from operations.errors import Unavailable
from operations.trial_server import DYNAMIC_CONFIG, OffScriptError, TrialServer, trial_server


async def run_on_server(
    definition: Definition, places: Sequence[int], told: Callable[[Verdict], None]
) -> list[Verdict]:
    """Return a verdict for each test at `places`; `told` hears each as it comes.

    The server and its folder are gone in the end, however it comes.

    Raises: NotStartedError, MissingTemporalError; Unavailable if the server dies.
    """
    logging.getLogger("temporalio").addHandler(logging.NullHandler())  # what a test makes fail is no news
    with tempfile.TemporaryDirectory(prefix="docrail-test-") as folder:
        temporal = await start_temporal(Path(folder), 0, 0, report=complain, dynamic_config=DYNAMIC_CONFIG)
        try:
            client = await Client.connect(
                temporal.address, data_converter=pydantic_data_converter, runtime=_quiet_runtime()
            )
            async with trial_server(client, all_handlers()) as server:
                return [await _played(server, definition, place, told) for place in places]
        except RPCError as error:
            raise Unavailable("the Temporal of the tests", error.message) from error
        finally:
            await temporal.process.kill()


async def _played(server: TrialServer, definition: Definition, place: int, told: Callable[[Verdict], None]) -> Verdict:
    trial = definition.tests[place]
    simulation = await asyncio.to_thread(simulate, definition, trial, all_handlers())
    try:
        verdict = assess(trial, place, await server.play(definition, trial, simulation))
    except OffScriptError as error:
        verdict = Verdict(place, trial.name, (Difference("", str(error)),))
    told(verdict)
    return verdict


def _quiet_runtime() -> Runtime:
    """Return a runtime that tells nothing of the runs that a test ends in the middle."""
    quiet = TelemetryFilter(core_level="ERROR", other_level="ERROR")
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(filter=quiet)))
