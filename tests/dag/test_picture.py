"""The picture of a definition: layers, longest chain, Mermaid."""

from itertools import chain, combinations
from random import Random

import pytest

from docrail.dag.language.definition import Definition, Limits
from docrail.dag.language.picture import SHAPES, critical_path, layers, mermaid, most_at_once
from docrail.dag.language.step_kinds import StepKind


def picture_of(depends_on: dict[str, list[str]], title: str = "") -> Definition:
    steps = [
        {"id": name, "handler": "h", "title": title, "depends_on": parents} for name, parents in depends_on.items()
    ]
    return Definition.model_validate({"id": "drawn", "steps": steps})


DIAMOND = picture_of({"d": ["b", "c"], "a": [], "b": ["a"], "c": ["a"], "alone": []})


def test_layers_hold_what_can_start_together_in_document_order() -> None:
    assert layers(DIAMOND) == (("a", "alone"), ("b", "c"), ("d",))


def test_the_critical_path_is_the_longest_chain() -> None:
    assert critical_path(picture_of({"a": [], "b": ["a"], "c": ["b"], "d": ["a", "c"], "e": []})) == (
        "a",
        "b",
        "c",
        "d",
    )


def test_of_several_longest_chains_the_first_in_the_document_is_reported() -> None:
    assert critical_path(DIAMOND) == ("a", "b", "d")


def test_a_chain_of_two_thousand_steps_is_drawn() -> None:
    chain = picture_of({f"s{number}": [f"s{number - 1}"] if number else [] for number in range(2_000)})
    assert len(layers(chain)) == len(critical_path(chain)) == 2_000
    assert mermaid(chain).count("-->") == 1_999


def test_mermaid_shows_each_step_and_each_dependency() -> None:
    assert mermaid(picture_of({"a": [], "end": ["a"]}, "Do it")) == (
        "flowchart LR\n"
        '    s0["a<br/>Do it"]\n'
        '    s1["end<br/>Do it"]\n'
        "    s0 --> s1\n"
    )  # fmt: skip


def test_each_kind_has_its_shape_and_branches_stand_on_their_edges() -> None:
    definition = Definition.model_validate(
        {
            "id": "drawn",
            "steps": [
                {"id": "route", "switch": [{"when": "inputs.n > 1", "branch": "large"}, {"else": "small"}]},
                {"id": "ask", "human": {}, "depends_on": ["route.large"]},
                {"id": "reply", "wait": {"for": "signal"}, "depends_on": ["route.large", "route.small"]},
                {"id": "pay", "workflow": {"id": "other"}, "for_each": {"items": []}, "depends_on": ["route"]},
                {"id": "stop", "abort": "enough", "depends_on": ["ask"]},
            ],
        }
    )
    assert mermaid(definition) == (
        "flowchart LR\n"
        '    s0{"route"}\n'
        '    s1[/"ask"/]\n'
        '    s2(["reply"])\n'
        '    s3[["pay<br/>for each item"]]\n'
        '    s4(("stop"))\n'
        "    s0 -->|large| s1\n"
        "    s0 -->|large| s2\n"
        "    s0 -->|small| s2\n"
        "    s0 --> s3\n"
        "    s1 --> s4\n"
    )
    assert layers(definition) == (("route",), ("ask", "reply", "pay"), ("stop",))


def test_every_kind_can_be_drawn() -> None:
    assert set(SHAPES) == set(StepKind)


def test_no_title_can_break_out_of_its_label() -> None:
    title = 'a"]; click s0 "javascript:x" <b>#quot;`**\n%%{init}'
    line = mermaid(picture_of({"a": []}, title)).splitlines()[1]
    assert line == (
        '    s0["a<br/>a#34;#93;#59; click s0 #34;javascript:x#34; '
        '#60;b#62;#35;quot#59;#96;#42;#42; #37;#37;#123;init#125;"]'
    )


def test_letters_of_all_languages_stay() -> None:
    assert 's0["a<br/>Prüfung 発票"]' in mermaid(picture_of({"a": []}, "Prüfung 発票"))


def test_a_chain_runs_one_step_at_a_time() -> None:
    assert most_at_once(picture_of({"a": [], "b": ["a"], "c": ["b"]})) == 1


def test_steps_of_different_layers_run_at_once_where_neither_waits_for_the_other() -> None:
    two_chains = {"a": [], "b": ["a"], "c": ["b"], "x": [], "y": ["x"], "z": ["y"]}
    assert most_at_once(picture_of(two_chains)) == 2
    tail = {"a": [], "b": ["a"], "c": ["b"], "d": ["b"], "x": ["a"], "y": ["x"], "z": ["b", "y"]}
    assert most_at_once(picture_of(tail)) == 3


def test_the_limit_of_the_run_and_the_items_of_lists_count() -> None:
    wide = picture_of({"a": [], **{f"b{number}": ["a"] for number in range(9)}})
    assert most_at_once(wide) == wide.limits.max_concurrency
    listed = {"id": "each", "handler": "h", "for_each": {"items": [1], "max_concurrency": 3}}
    waiting = {"id": "wait", "wait": {"for": "signal"}}
    assert most_at_once(Definition.model_validate({"id": "drawn", "steps": [listed, waiting]})) == 3


@pytest.mark.parametrize("seed", range(20))
def test_the_width_is_that_of_the_largest_set_without_an_order(seed: int) -> None:
    draw = Random(seed)
    graph = {f"s{n}": [f"s{m}" for m in range(n) if draw.random() < 0.3] for n in range(7)}
    above: dict[str, set[str]] = {}
    for name, parents in graph.items():
        above[name] = {*parents}.union(*(above[parent] for parent in parents))
    sets = chain.from_iterable(combinations(graph, size) for size in range(1, 8))
    free = [each for each in sets if not any(one in above[other] for one in each for other in each)]
    drawn = picture_of(graph).model_copy(update={"limits": Limits(max_concurrency=100)})
    assert most_at_once(drawn) == max(map(len, free))
