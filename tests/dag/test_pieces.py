"""The pieces of a saved state: together they are it, each is small enough, and each placeholder names its owner."""

import json
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.engine import saved_state as pieces
from docrail.dag.engine.saved_state import (
    MAX_PIECE_BYTES,
    MAX_WHOLE_BYTES,
    is_of,
    joined,
    split,
    standing_for,
    whole_or_piece,
)
from docrail.dag.values.json_values import Json, size_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=30,
)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=6))
def test_the_pieces_of_a_state_are_it(state: dict[str, Json]) -> None:
    with patch.object(pieces, "MAX_PIECE_BYTES", 40):
        reported = json.loads(json.dumps([[*piece.path, piece.part] for piece in split(state)]))
    assert joined(pieces.StatePiece(tuple(path), part) for *path, part in reported) == state


def large() -> dict[str, Json]:
    items = [{"key": str(number), "value": "x" * 4_000, "output": {"$stored": "0" * 64}} for number in range(900)]
    steps = {"list": {"status": "failed", "fan": {"items": items}}, "other": {"status": "completed"}}
    return {"steps": steps, "inputs": {"items": ["y" * 1_400_000]}, "paused": False}


def test_a_large_state_goes_in_pieces_that_travel() -> None:
    found = list(split(large()))
    assert joined(found) == large()
    assert max(size_of(piece.part) for piece in found) < 1_500_000  # one element that is as large as may be
    assert sum(size_of(piece.part) > MAX_PIECE_BYTES for piece in found) == 1
    assert len(found) < 15


def answers(state: dict[str, Json]) -> Iterator[pieces.StatePiece]:
    count = whole_or_piece(state, 0)["count"]
    for number in range(count):
        reported = whole_or_piece(state, number)
        yield pieces.StatePiece(tuple(reported["path"]), reported["part"])


def test_a_state_is_returned_whole_or_in_pieces_and_never_whole_if_too_large() -> None:
    small: dict[str, Json] = {"inputs": {"a": 1}, "steps": {}}
    assert whole_or_piece(small, None) == small
    assert joined(answers(small)) == small
    assert joined(answers(large())) == large()
    with pytest.raises(ValueError, match=f"more than {MAX_WHOLE_BYTES}: request its pieces"):
        whole_or_piece(large(), None)


def test_a_state_reference_names_the_inputs_it_belongs_to() -> None:
    state: dict[str, Json] = {"inputs": {"a": 1, "b": [2]}, "steps": {}}
    for reported in (state, standing_for(state, [])):
        assert is_of(reported, {"b": [2], "a": 1})
        assert not is_of(reported, {"a": 1})
