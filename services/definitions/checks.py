"""Perform the costly checks of definitions, routing rules and inputs: small ones in a thread, others in a process.

A thread shares the interpreter with the event loop and cannot be stopped, so it gets only what takes milliseconds. A
process has limits of memory and time, and is killed when they are reached or when the caller leaves.
"""

import asyncio
import json
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from docrail.adapters.sandbox.forking import Program
from docrail.dag.engine.plan import compile_plan
from docrail.dag.explain.graph import graph_of
from docrail.dag.language import picture
from docrail.dag.language.definition import Definition, to_json
from docrail.dag.language.inputs import InputProblem, InvalidValueError, check_some_inputs, complete_inputs
from docrail.dag.language.source.source import Source, read_source
from docrail.dag.validation.lint.nested import NestedRef, Unpublished, nested_refs
from docrail.dag.validation.routing import Fault, references_of, validate_routing
from docrail.dag.validation.rules.handlers import Catalogue
from docrail.dag.validation.validate import check_definition, validate
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Places, Problem
from docrail.services.definitions.models import DefinitionBody, TrialResult
from docrail.services.definitions.run_tests import results_of
from docrail.services.errors import FailedTest, InvalidInput
from docrail.services.limited_processes import LimitedProcesses

THREAD_BYTES = 16 * 2**10
"""Checks of at most this many bytes run in a thread."""
NICENESS = 10
"""Of the processes: on a busy machine they get a tenth of what the event loop gets, which all requests share."""
CLASS_BYTES, REPEAT_BYTES, TIME_BYTES = 100, 1000, 20
"""What a class of characters, a counted repetition and each of its times count as: compiling a pattern expands them."""
_CLASS = re.compile(r"\\[pPwWdDsS]")
_REPEAT = re.compile(r"\{ ?(\d{1,6}) ?(?:, ?(\d{1,6}))? ?\}")
Order = dict[str, Json]


class Checker(Protocol):
    """The resources for a check."""

    @property
    def catalogue(self) -> Catalogue:
        """Return the handlers that a definition may name."""

    @property
    def resource_limits(self) -> Mapping[str, float]:
        """Return the rate limit of each resource tag, in uses per second."""

    @property
    def step_defaults(self) -> Mapping[str, Json]:
        """Return the installation's defaults of steps."""

    @property
    def processes(self) -> LimitedProcesses | None:
        """Return the processes; None: everything runs in threads, as in commands, which have one caller."""


@dataclass(frozen=True, slots=True)
class CheckedDefinition:
    """A definition in its normal form, None if it has errors; all problems; and the definitions that its steps run."""

    body: dict[str, Json] | None
    problems: list[Problem]
    nested: frozenset[NestedRef]
    plan: dict[str, Json]
    """Layers, critical path and flowchart, if they were wanted."""
    graph: dict[str, Json] | None
    """Its drawing, if it was wanted and there are no errors."""


@dataclass(frozen=True, slots=True)
class CheckedRules:
    """Routing rules in their normal form, None if they have errors; all problems; and the definitions they name."""

    rules: list[dict[str, Json]] | None
    problems: list[Problem]
    references: list[str]


async def check_body(
    app: Checker,
    body: DefinitionBody,
    unpublished: Unpublished,
    *,
    is_planned: bool = False,
    drawn_open: Sequence[str] | None = None,
) -> CheckedDefinition:
    """Check a definition, and show its plan or draw it with the groups `drawn_open` if that is wanted.

    Raises: TooCostly, Busy, Unavailable.
    """
    missing = {"refs": list(unpublished.refs), "known": list(unpublished.known)}
    opened = None if drawn_open is None else list(drawn_open)
    wanted = {"is_planned": is_planned, "drawn_open": opened}
    fallbacks = dict(app.step_defaults)
    order = {"body": body, "tags": list(app.resource_limits), "fallbacks": fallbacks, "unpublished": missing, **wanted}
    found = await _perform(app, "definition", order)
    nested = frozenset((id_, version) for id_, version in found["nested"])
    return CheckedDefinition(found["body"], _problems(found), nested, found["plan"], found["graph"])


async def run_tests(app: Checker, body: DefinitionBody) -> list[TrialResult]:
    """Run the tests of a valid definition. Raises: TooCostly, Busy, Unavailable."""
    found = await _perform(app, "tests", {"body": body, "fallbacks": dict(app.step_defaults)})
    return [TrialResult(**each | {"problems": _mismatches(each)}) for each in found["tests"]]


def _mismatches(result: Json) -> tuple[FailedTest, ...]:
    return tuple(FailedTest(**each) for each in result["problems"])


async def check_routing(app: Checker, body: DefinitionBody, faults: Mapping[str, Fault]) -> CheckedRules:
    """Check routing rules; `faults` are those of the definitions they name. Raises: as `check_body`."""
    order = {"body": body, "faults": {reference: asdict(fault) for reference, fault in faults.items()}}
    found = await _perform(app, "routing", order)
    return CheckedRules(found["rules"], _problems(found), found["references"])


async def check_inputs(app: Checker, body: dict[str, Json], given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the complete inputs of a run of a definition in its normal form. Raises: InvalidInput, as `check_body`."""
    found = await _perform(app, "inputs", {"body": body, "given": dict(given)})
    if found["problems"]:
        raise InvalidInput([InputProblem(**each) for each in found["problems"]])
    return dict(found["inputs"])


async def check_some(app: Checker, body: dict[str, Json], given: Mapping[str, Json]) -> None:
    """Check some of the inputs of a run; the required ones may come later. Raises: as `check_inputs`."""
    found = await _perform(app, "some inputs", {"body": body, "given": dict(given)})
    if found["problems"]:
        raise InvalidInput([InputProblem(**each) for each in found["problems"]])


async def _perform(app: Checker, task: str, order: Order) -> Json:
    text = json.dumps(order)
    is_small = task != "tests" and len(text) <= THREAD_BYTES and cost_of(text) <= THREAD_BYTES
    if app.processes is None or is_small:
        return await asyncio.to_thread(TASKS[task], order, app.catalogue)
    return await app.processes.perform(task, text)


def cost_of(text: str) -> int:
    """Return the length of a text, regular expressions expanded: one of 20 characters may take 0.1 s to compile."""
    times = sum(int(each[2] or each[1]) * TIME_BYTES + REPEAT_BYTES for each in _REPEAT.finditer(text))
    return len(text) + times + CLASS_BYTES * len(_CLASS.findall(text))


def _problems(found: Json) -> list[Problem]:
    return [Problem(**each) for each in found["problems"]]


def _definition(order: Order, catalogue: Catalogue) -> Json:
    missing = order["unpublished"]
    unpublished = Unpublished({(id_, version) for id_, version in missing["refs"]}, missing["known"])
    definition, problems = _checked(order["body"], catalogue, order["tags"], unpublished, order["fallbacks"])
    return {
        "body": None if definition is None else to_json(definition),
        "problems": [asdict(problem) for problem in problems],
        "nested": [] if definition is None else [*nested_refs(definition)],
        "plan": _plan(definition) if definition and order["is_planned"] else {},
        "graph": _graph(definition, order["drawn_open"]) if definition and order["drawn_open"] is not None else None,
    }


def _checked(
    body: DefinitionBody,
    catalogue: Catalogue,
    tags: Sequence[str] | None,
    unpublished: Unpublished,
    fallbacks: Mapping[str, Json],
) -> tuple[Definition | None, list[Problem]]:
    if isinstance(body, str):
        return check_definition(body, catalogue, tags, unpublished, fallbacks=fallbacks)
    return validate(body, None, catalogue, tags, unpublished, fallbacks=fallbacks)


def _tests(order: Order, catalogue: Catalogue) -> Json:
    definition, _ = _checked(order["body"], catalogue, None, Unpublished(), order["fallbacks"])
    assert definition is not None, "the definition is valid"
    return {"tests": [asdict(each) for each in results_of(definition, catalogue)]}


def _plan(definition: Definition) -> Json:
    return {
        "layers": [list(layer) for layer in picture.layers(definition)],
        "critical_path": list(picture.critical_path(definition)),
        "mermaid": picture.mermaid(definition),
    }


def _graph(definition: Definition, opened: Sequence[str]) -> Json:
    return graph_of(compile_plan(definition), opened).model_dump(mode="json")


def _routing(order: Order, _: Catalogue) -> Json:
    body = order["body"]
    source = read_source(body) if isinstance(body, str) else Source(body, Places(), (), complete=True)
    if not source.complete:
        return {"rules": None, "problems": [asdict(each) for each in source.problems], "references": []}
    faults = {reference: Fault(**fault) for reference, fault in order["faults"].items()}
    routing, problems = validate_routing(source.value, source.places, faults)
    valid = None if source.problems else routing
    return {
        "rules": valid and [rule.model_dump(mode="json", exclude_none=True) for rule in valid.rules],
        "problems": [asdict(each) for each in (*source.problems, *problems)],
        "references": references_of(source.value),
    }


def _inputs(order: Order, _: Catalogue) -> Json:
    try:
        complete = complete_inputs(Definition.model_validate(order["body"]), order["given"])
    except InvalidValueError as error:
        return {"inputs": {}, "problems": [asdict(each) for each in error.problems]}
    return {"inputs": complete, "problems": []}


def _some_inputs(order: Order, _: Catalogue) -> Json:
    try:
        check_some_inputs(Definition.model_validate(order["body"]), order["given"])
    except InvalidValueError as error:
        return {"problems": [asdict(each) for each in error.problems]}
    return {"problems": []}


TASKS: Mapping[str, Callable[[Order, Catalogue], Json]] = {
    "definition": _definition,
    "tests": _tests,
    "routing": _routing,
    "inputs": _inputs,
    "some inputs": _some_inputs,
}


def child_program(load_catalogue: Callable[[], Catalogue]) -> Program:
    """Return the program of the limited processes, which load the handlers once."""
    loaded: list[Catalogue] = []

    def answer(request: bytes) -> bytes:
        task, _, order = request.partition(b"\n")
        try:
            return json.dumps(TASKS[task.decode()](json.loads(order), loaded[0])).encode()
        except Exception as error:
            if isinstance(error, MemoryError):
                raise
            return json.dumps({"bug": traceback.format_exc()}).encode()

    return Program(lambda: loaded.append(load_catalogue()), answer, niceness=NICENESS)
