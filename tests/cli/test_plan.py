"""`docrail definition plan`: a definition's layers, critical path and graph, in three formats."""

import asyncio
import json
from pathlib import Path

import pytest

from docrail.dag.language.definition import Definition
from tests.cli.process import Ended, docrail

DEFINITION = Path(__file__).parents[2] / "definitions" / "invoice.yaml"
TEXT = """\
invoice: Extract an invoice, save it twice, measure it, queue it for review
7 steps in 4 layers, at most 4 at once

layer 0  extract
layer 1  split, ask_gemini
layer 2  save_parquet, save_json, record_metrics
layer 3  create_review

critical path  extract → ask_gemini → save_parquet → create_review
"""
MERMAID = """\
flowchart LR
    s0["extract<br/>Read the invoice"]
    s1["split<br/>Split a file of several invoices"]
    s2["ask_gemini<br/>Have Gemini read it too"]
    s3["save_parquet<br/>Save as Parquet"]
    s4["save_json<br/>Save as JSON"]
    s5["record_metrics<br/>Count for the dashboards"]
    s6["create_review<br/>Queue for review"]
    s0 --> s1
    s0 --> s2
    s0 --> s3
    s2 --> s3
    s0 --> s4
    s2 --> s4
    s0 --> s5
    s2 --> s5
    s3 --> s6
    s4 --> s6
"""


@pytest.fixture(scope="module")
async def plans() -> dict[str, Ended]:
    formats = ("text", "mermaid", "json")
    shown = await asyncio.gather(
        *(docrail("definition", "plan", str(DEFINITION), "--format", name) for name in formats)
    )
    return dict(zip(formats, shown, strict=True))


def test_as_text_it_shows_layers_and_critical_path(plans: dict[str, Ended]) -> None:
    assert plans["text"] == Ended(0, TEXT, "")


def test_as_mermaid_it_is_a_flowchart(plans: dict[str, Ended]) -> None:
    assert plans["mermaid"] == Ended(0, MERMAID, "")


def test_as_json_it_holds_all_of_it(plans: dict[str, Ended]) -> None:
    shown = json.loads(plans["json"].out)
    assert Definition.model_validate(shown.pop("definition")).id == "invoice"
    assert shown == {
        "layers": [
            ["extract"],
            ["split", "ask_gemini"],
            ["save_parquet", "save_json", "record_metrics"],
            ["create_review"],
        ],
        "critical_path": ["extract", "ask_gemini", "save_parquet", "create_review"],
        "mermaid": MERMAID,
    }


async def test_a_broken_definition_has_no_plan_but_its_problems(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("id: x\nsteps: [{id: a, handler: fly}]\n")
    refused = await docrail("definition", "plan", "broken.yaml", cwd=tmp_path)
    assert (refused.code, refused.out) == (1, "")
    first, *problems, verdict = refused.err.splitlines()
    assert first == "docrail: broken.yaml is not valid"
    assert any("unknown-handler" in problem for problem in problems)
    assert verdict == f"broken.yaml: {len(problems)} error{'s' * (len(problems) != 1)}"


async def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    refused = await docrail("definition", "plan", str(DEFINITION), "--format", "svg")
    assert refused.code == 2
    assert "'text', 'mermaid', 'json'" in refused.err


@pytest.mark.parametrize(
    ("steps", "most"),
    [
        ("[{id: a, handler: noop}, {id: b, handler: noop, depends_on: [a]}]", 1),
        ("[{id: a, handler: noop}, {id: b, handler: noop}, {id: c, handler: noop, depends_on: [b]}]", 2),
        ("[{id: a, handler: noop, for_each: {items: [1, 2], max_concurrency: 3}}]", 3),
        ("[{id: a, handler: noop, for_each: {items: [1, 2]}}]", 4),
    ],
)
async def test_it_says_how_many_can_run_at_once(tmp_path: Path, steps: str, most: int) -> None:
    (tmp_path / "x.yaml").write_text(f"id: x\nsteps: {steps}\n")
    shown = await docrail("definition", "plan", "x.yaml", cwd=tmp_path)
    assert f", at most {most} at once\n" in shown.out
