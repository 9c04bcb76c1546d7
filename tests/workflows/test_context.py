"""The context of a run has exactly the names that the validator lets expressions read."""

from docrail.dag.engine.plan import SEMANTICS
from docrail.dag.validation.document.outline import CONTEXT
from docrail.workflows.contract.names import RunRequest
from docrail.workflows.driver_context import context_of


def test_the_validator_knows_what_a_run_knows_of_itself() -> None:
    request = RunRequest(
        tenant_id="t",
        run_id="x.1",
        definition={"id": "x", "steps": []},
        version=1,
        digest="d",
        inputs={},
        semantics=SEMANTICS,
    )
    context = context_of(request, {})
    assert set(context) == set(CONTEXT)
    for word in ("run", "workflow"):
        assert tuple(context[word]) == CONTEXT[word]
