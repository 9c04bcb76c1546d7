"""How two versions of a definition differ: every difference is reported, and nothing else."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.language.difference import Change, ChangeKind, DefinitionDiff, StepDiff, diff
from docrail.dag.values.json_values import Json, digest

OLD: dict[str, Json] = {
    "dsl": 1,
    "id": "invoice",
    "title": "Read",
    "inputs": {"document_id": {"type": "string", "required": True}, "sla_hours": {"type": "integer", "default": 24}},
    "limits": {"max_concurrency": 4},
    "steps": [
        {"id": "extract", "handler": "extract_invoice", "config": {"document_id": "x"}, "max_retries": 3},
        {"id": "save", "handler": "save_json", "depends_on": ["extract"], "config": {"lines": [{"a": 1}, {"a": 2}]}},
    ],
    "outputs": {"total": "{{ extract.total }}"},
}


def edited(**changes: Json) -> dict[str, Json]:
    return {**copy.deepcopy(OLD), **changes}


def step(number: int, **changes: Json) -> dict[str, Json]:
    return {**copy.deepcopy(OLD["steps"][number]), **changes}


def test_the_same_content_has_no_difference() -> None:
    reordered = dict(reversed(copy.deepcopy(OLD).items()))
    assert diff(OLD, reordered) == DefinitionDiff()
    assert not diff(OLD, reordered)


def test_steps_are_added_and_removed_by_their_id() -> None:
    new = edited(steps=[step(0), {"id": "notify", "handler": "noop"}])
    assert diff(OLD, new) == DefinitionDiff(added=("notify",), removed=("save",))


def test_a_changed_step_reports_each_field_with_its_old_and_new_value() -> None:
    new = edited(steps=[step(0, max_retries=5, config={"pages": 2}, title="Read it"), step(1)])
    assert diff(OLD, new).changed == (
        StepDiff(
            "extract",
            (
                Change(ChangeKind.REMOVED, "config.document_id", "x", None),
                Change(ChangeKind.ADDED, "config.pages", None, 2),
                Change(ChangeKind.CHANGED, "max_retries", 3, 5),
                Change(ChangeKind.ADDED, "title", None, "Read it"),
            ),
        ),
    )


def test_a_list_of_objects_is_compared_entry_by_entry_and_any_other_as_a_whole() -> None:
    new = edited(steps=[step(0), step(1, depends_on=["extract", "x"], config={"lines": [{"a": 1}, {"a": 3}]})])
    [changed] = diff(OLD, new).changed
    assert changed.changes == (
        Change(ChangeKind.CHANGED, "depends_on", ["extract"], ["extract", "x"]),
        Change(ChangeKind.CHANGED, "config.lines[1].a", 2, 3),
    )


def test_another_order_of_the_same_steps_is_a_difference() -> None:
    assert diff(OLD, edited(steps=[step(1), step(0)])) == DefinitionDiff(reordered=True)


def test_a_step_put_between_others_does_not_reorder_them() -> None:
    new = edited(steps=[step(0), {"id": "between", "handler": "noop"}, step(1)])
    assert diff(OLD, new) == DefinitionDiff(added=("between",))


def test_inputs_outputs_limits_and_the_rest_are_reported_by_their_path() -> None:
    new = edited(
        title="Read and save",
        inputs={"document_id": {"type": "string", "required": True}, "queue": {"type": "string"}},
        limits={"max_concurrency": 8},
        outputs={"total": "{{ extract.net }}", "a b": 1},
        on_failure="fail_fast",
    )
    assert diff(OLD, new).fields == (
        Change(ChangeKind.CHANGED, "title", "Read", "Read and save"),
        Change(ChangeKind.REMOVED, "inputs.sla_hours", {"type": "integer", "default": 24}, None),
        Change(ChangeKind.ADDED, "inputs.queue", None, {"type": "string"}),
        Change(ChangeKind.CHANGED, "limits.max_concurrency", 4, 8),
        Change(ChangeKind.CHANGED, "outputs.total", "{{ extract.total }}", "{{ extract.net }}"),
        Change(ChangeKind.ADDED, "outputs['a b']", None, 1),
        Change(ChangeKind.ADDED, "on_failure", None, "fail_fast"),
    )


def test_values_that_only_python_takes_for_equal_differ() -> None:
    for old, new in ((1, True), (0, False), (1, 1.0), ([1], [True]), (None, 0)):
        found = diff(edited(outputs={"a": old}), edited(outputs={"a": new}))
        assert found.fields == (Change(ChangeKind.CHANGED, "outputs.a", old, new),)


LEAVES = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "b"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
DOCUMENTS = st.fixed_dictionaries({"outputs": VALUES, "title": LEAVES})
CONFIGS = st.lists(st.tuples(st.sampled_from("abcd"), VALUES), max_size=4, unique_by=lambda step: step[0])


@st.composite
def definitions(draw: st.DrawFn) -> dict[str, Json]:
    steps = [{"id": name, "config": config} for name, config in draw(CONFIGS)]
    return {**draw(DOCUMENTS), "steps": steps}


@given(definitions(), definitions())
def test_there_is_a_difference_exactly_where_the_digests_differ(old: dict[str, Json], new: dict[str, Json]) -> None:
    assert bool(diff(old, new)) == (digest(old) != digest(new))


@given(definitions(), definitions())
def test_the_other_way_round_the_opposite_is_reported(old: dict[str, Json], new: dict[str, Json]) -> None:
    there, back = diff(old, new), diff(new, old)
    assert (set(there.added), set(there.removed)) == (set(back.removed), set(back.added))
    assert there.reordered == back.reordered
    assert {(c.path, str(c.old), str(c.new)) for c in there.fields} == {
        (c.path, str(c.new), str(c.old)) for c in back.fields
    }
