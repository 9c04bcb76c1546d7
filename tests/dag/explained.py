"""Explain a run in one call, facts and words, as a worker and a service do together."""

from docrail.dag.engine.plan import Plan
from docrail.dag.engine.state import RunState
from docrail.dag.explain.explain import facts_of_run
from docrail.dag.explain.facts import RunExplanation
from docrail.dag.explain.words import in_words


def explain_run(
    plan: Plan, run: RunState, run_id: str, *, step_id: str | None = None, after: str | None = None, limit: int = 100
) -> RunExplanation:
    """Return the explanation of one step, or of a page of steps, with its words."""
    return in_words(facts_of_run(plan, run, run_id, step_id=step_id, after=after, limit=limit))
