"""A filter that matches nothing is reported with the existing values, up to a limit."""

from docrail.services.paging import MOST_KNOWN, Unmatched, unmatched


def test_only_given_filters_without_a_match_are_reported() -> None:
    asked = {"class": "ConectionError", "handler": "noop", "definition": None}
    known = {"class": ["ValueError", "ConnectionError"], "handler": ["noop"]}
    assert unmatched(asked, known) == [
        Unmatched(
            "class", "ConectionError", ["ValueError", "ConnectionError"], has_more=False, suggestion="ConnectionError"
        )
    ]


def test_of_many_values_the_first_are_listed_and_any_may_be_suggested() -> None:
    known = [f"error_{number:04}" for number in range(MOST_KNOWN)]
    [found] = unmatched({"class": "timed_ot"}, {"class": [*known, "timed_out"]})
    assert (found.known, found.has_more, found.suggestion) == (known, True, "timed_out")


def test_without_values_nothing_is_suggested() -> None:
    assert unmatched({"queue": "x"}, {"queue": []}) == [Unmatched("queue", "x", [], has_more=False, suggestion=None)]
