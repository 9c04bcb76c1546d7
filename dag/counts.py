"""Counts how far a step over a list has come."""

from pydantic import BaseModel, ConfigDict

from dag.fan import failed_so_far
from dag.state import FanState, StepStatus


class ItemCounts(BaseModel):
    """How far a step has come that runs once for each element of a list."""

    model_config = ConfigDict(frozen=True)

    total: int
    completed: int
    failed: int
    running: int
    cancelled: int = 0
    """Stopped while they ran: by the run's end, or because too many others failed."""
    cached: int = 0
    """Completed ones whose output is that of earlier equal work."""
    skipped: int = 0
    """By a person, who had the others tried again."""


def counts_of(fan: FanState) -> ItemCounts:
    """Return how far a list has come, its chunks as far as they have told."""
    completed = sum(item.status is StepStatus.COMPLETED for item in fan.items)
    completed += sum(chunk.completed for chunk in fan.chunks.values())
    return ItemCounts(
        total=len(fan.items),
        completed=completed,
        failed=failed_so_far(fan),
        running=fan.width if fan.window else fan.running,
        cancelled=sum(item.status is StepStatus.CANCELLED for item in fan.items),
        cached=sum(item.cached for item in fan.items),
        skipped=sum(item.status is StepStatus.SKIPPED for item in fan.items),
    )
