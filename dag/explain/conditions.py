"""Explain conditions and the cases of switches: the result of each, and the values that it read."""

import json
from collections.abc import Iterator

from docrail.dag.engine.plan import Step
from docrail.dag.engine.scope import RunScope
from docrail.dag.engine.state import StepState
from docrail.dag.explain.facts import ReadPart, TestPart, Verdict
from docrail.dag.explain.holds import MOST_NAMED
from docrail.dag.language.expressions.expression import Expression, read_path, values_of
from docrail.dag.language.statuses import SkipReason
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import Json
from docrail.dag.values.stored import part_of

MOST_CHARACTERS = 200
"""Characters of a value that are shown."""


def explain_condition(scope: RunScope, step: Step, rule: Verdict) -> TestPart | None:
    """Explain a step's condition; `rule` is the result of its trigger rule. None: it has no condition."""
    if step.condition is None:
        return None
    state, verdict = scope.run.steps[step.index], Verdict.YES
    unread = state.started_at is None and (
        state.decided_by == "operator" or (state.error is not None and state.error.type == "ConditionError")
    )
    if rule is not Verdict.YES:
        verdict = Verdict.NOT_ASKED
    elif state.reason is SkipReason.CONDITION_FALSE:
        verdict = Verdict.NO
    elif unread:
        verdict = Verdict.ERROR
    return _test(scope, step.condition, None, verdict)


def _test(scope: RunScope, condition: Expression | None, branch: str | None, verdict: Verdict) -> TestPart:
    if condition is None:
        return TestPart(expression=None, branch=branch, verdict=verdict)
    asked = verdict is not Verdict.NOT_ASKED
    reads = tuple(_reads(scope, condition)) if asked else ()
    return TestPart(expression=condition.text, branch=branch, verdict=verdict, reads=reads)


def _reads(scope: RunScope, condition: Expression) -> Iterator[ReadPart]:
    for path in condition.references[:MOST_NAMED]:
        scope.charge(1 + len(scope.run.transfers.loaded))  # all of which are searched
        try:
            value = brief(read_path(path, scope.loaded(values_of([path], scope), [path], alone=False)))
        except ExpressionError:
            yield ReadPart(path=".".join(path), value=None)
        else:
            yield ReadPart(path=".".join(path), value=value)


def explain_cases(scope: RunScope, step: Step) -> Iterator[TestPart]:
    """Yield a switch's cases: those before the taken one were false, those after it were not evaluated."""
    state = scope.run.steps[step.index]
    taken = _taken(scope, step)
    for place, (condition, branch) in enumerate(step.cases[:MOST_NAMED]):
        if taken is None or place > taken:
            verdict = Verdict.NOT_ASKED
        elif place < taken:
            verdict = Verdict.NO
        else:
            verdict = Verdict.YES if state.branch is not None else Verdict.ERROR
        yield _test(scope, condition, branch, verdict)


def _taken(scope: RunScope, step: Step) -> int | None:
    """Return the index of the case that was taken, or that could not be evaluated; None if none was evaluated.

    If all cases were false, it is the number of cases.
    """
    state = scope.run.steps[step.index]
    if step.kind is not StepKind.SWITCH:
        return None
    if state.branch is None:
        if state.started_at is None or state.error is None or state.error.type != "TemplateError":
            return None
        return next((place for place, case in enumerate(step.cases) if _blames(state, case[0])), len(step.cases))
    places = [place for place, (_, branch) in enumerate(step.cases) if branch == state.branch]
    return next((place for place in places[:-1] if _holds(step.cases[place][0], scope)), places[-1])


def _holds(condition: Expression | None, scope: RunScope) -> bool:
    """Return whether a case is known to be true. After a retry the stored parts it read are not available."""
    try:
        return condition is None or condition.evaluate(scope) is True
    except ExpressionError:
        return False


def _blames(state: StepState, condition: Expression | None) -> bool:
    return state.error is not None and condition is not None and state.error.message.startswith(f"`{condition.text}`")


def brief(value: Json) -> str:
    """Return the beginning of `value` as JSON. The cost depends on the result, not on the size of the value."""
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > MOST_CHARACTERS:
            return text[: MOST_CHARACTERS - 1] + "…"
    return text


def _pieces(value: Json) -> Iterator[str]:
    """Yield the value's JSON in short pieces, with long texts shortened."""
    if part := part_of(value):
        yield f"a stored value of {part.size} bytes"
    elif isinstance(value, dict):
        yield "{"
        for place, (key, inner) in enumerate(value.items()):
            yield (", " if place else "") + _text(key) + ": "
            yield from _pieces(inner)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for place, inner in enumerate(value):
            yield ", " if place else ""
            yield from _pieces(inner)
        yield "]"
    else:
        yield _text(value) if isinstance(value, str) else json.dumps(value)


def _text(value: str) -> str:
    return json.dumps(value[:MOST_CHARACTERS], ensure_ascii=False)
