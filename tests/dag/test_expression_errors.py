"""Errors of expressions whose values do not fit."""

from collections.abc import Sequence

import pytest

from docrail.dag.language.expressions.expression import compile_expression
from docrail.dag.language.expressions.expression_errors import MOST_COMPARED, SHOWN_CHARACTERS, LackError
from docrail.dag.values.cost import ExpressionError
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path
from tests.dag.values import Known

VALUES: dict[str, Json] = {"a": {"total": 7, "vendor": {"name": "Tell"}}, "many": {f"key_{n}": n for n in range(12)}}


class Partly(Known):
    """Values of which only what is read was loaded."""

    def loaded(self, values: dict[str, Json], paths: Sequence[Path], *, alone: bool) -> dict[str, Json]:
        del paths, alone
        return dict(values)


def fault(text: str, scope: Known) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text).evaluate(scope)
    return caught.value


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("a.totl", "'a' has no 'totl': it has total, vendor (did you mean 'total'?)"),
        ("a.vendor.nam > 1", "'a.vendor' has no 'nam': it has name (did you mean 'name'?)"),
        ("a.total.net + 1", "'a.total' has no 'net': it is the number 7"),
        (
            "many.x is none or many.x",
            "'many' has no 'x': it has key_0, key_1, key_2, key_3, key_4, key_5, key_6, key_7 and 4 more",
        ),
    ],
)
def test_an_error_lists_the_keys_that_exist(text: str, reported: str) -> None:
    assert fault(text, Known(VALUES)).message == f"`{text}`: {reported}"


@pytest.mark.parametrize("text", ["a.totl", "a.totl > 1"])
def test_an_error_about_a_partly_loaded_value_names_only_the_loaded_part(text: str) -> None:
    assert fault(text, Partly(VALUES)).message == f"`{text}`: 'a' has no 'totl'"


def test_a_lack_names_its_place_only_if_it_is_known() -> None:
    error = LackError({}, "b")
    assert error.of(is_whole=True).message == "an object has no 'b': it is empty"
    assert error.of("'a'", is_whole=True).message == "'a' has no 'b': it is empty"
    assert error.of("'a'", is_whole=False).message == "'a' has no 'b'"


@pytest.mark.parametrize("meant", [f"key_{MOST_COMPARED}_", "k" * 60])
def test_suggestions_are_searched_among_a_few_short_keys(meant: str) -> None:
    found: dict[str, Json] = {f"{n}": n for n in range(MOST_COMPARED - (len(meant) > SHOWN_CHARACTERS))} | {meant: 1}
    assert "did you mean" not in LackError(found, meant[:-1]).of(is_whole=True).message


def test_a_key_that_is_itself_missing_is_reported() -> None:
    assert fault("a[a.totl] + 1", Known(VALUES)).message.startswith("`a[a.totl] + 1`: an object has no part")
