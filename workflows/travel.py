"""Whether what starts a workflow can travel to the server."""

from collections.abc import Mapping

from pydantic import BaseModel
from temporalio.exceptions import ApplicationError

from dag.values import Json, size_of

MAX_PAYLOAD_BYTES = 2_000_000
"""Temporal takes 2 MiB. Above it, it fails the workflow's task again and again, and the run would stand still."""

KEPT = "states kept of an earlier attempt"


def check_travels(argument: BaseModel, what: str, parts: Mapping[str, Json]) -> None:
    """Check that `what` can be started with `argument`; `parts` is what may be large in it, by name.

    Raises: ApplicationError (TooLarge).
    """
    if (size := len(argument.model_dump_json())) > MAX_PAYLOAD_BYTES:
        largest = ", ".join(f"{name}: {size_of(part)}" for name, part in parts.items())
        message = (
            f"what {what} is started with takes {size} bytes as JSON together, more than {MAX_PAYLOAD_BYTES} "
            f"({largest}): make the largest of them smaller, or pass references"
        )
        raise ApplicationError(message, type="TooLarge", non_retryable=True)
