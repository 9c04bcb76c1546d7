"""Who may not decide what a human step asks, beyond what keys allow: whoever started the run, where a step says so."""

from dag.kinds import Human


def barred(human: Human, started_by: str) -> tuple[str, ...]:
    """Return the names of those whose decision the step does not take, as far as they are known."""
    return (started_by,) if _bars_submitter(human) and started_by else ()


def refusal(human: Human, by: str, started_by: str) -> str | None:
    """Return why the step does not take a decision from `by`, None if it does. Who is not known is not taken either."""
    if not _bars_submitter(human):
        return None
    if not started_by:
        return "who started the run is not known, and the step does not take that person's decision: start a new run"
    if not by:
        return "who decides is not known, and the step does not take the decision of whoever started the run"
    if by == started_by:
        return f"{by} started the run, and the step takes only somebody else's decision"
    return None


def _bars_submitter(human: Human) -> bool:
    return human.assignees is not None and human.assignees.not_the_submitter
