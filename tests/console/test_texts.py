"""The console has a text, in each language, for every code with which the server says something to people."""

import ast
import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from deploy.node import CONSOLE
from docrail.api.errors import KINDS, OF_SERVER
from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.checks import FLAG_WARNINGS
from docrail.invoices.kinds import Expected
from docrail.invoices.typed import Grounds
from docrail.services.actions import RefusalCode
from docrail.services.history.models import Happened
from docrail.services.inbox.models import DocumentStatus

ROOT = Path(__file__).parents[2]
LANGUAGES = sorted(path.stem for path in (CONSOLE / "src" / "texts").glob("*.json"))
MAKERS = {"InvoiceProblem", "InvoiceProblem.error", "InvoiceProblem.warning", "NotReadError"}


def texts(language: str, *path: str) -> set[str]:
    """Return the names of a section's texts."""
    found: Json = json.loads((CONSOLE / "src" / "texts" / f"{language}.json").read_text("utf-8"))
    for name in path:
        found = found[name]
    return set(found)


def reasons() -> set[str]:
    """Return the codes of problems and reasons that the code of the readers, rules and services makes."""
    files = [path for room in ("invoices", "services") for path in (ROOT / room).rglob("*.py")]
    return {code for path in files for code in _made(ast.parse(path.read_text("utf-8")))}.union(FLAG_WARNINGS)


def _made(module: ast.Module) -> Iterator[str]:
    constants = dict(_constants(module))
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in MAKERS and node.args:
            match node.args[0]:
                case ast.Constant(value=str(code)):
                    yield code
                case ast.Name(id=name) if name in constants:
                    yield constants[name]


def _constants(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(value))):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for one, given in zip(names, values, strict=True):
                    if isinstance(one, ast.Name) and isinstance(given, ast.Constant):
                        yield one.id, str(given.value)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_for_a_review_has_a_text(language: str) -> None:
    assert {"totals_disagree", "gemini_budget", "payment_code_broken", "iban_changed"} <= reasons()
    assert reasons() - texts(language, "review", "problem") == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_problem_of_the_api_has_a_title(language: str) -> None:
    assert {kind.name for kind in (*KINDS.values(), *OF_SERVER)} - texts(language, "problems") == set()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("kinds", "section"),
    [
        (Happened, ("documents", "events")),
        (DocumentStatus, ("inbox", "statuses")),
        (RunStatus, ("runs", "status")),
        (StepStatus, ("runs", "status")),
        (RefusalCode, ("runs", "refused")),
        (Expected, ("review", "refused")),
        (Grounds, ("review", "grounds")),
    ],
)
def test_every_state_event_and_refusal_has_a_text(
    language: str, kinds: type[StrEnum], section: tuple[str, ...]
) -> None:
    assert {kind.value for kind in kinds} - texts(language, *section) == set()
