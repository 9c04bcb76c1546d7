"""How a failed step, and what retrying many has come to, is printed."""

from collections.abc import Iterator

from commands.asking import print_json
from commands.unmatched import tell_unmatched
from dag.values import Json


def print_letter(letter: dict[str, Json], *, as_json: bool) -> None:
    """Print all that is known of a failed step."""
    if as_json:
        print_json(letter)
    else:
        print("\n".join(_lines(letter)))


def _lines(letter: dict[str, Json]) -> Iterator[str]:
    handler = f" ({letter['handler']})" if letter["handler"] else ""
    yield f"{letter['run_id']} {letter['step_id']}{handler}: {state_of(letter)}"
    yield f"{letter['error_type']}: {letter['error_message']}"
    passing = "it may pass by itself" if letter["retryable"] else "it comes again if nothing changes"
    yield f"failed {moment(letter['failed_at'])} after {letter['attempts']} attempts; {passing}"
    yield f"definition {letter['definition_id']} version {letter['version']}"
    if letter["document_id"]:
        yield f"document {letter['document_id']}"
    for action in letter["actions"]:
        why = f": {action['details']['reason']}" if action["details"].get("reason") else ""
        yield f"{moment(action['acted_at'])} {action['action']} by {action['acted_by']}{why}"


def print_retried(told: dict[str, Json], *, as_json: bool) -> None:
    """Print what became of each step that was to be retried."""
    tell_unmatched(told, "failed step")
    if as_json:
        print_json(told)
    else:
        print("\n".join(_outcome_lines(told)))


def _outcome_lines(told: dict[str, Json]) -> Iterator[str]:
    for outcome in told["outcomes"]:
        what = "retried" if outcome["retried"] else f"not retried: {outcome['why']}"
        yield f"{outcome['run_id']} {outcome['step_id']}: {what}"
    retried = sum(outcome["retried"] for outcome in told["outcomes"])
    yield f"{retried} retried, {told['left']} open that match"


def state_of(letter: dict[str, Json]) -> str:
    """Return how a failed step stands: its status, or what became of it and by whom."""
    if letter["resolution"] is None:
        return str(letter["status"])
    by = f" by {letter['resolved_by']}" if letter["resolved_by"] else ""
    return f"{letter['resolution']}{by}"


def moment(text: str) -> str:
    """Return a moment of the API's to the second."""
    return f"{text[:19]}Z"
