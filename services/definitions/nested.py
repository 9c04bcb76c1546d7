"""Pin the versions of a run's nested runs, at any depth, when the outer run starts; they never change afterwards."""

from docrail.dag.language.definition import Definition
from docrail.dag.language.inputs import InputProblem
from docrail.services.access.models import Principal
from docrail.services.app import App
from docrail.services.definitions.models import StoredDefinition
from docrail.services.definitions.service import resolve
from docrail.services.errors import InvalidInput, NotFound
from docrail.workflows.contract.names import Pinned, nested_key

MAX_DEPTH = 10
"""Maximum nesting depth: deeper runs are too hard to follow."""

MAX_DEFINITIONS = 50
"""Maximum number of nested definitions: they are sent together in the outer run's first message."""


async def pin_nested(app: App, principal: Principal, stored: StoredDefinition, *, key: str) -> dict[str, Pinned]:
    """Return the definitions that runs of `stored` start as nested runs, by `nested_key`.

    Raises: NotFound for one that was never published; InvalidInput if a definition would run inside itself.
    """
    pinned: dict[str, Pinned] = {}
    way: tuple[str, ...] = (stored.definition_id,)
    pending = [(way, Definition.model_validate(stored.body))]
    while pending:
        way, definition = pending.pop()
        for step_id, nested in ((step.id, step.workflow) for step in definition.steps if step.workflow):
            if nested.id in way:
                raise InvalidInput([_problem(f"would run inside itself: {' → '.join((*way, nested.id))}")])
            if len(way) > MAX_DEPTH or len(pinned) >= MAX_DEFINITIONS:
                limits = f"at most {MAX_DEPTH} deep and {MAX_DEFINITIONS} definitions"
                raise InvalidInput([_problem(f"starts too many runs within runs: {limits}")])
            try:
                inner = await resolve(app, principal, nested.id, nested.version, key=key)
            except NotFound as error:
                raise NotFound(error.kind, error.wanted, asked_by=f"step {step_id!r} of {way[-1]!r} runs it") from error
            pinned[nested_key(nested)] = Pinned(definition=inner.body, version=inner.version, digest=inner.digest)
            pending.append(((*way, nested.id), Definition.model_validate(inner.body)))
    return pinned


def _problem(message: str) -> InputProblem:
    return InputProblem("definition", message)
