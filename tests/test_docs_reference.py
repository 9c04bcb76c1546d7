"""The reference says what the code does: generated pages are up to date, the language's page is checked by parts."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from docrail.activities.internal.values import MAX_LOADED_BYTES
from docrail.adapters.store.values import MAX_STORED_BYTES
from docrail.dag.engine import map_items as fan
from docrail.dag.engine.dispatch import MAX_CARRIED_BYTES
from docrail.dag.engine.eligibility import RULES, Outcomes
from docrail.dag.engine.map_items import MAX_KEY_CHARACTERS, MAX_LIST_BYTES
from docrail.dag.explain.report import MAX_INNER_BYTES, MAX_REPORT_BYTES
from docrail.dag.language.definition import (
    DEFAULTABLE,
    RESERVED_WORDS,
    STEP_ALIASES,
    Definition,
    Input,
    Limits,
    RetryConfig,
    RunPriority,
    Step,
    TriggerRule,
)
from docrail.dag.language.expressions.environment import FILTERS, TESTS
from docrail.dag.language.expressions.expression import MAX_LENGTH, Scope, compile_expression
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import MAX_ITEMS, Cache, ForEach, StepKind
from docrail.dag.validation.rules.budget import MAX_BYTES, MAX_STEPS
from docrail.dag.values.cost import MAX_WORK
from docrail.dag.values.json_values import LONGEST_MESSAGE, MAX_INTEGER, MAX_VALUE_BYTES, Json
from docrail.dag.values.schema_formats import FORMATS
from docrail.dag.values.stored import MAX_INLINE_BYTES
from docrail.services.runs.saved import MAX_STATE_BYTES
from docs.generate import PAGES, REFERENCE, page

LANGUAGE = REFERENCE / "definitions.md"
MEASURED = "extraction.md"
"""Written by `make bench-extraction`, whose numbers no test can repeat; tests/invoices/test_extraction_scores.py."""
TEXT = LANGUAGE.read_text("utf-8")
OUTCOMES = {"completed": Outcomes(1, 0, 0), "failed": Outcomes(0, 1, 0), "skipped": Outcomes(0, 0, 1)}


def section(heading: str) -> str:
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def table(heading: str) -> list[list[str]]:
    """Return the cells of a section's one table, its headings first."""
    rows = re.findall(r"^\| (.*) \|$", section(heading), re.MULTILINE)
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)] for row in rows]
    return [cells[0], *cells[2:]]


def words_after(label: str) -> list[str]:
    """Return the words in the code span after a label; a span may continue on the next line."""
    found = re.search(rf"^- {label}: `([^`]+)`", TEXT, re.MULTILINE)
    assert found is not None
    return found[1].split()


def documented_defaults(heading: str) -> dict[str, str]:
    return {name: row[-1] for row in table(heading)[1:] for name in re.findall(r"`([^`]+)`", row[0])}


def defaults_of(model: type[BaseModel], prefix: str = "") -> dict[str, str]:
    return {f"{prefix}{name}": shown_default(field) for name, field in model.model_fields.items()}


def shown_default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, BaseModel):
        return "see there"
    if value == "":
        return "empty"
    if value is None or value in ((), {}):
        return "none"
    return f"`{json.dumps(value) if isinstance(value, bool) else f'{value:g}' if isinstance(value, float) else value}`"


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert Path(REFERENCE / name).read_text("utf-8") == page(name), (
        "write it anew with: .venv/bin/python -m docs.generate"
    )


def test_every_page_of_the_reference_is_generated_or_checked_here() -> None:
    assert {file.name for file in REFERENCE.glob("*")} == {*PAGES, LANGUAGE.name, MEASURED}


def test_the_fields_of_a_definition_are_documented_with_their_defaults() -> None:
    fields = {
        **defaults_of(Definition),
        **defaults_of(Limits, "limits."),
        **defaults_of(RunPriority, "priority."),
        "defaults": "none",
    }
    whole = {"limits", "priority"}  # documented field by field
    expected = {name: default for name, default in fields.items() if name not in whole}
    assert documented_defaults("Fields of a definition") == expected | {
        "priority.key": "`3`",
        "priority.fairness_key": "the tenant",
    }


def test_the_fields_of_a_step_are_documented_with_their_defaults() -> None:
    kinds = dict.fromkeys(StepKind, "exactly one")
    assert documented_defaults("Fields of a step") == defaults_of(Step) | kinds | {"priority": "the run's"}


def test_the_fields_of_for_each_are_documented_with_their_defaults() -> None:
    expected = defaults_of(ForEach) | {"key": "its index, from 0"}
    assert documented_defaults("Once for each element") == expected


def test_the_fields_of_cache_are_documented_with_their_defaults() -> None:
    assert documented_defaults("Cached outputs") == defaults_of(Cache) | {"key": "the resolved config"}


def test_the_fields_of_retry_config_are_documented_with_their_defaults() -> None:
    assert documented_defaults("Retries") == defaults_of(RetryConfig)


def test_inputs_defaults_and_aliases_are_documented() -> None:
    rows = {row[0]: row[1] for row in table("Fields of a definition")}
    assert set(re.findall(r"`(\w+)`", rows["`inputs`"])) == set(Input.model_fields)
    assert tuple(re.findall(r"`(\w+)`", rows["`defaults`"])) == DEFAULTABLE
    aliases = re.search(r"^(.*) are accepted for (.*)\.$", section("Fields of a step"), re.MULTILINE)
    assert aliases is not None
    words, fields = (re.findall(r"`(\w+)`", part) for part in aliases.groups())
    assert dict(zip(words, fields, strict=True)) == STEP_ALIASES


def test_the_truth_table_is_what_the_rules_decide() -> None:
    [_, *cases], *rows = table("When a step runs")
    documented = {
        row[0].strip("`"): dict(zip(cases, (cell.strip("`") for cell in row[1:]), strict=True)) for row in rows
    }
    assert documented == {str(rule): {case: fate(rule, case) for case in cases} for rule in TriggerRule}


def fate(rule: TriggerRule, case: str) -> str:
    parents = [OUTCOMES[word] for word in case.removeprefix("all ").split(", ")]
    reason = RULES[rule](
        Outcomes(
            sum(parent.completed for parent in parents),
            sum(parent.bad for parent in parents),
            sum(parent.skipped for parent in parents),
        )
    )
    return "runs" if reason is None else str(reason)


def test_the_truth_table_has_every_mixture_that_a_rule_distinguishes() -> None:
    """Three kinds of parents make seven mixtures; that of all three is decided like `completed, failed`."""
    for rule in TriggerRule:
        assert RULES[rule](Outcomes(1, 1, 1)) == RULES[rule](Outcomes(1, 1, 0))
    assert len(table("When a step runs")[0]) == 1 + 6


def test_every_reason_and_state_is_documented() -> None:
    documented = set(re.findall(r"\w+", TEXT))
    assert {*map(str, SkipReason), *map(str, StepStatus), *map(str, RunStatus)} <= documented


def test_the_filters_tests_and_reserved_words_are_documented() -> None:
    assert words_after("Filters") == list(FILTERS)
    assert sorted(words_after("Tests")) == sorted(TESTS)
    assert sorted(words_after("Reserved, not allowed as ids of steps")) == sorted(RESERVED_WORDS)


def test_the_limits_are_documented() -> None:
    documented = [int(row[1].replace(",", "")) for row in table("Limits")[1:]]
    assert documented == [
        *(MAX_STEPS, MAX_BYTES, MAX_LENGTH, MAX_VALUE_BYTES, MAX_INLINE_BYTES, MAX_STORED_BYTES, MAX_LOADED_BYTES),
        *(MAX_CARRIED_BYTES, MAX_INNER_BYTES, MAX_REPORT_BYTES, MAX_STATE_BYTES),
        *(MAX_WORK, LONGEST_MESSAGE, MAX_ITEMS, MAX_LIST_BYTES, MAX_KEY_CHARACTERS, fan.MAX_STORED_BYTES, MAX_INTEGER),
    ]


def test_the_formats_are_documented() -> None:
    assert words_after("Formats") == list(FORMATS)


class Given(Scope):
    """The scope that the examples are documented with."""

    def __init__(self, inputs: Json) -> None:
        self._inputs = inputs

    def name(self, name: str) -> Json:
        return {"inputs": self._inputs}[name]

    def step(self, step_id: str) -> Mapping[str, Json]:
        raise KeyError(step_id)


@pytest.mark.parametrize(("expression", "value"), table("Expressions and templates")[1:])
def test_an_example_gives_the_value_shown(expression: str, value: str) -> None:
    inputs = re.search(r"^With `inputs` of `(.+)`:$", TEXT, re.MULTILINE)
    assert inputs is not None
    found = compile_expression(expression.strip("`")).evaluate(Given(json.loads(inputs[1])))
    assert found == json.loads(value.strip("`"))
