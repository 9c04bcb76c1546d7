"""Laws of validation: garbage never crashes it, and what it accepts can be compiled, dumped and read again."""

import json
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from docrail.dag.engine.plan import compile_plan
from docrail.dag.language.definition import to_json
from docrail.dag.validation.validate import check_definition, validate
from docrail.dag.values.json_values import Json, canonical
from docrail.dag.values.problems import Places
from tests.dag.catalogue import CATALOGUE
from tests.dag.definitions import LAW

words = st.sampled_from(
    [
        *("id", "node_id", "steps", "inputs", "outputs", "defaults", "limits", "config", "params", "depends_on"),
        *("dependencies", "condition", "handler", "trigger_rule", "retry_config", "type", "required", "default"),
        *("properties", "items", "pattern", "$path", "max_retries", "a", "b", "extract", "invoice"),
        *(
            "wait",
            "for",
            "timer",
            "seconds",
            "human",
            "form",
            "workflow",
            "abort",
            "reason",
            "switch",
            "when",
            "branch",
        ),
        *("else", "for_each", "key", "on_timeout", "then", "accept", "previous", "compensate"),
    ]
)
texts = st.one_of(
    words,
    st.text(max_size=6),
    st.sampled_from(
        [
            "{{ a.b }}",
            "{{ a",
            "{{ previous.x }}",
            "previous",
            "{% if %}",
            "a.b > 1",
            "one_failed",
            "save_json",
            "extract_invoice",
            "integer",
        ]
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
        "wait": values,
        "human": values,
        "switch": values,
        "for_each": values,
        "workflow": values,
        "abort": values,
        "compensate": values,
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
INPUTS: Json = {"n": {"type": "integer"}, "listed": {"type": "array"}}
own = st.sampled_from(["{{ inputs.n }}", {"$path": ["inputs", "n"]}, "text {{ run.id }}", 3])
waiting = st.fixed_dictionaries(
    {"for": st.sampled_from(["signal", "webhook"])},
    optional={"accept": st.just({"type": "object", "properties": {"n": {"type": "integer", "default": None}}})},
)
timeouts = st.sampled_from(
    [{}, *({"timeout_seconds": 60, "on_timeout": rule} for rule in ("abort", {"then": "continue"}, {"branch": "late"}))]
)
each = st.fixed_dictionaries(
    {"items": st.sampled_from(["{{ inputs.listed }}", [1, "{{ inputs.n }}"], []])},
    optional={"key": st.just("[item, index]"), "max_failures": st.integers(0, 3)},
)
work = st.fixed_dictionaries(
    {
        "handler": st.just("anything"),
        "config": st.dictionaries(
            st.text(string.ascii_lowercase, max_size=3), st.one_of(st.integers(0, 9), st.floats(0, 1), st.none(), own)
        ),
    },
    optional={
        "for_each": each,
        "max_retries": st.integers(0, 3),
        "compensate": st.fixed_dictionaries(
            {"handler": st.just("anything")}, optional={"config": st.just({"x": None})}
        ),
    },
)
cases = st.lists(st.sampled_from([{"when": "inputs.n > 1", "branch": "large"}, {"when": "run.id", "branch": "some"}]))
kinds = st.one_of(
    work,
    st.builds(lambda wait, timeout: {"wait": {**wait, **timeout}}, waiting, timeouts),
    st.builds(lambda seconds: {"wait": {"for": "timer", "seconds": seconds}}, st.sampled_from([3, "{{ inputs.n }}"])),
    st.builds(lambda show, timeout: {"human": {"title": "?", "show": {"x": show}, **timeout}}, own, timeouts),
    st.builds(lambda value: {"workflow": {"id": "other", "inputs": {"x": value}}}, own),
    st.builds(lambda value, loop: {"workflow": {"id": "other", "inputs": {"x": value}}, "for_each": loop}, own, each),
    st.sampled_from([{"abort": "stop {{ run.id }}"}, {"abort": {"reason": "stop"}}]),
    st.builds(lambda first: {"switch": [*first, {"else": "small"}]}, cases),
)
names = st.lists(st.sampled_from("abcdef"), unique=True, min_size=1)
sound_steps = names.flatmap(
    lambda chosen: st.tuples(
        *(
            st.builds(
                lambda kind, name, parents: {"id": name, "depends_on": parents, **kind},
                kinds,
                st.just(name),
                st.lists(st.sampled_from(chosen), unique=True, max_size=3),
            )
            for name in chosen
        )
    )
)


@given(values | documents | st.lists(steps, max_size=4))
@settings(max_examples=LAW.max_examples)
def test_garbage_is_a_definition_or_has_problems(value: Json) -> None:
    definition, problems = validate(value, None, CATALOGUE)
    assert (definition is None) == any(problem.severity == "error" for problem in problems)


@given(documents)
def test_the_same_document_has_the_same_problems(value: Json) -> None:
    assert validate(value, Places(), CATALOGUE) == validate(value, None, CATALOGUE)


LINT = {"constant-condition", "leads-nowhere", "no-else", "unsent-callback"}
"""What is warned of where nothing is wrong."""


@given(sound_steps)
def test_an_accepted_definition_compiles_and_reads_back_the_same(listed: tuple[Json, ...]) -> None:
    document = {"id": "law", "inputs": INPUTS, "steps": list(listed)}
    definition, problems = validate(document, None, CATALOGUE)
    assert {problem.code for problem in problems} <= {
        "cycle",
        "self-dependency",
        "never-runs",
        "repeated-case",
        "unanswered-continues",
        *LINT,
    }
    if definition is None:
        return
    plan = compile_plan(definition)
    assert len(plan.steps) == len(listed)
    for step in plan.steps:  # what is compiled when it is first asked for
        assert step.config is not None
        assert (step.condition is None) is (step.definition.condition is None)
        assert len(step.cases) == len(step.definition.switch or ())
        assert (step.items is None) is (step.definition.for_each is None)
        assert step.item_key is None or step.definition.for_each is not None
        assert (step.compensation is None) is (step.definition.compensate is None)
        assert step.cache_key is None or step.definition.cache is not None
    assert [step.config for step in definition.steps] == [step.get("config", {}) for step in listed]
    stored = to_json(definition)
    again, _ = validate(stored, None, CATALOGUE)
    assert again is not None
    assert canonical(to_json(again)) == canonical(stored)
    assert canonical(json.loads(json.dumps(stored))) == canonical(stored)


@given(st.lists(kinds, min_size=1, max_size=6))
def test_commands_in_order_are_a_definition_that_is_no_list_any_more(listed: list[Json]) -> None:
    document: Json = {"id": "law", "inputs": INPUTS, "steps": listed}
    last: Json = {"handler": "anything", "config": {"before": "{{ previous }}"}}
    definition, problems = validate({**document, "steps": [{"handler": "anything"}, *listed, last]}, None, CATALOGUE)
    assert {problem.code for problem in problems} <= {"never-runs", "repeated-case", "unanswered-continues", *LINT}
    assert definition is not None
    assert all(step.depends_on for step in definition.steps[1:])
    stored = to_json(definition)
    assert "previous" not in json.dumps(stored)
    again, _ = validate(stored, None, CATALOGUE)
    assert again is not None
    assert canonical(to_json(again)) == canonical(stored)


@given(st.one_of(st.text(), st.binary(), st.text("{}[]:,-*&!|>'\"#?% \n\tab0~<")))
@settings(max_examples=LAW.max_examples)
def test_any_text_is_a_definition_or_has_problems(text: str | bytes) -> None:
    definition, problems = check_definition(text, CATALOGUE)
    assert (definition is None) == any(problem.severity == "error" for problem in problems)
