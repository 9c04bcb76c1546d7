"""Read the metrics of Temporal's SDK, which its core serves on a port of its own, for a worker's page."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from temporalio.runtime import PrometheusConfig

LONGEST_SECONDS = 2.0
"""The core answers in milliseconds, or it is frozen with the worker."""


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True)
class SdkMetrics:
    """The metrics of one Temporal runtime, under Temporal's own names: `temporal_...`, durations in seconds.

    The core does not say which port it was given: it gets one that is free.
    """

    port: int = field(default_factory=_free_port)

    @property
    def config(self) -> PrometheusConfig:
        """Return the metrics' part of the runtime's configuration."""
        return PrometheusConfig(
            f"127.0.0.1:{self.port}", counters_total_suffix=True, unit_suffix=True, durations_as_seconds=True
        )

    async def load(self) -> Sequence[Metric]:
        """Return the metrics as they are now; none if the core does not answer."""
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=LONGEST_SECONDS) as http:
                answer = await http.get(f"http://127.0.0.1:{self.port}/metrics")
        except httpx.HTTPError:
            return ()
        return [*text_string_to_metric_families(answer.text)]
