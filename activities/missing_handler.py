"""Activity for steps whose handler this worker lacks: it leaves them to another worker."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from temporalio import activity
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

NO_HANDLER = "NoHandlerError"
"""Error type of an attempt on a worker without the step's handler. It is retried."""


def missing_handler_activity(broken: Mapping[str, str]) -> Callable[[Sequence[RawValue]], Coroutine[Any, Any, None]]:
    """Return the activity; `broken` maps the names of unusable handlers to their errors."""

    @activity.defn(dynamic=True)
    async def missing_handler(_: Sequence[RawValue]) -> None:
        info = activity.info()
        reason = broken.get(info.activity_type, "set DOCRAIL_HANDLERS on every worker")
        raise ApplicationError(
            f"this worker has no handler {info.activity_type!r}: {reason}", {"attempt": info.attempt}, type=NO_HANDLER
        )

    return missing_handler
