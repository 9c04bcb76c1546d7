"""Names that mean something to Docrail itself cannot be taken by definitions."""

import re

from docrail.dag.language.definition import RESERVED_IDS
from docrail.dag.validation.validate import check_definition
from tests.api.described import DOCUMENT
from tests.dag.catalogue import CATALOGUE

MADE = {"{document_id}": re.compile(r"doc_[0-9a-z]{26}"), "{run_id}": re.compile(r"[^.]+\..+")}
"""Ids that Docrail makes itself, or in part: no fixed address that looks different hides one."""


def test_no_address_of_the_api_hides_a_definition_or_another_thing() -> None:
    """Where a fixed address and one with a name are alike, the name is reserved."""
    paths = DOCUMENT["paths"]
    hidden = set()
    for fixed in paths:
        for named in paths:
            pairs = list(zip(fixed.split("/"), named.split("/"), strict=False))
            alike = fixed.count("/") == named.count("/") and fixed != named and {*paths[fixed]} & {*paths[named]}
            if alike and all(one == other or other.startswith("{") for one, other in pairs):
                hidden |= {one for one, other in pairs if one != other and may_be(other, one)}
    assert hidden == RESERVED_IDS


def may_be(parameter: str, name: str) -> bool:
    return parameter not in MADE or bool(MADE[parameter].fullmatch(name))


def test_a_reserved_id_is_refused_with_another_one() -> None:
    for name in RESERVED_IDS:
        definition, problems = check_definition(f"id: {name}\nsteps: [{{id: a, handler: anything}}]\n", CATALOGUE)
        assert definition is None
        assert [(each.code, each.path, each.line, each.suggestion) for each in problems] == [
            ("reserved-word", "id", 1, f"{name}_definition")
        ]
