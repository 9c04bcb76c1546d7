"""Which version a name means: references, the canary's share, what a move ends and what a rollback undoes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.dag.language.version_refs import (
    CANARY,
    MAX_VERSION,
    STABLE,
    Aliases,
    Move,
    MoveKind,
    Ref,
    Target,
    in_canary,
    is_alias,
    move_alias,
    moved,
    parse_ref,
    undo,
    version_for,
)

KEYS = st.text(max_size=40)
PERCENTS = st.integers(min_value=0, max_value=100)
CANARY_AT_TEN: Aliases = {STABLE: Target(3), CANARY: Target(4, 10)}


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("invoice", Ref("invoice")),
        ("invoice@4", Ref("invoice", 4)),
        ("invoice@v4", Ref("invoice", 4)),
        ("invoice@stable", Ref("invoice", alias="stable")),
        ("invoice@v4-trial", Ref("invoice", alias="v4-trial")),
        (f"invoice@{MAX_VERSION}", Ref("invoice", MAX_VERSION)),
    ],
)
def test_a_reference_names_a_definition_a_version_or_an_alias(text: str, ref: Ref) -> None:
    assert parse_ref(text) == ref


@pytest.mark.parametrize(
    "text",
    [
        *("", "@", "invoice@", "@4", "invoice@0", "invoice@-1", "invoice@1.5", "invoice@Stable", "invoice@a b", "a b"),
        *("1a", "invoice@4@5", f"invoice@{MAX_VERSION + 1}", "invoice\n", "invoice@4\n", f"invoice@{'a' * 33}"),
        "invoicé",
    ],
)
def test_anything_else_is_no_reference(text: str) -> None:
    assert parse_ref(text) is None


def test_a_reference_is_written_as_it_is_read() -> None:
    assert [str(parse_ref(text)) for text in ("a", "a@4", "a@v4", "a@pilot")] == ["a", "a@4", "a@4", "a@pilot"]


@pytest.mark.parametrize("name", ["v1", "v42", "1", "", "Stable", "a.b", "-a", "a" * 33])
def test_an_alias_never_reads_as_a_version(name: str) -> None:
    assert not is_alias(name)


def test_without_a_canary_every_run_gets_what_stable_names() -> None:
    assert {version_for("invoice", {STABLE: Target(3)}, str(key)) for key in range(100)} == {3}


def test_without_aliases_there_is_no_choice() -> None:
    assert version_for("invoice", {}, "key") is None


@given(KEYS, PERCENTS)
def test_the_same_key_always_gets_the_same_version(key: str, percent: int) -> None:
    aliases = {STABLE: Target(3), CANARY: Target(4, percent)}
    assert version_for("invoice", aliases, key) == version_for("invoice", aliases, key)


@given(KEYS, PERCENTS, PERCENTS)
def test_a_larger_share_keeps_whoever_was_in_a_smaller_one(key: str, one: int, other: int) -> None:
    smaller, larger = sorted((one, other))
    assert in_canary("invoice", key, smaller) <= in_canary("invoice", key, larger)


@given(KEYS)
def test_a_share_of_0_matches_no_key_and_one_of_100_every_key(key: str) -> None:
    assert (in_canary("invoice", key, 0), in_canary("invoice", key, 100)) == (False, True)


@pytest.mark.parametrize("percent", [1, 10, 50, 99])
def test_a_share_is_about_as_large_as_it_says(percent: int) -> None:
    found = sum(in_canary("invoice", f"doc_{number}", percent) for number in range(20_000))
    assert found / 200 == pytest.approx(percent, abs=1)


def test_the_canarys_share_differs_between_definitions() -> None:
    keys = [str(number) for number in range(1000)]
    chosen = [{key for key in keys if in_canary(definition, key, 10)} for definition in ("invoice", "order")]
    assert len(chosen[0] & chosen[1]) < 30


def test_the_choice_does_not_change_with_a_release() -> None:
    """A release that hashed otherwise would move documents of an open trial from one version to the other."""
    assert [number for number in range(60) if in_canary("invoice", f"doc_{number}", 10)] == [2, 35, 36, 42]


def test_moving_an_alias_to_where_it_is_is_no_move() -> None:
    assert move_alias(CANARY_AT_TEN, STABLE, Target(3)) == ()
    assert move_alias(CANARY_AT_TEN, CANARY, Target(4, 10)) == ()
    assert move_alias({}, "pilot", None) == ()


def test_a_new_share_of_the_same_canary_is_a_move() -> None:
    assert move_alias(CANARY_AT_TEN, CANARY, Target(4, 20)) == (Move(CANARY, Target(4, 10), Target(4, 20)),)


@pytest.mark.parametrize("version", [2, 4, 5])
def test_moving_stable_ends_the_canary(version: int) -> None:
    moves = move_alias(CANARY_AT_TEN, STABLE, Target(version))
    assert moves == (Move(STABLE, Target(3), Target(version)), Move(CANARY, Target(4, 10), None))
    assert moved(CANARY_AT_TEN, moves) == {STABLE: Target(version)}


def test_moving_another_alias_leaves_the_canary() -> None:
    moves = move_alias(CANARY_AT_TEN, "pilot", Target(5))
    assert moved(CANARY_AT_TEN, moves) == {**CANARY_AT_TEN, "pilot": Target(5)}


class Registry:
    """A definition's aliases and how they came to be, as storage keeps them."""

    def __init__(self) -> None:
        self.aliases: dict[str, Target] = {}
        self.history: list[tuple[MoveKind, int]] = []

    def publish(self, version: int) -> None:
        self._apply(move_alias(self.aliases, STABLE, Target(version)), MoveKind.PUBLISH)

    def roll_back(self) -> int | None:
        """Return the version that new runs get then, None if there was nothing to undo."""
        moves = undo(self.aliases, self.history)
        self._apply(moves, MoveKind.ROLLBACK)
        return self.aliases[STABLE].version if moves else None

    def _apply(self, moves: tuple[Move, ...], kind: MoveKind) -> None:
        self.aliases = moved(self.aliases, moves)
        self.history += [(kind, move.after.version) for move in moves if move.alias == STABLE and move.after]


def test_undoing_again_goes_further_back_until_nothing_is_before() -> None:
    registry = Registry()
    for version in (1, 2, 3):
        registry.publish(version)
    assert [registry.roll_back() for _ in range(4)] == [2, 1, None, None]


def test_a_rolled_back_version_is_never_restored_by_a_rollback() -> None:
    registry = Registry()
    for version in (1, 2, 3):
        registry.publish(version)
    registry.roll_back()
    registry.publish(4)
    assert [registry.roll_back() for _ in range(3)] == [2, 1, None]


def test_a_version_may_be_in_force_more_than_once() -> None:
    registry = Registry()
    for version in (1, 2, 1, 3):
        registry.publish(version)
    assert [registry.roll_back() for _ in range(4)] == [1, 2, 1, None]


def test_a_canary_is_undone_before_the_version_it_is_tried_against() -> None:
    registry = Registry()
    for version in (1, 2):
        registry.publish(version)
    registry.aliases[CANARY] = Target(3, 10)
    assert [registry.roll_back() for _ in range(3)] == [2, 1, None]


def test_the_first_version_has_nothing_before_it() -> None:
    registry = Registry()
    registry.publish(1)
    assert registry.roll_back() is None


@given(st.lists(st.none() | st.integers(min_value=1, max_value=5), max_size=30))
def test_a_rollback_goes_to_a_version_that_was_in_force_and_is_not_now(actions: list[int | None]) -> None:
    registry, seen = Registry(), set[int]()
    for version in actions:
        if version is not None:
            registry.publish(version)
            seen.add(version)
        elif registry.aliases:
            before = registry.aliases[STABLE].version
            after = registry.roll_back()
            assert after is None or (after in seen and after != before)
