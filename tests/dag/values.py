"""Values for expressions: a scope over a dict, short ways to evaluate, and a strategy for JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

from docrail.dag.language.expressions.expression import Scope, compile_expression
from docrail.dag.language.expressions.templates import compile_template
from docrail.dag.values.json_values import Json

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@dataclass(frozen=True)
class Known(Scope):
    """A scope (dag.expressions.Scope) with these values."""

    values: Mapping[str, Json] = field(default_factory=dict)

    def name(self, name: str) -> Json:
        return self.values[name]

    def step(self, step_id: str) -> Mapping[str, Json]:
        found: Mapping[str, Json] = self.values["steps"][step_id]
        return found


def evaluate(text: str, values: Mapping[str, Json]) -> Json:
    return compile_expression(text).evaluate(Known(values))


def resolve(template: Json, values: Mapping[str, Json]) -> Json:
    return compile_template(template).resolve(Known(values))
