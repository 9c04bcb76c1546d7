"""Laws of validation: garbage never crashes it, and what it accepts can be compiled, dumped and read again."""

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from dag.plan import compile_plan
from dag.problems import Places
from dag.validate import validate
from dag.values import Json, canonical
from operations.source import check_definition
from tests.dag.catalogue import CATALOGUE

words = st.sampled_from(
    [
        *("id", "node_id", "steps", "inputs", "outputs", "defaults", "limits", "config", "params", "depends_on"),
        *("dependencies", "condition", "handler", "trigger_rule", "retry_config", "type", "required", "default"),
        *("properties", "items", "pattern", "$path", "max_retries", "a", "b", "extract", "invoice"),
    ]
)
texts = st.one_of(
    words,
    st.text(max_size=6),
    st.sampled_from(
        ["{{ a.b }}", "{{ a", "{% if %}", "a.b > 1", "one_failed", "save_json", "extract_invoice", "integer"]
    ),
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=5)),
    max_leaves=12,
)
ids = st.sampled_from(["a", "b", "c", "d"])
steps = st.fixed_dictionaries(
    {"id": st.one_of(ids, values), "handler": st.one_of(st.sampled_from(sorted(CATALOGUE)), values)},
    optional={
        "depends_on": st.one_of(st.lists(ids, max_size=3), values),
        "condition": texts,
        "config": values,
        "trigger_rule": texts,
        "retry_config": values,
        "params": values,
    },
)
documents = st.fixed_dictionaries(
    {"id": texts, "steps": st.one_of(st.lists(steps, max_size=5), values)},
    optional={
        "inputs": st.dictionaries(texts, values, max_size=3),
        "defaults": values,
        "outputs": values,
        "dsl": values,
    },
)
sound_steps = st.lists(st.sampled_from("abcdef"), unique=True, min_size=1).flatmap(
    lambda names: st.tuples(
        *(
            st.fixed_dictionaries(
                {
                    "id": st.just(name),
                    "handler": st.just("anything"),
                    "depends_on": st.lists(st.sampled_from(names), unique=True, max_size=3),
                    "config": st.dictionaries(
                        st.text(string.ascii_lowercase, max_size=3), st.integers(0, 9) | st.floats(0, 1)
                    ),
                }
            )
            for name in names
        )
    )
)


@given(values | documents)
@settings(max_examples=300)
def test_garbage_is_a_definition_or_has_problems(value: Json) -> None:
    definition, problems = validate(value, None, CATALOGUE)
    assert (definition is None) == any(problem.severity == "error" for problem in problems)


@given(documents)
def test_the_same_document_has_the_same_problems(value: Json) -> None:
    assert validate(value, Places(), CATALOGUE) == validate(value, None, CATALOGUE)


@given(sound_steps)
def test_what_is_accepted_compiles_and_reads_the_same_again(listed: tuple[Json, ...]) -> None:
    definition, problems = validate({"id": "law", "steps": list(listed)}, None, CATALOGUE)
    assert {problem.code for problem in problems} <= {"cycle", "self-dependency"}
    if definition is None:
        return
    assert len(compile_plan(definition).steps) == len(listed)
    assert [step.config for step in definition.steps] == [step["config"] for step in listed]
    dumped = definition.model_dump(mode="json")
    again, _ = validate(dumped, None, CATALOGUE)
    assert again is not None
    assert canonical(again.model_dump(mode="json")) == canonical(dumped)


@given(st.one_of(st.text(), st.binary(), st.text("{}[]:,-*&!|>'\"#?% \n\tab0~<")))
@settings(max_examples=300)
def test_any_text_is_a_definition_or_has_problems(text: str | bytes) -> None:
    definition, problems = check_definition(text, CATALOGUE)
    assert (definition is None) == any(problem.severity == "error" for problem in problems)
