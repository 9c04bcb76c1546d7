"""Whether two versions of a step do the same work, so that what one has done need not be done again by the other."""

from dag.definition import Step
from dag.values import Json, canonical

_MANNER = {
    *("title", "cache", "compensate", "optional"),
    *("max_retries", "retry_config", "timeout_seconds", "total_timeout_seconds", "heartbeat_seconds"),
    *("resource_tag", "priority"),
}
"""How a step is told of, tried, bounded and undone: none of it changes what a finished one has done. All else may."""

_MANNER_OF_ITEMS = {"max_concurrency", "on_item_error", "max_failures"}
_MANNER_OF_ASKING = {"queue", "priority", "timeout_seconds"}
"""Not who may decide, and how many must agree: a decision of before may be none now."""


def works_alike(old: Step, new: Step) -> bool:
    """Tell whether two versions of a step do the same to the same values."""
    return canonical(_work(old)) == canonical(_work(new))


def _work(step: Step) -> Json:
    parts: dict[str, Json] = {"for_each": _MANNER_OF_ITEMS, "human": _MANNER_OF_ASKING, "wait": {"timeout_seconds"}}
    present = {name: manner for name, manner in parts.items() if getattr(step, name) is not None}
    return step.model_dump(mode="json", exclude={**dict.fromkeys(_MANNER, True), **present})
