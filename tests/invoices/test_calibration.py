"""Calibration: rising curves that make probabilities of confidences, smooth where little was seen."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.invoices.assessment.calibration import (
    POOLED,
    Calibration,
    Observation,
    Point,
    default_calibration,
    expected_error,
    fit,
    held_out,
    rising,
)
from docrail.invoices.assessment.confidence import EVIDENCE, PRIORS, assess, field_confidence
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import FIELD_NAMES, REQUIRED_FIELDS
from tests.invoices.judged import NO_CALIBRATION, TODAY, sound

RAW = st.floats(0, 1)
POINTS = st.lists(st.builds(Point, RAW, RAW, st.floats(0.1, 10)), min_size=1, max_size=30)
OBSERVATIONS = st.lists(
    st.builds(Observation, st.sampled_from(["total", "date"]), RAW, st.booleans(), st.sampled_from("abcd")), max_size=40
)


@given(POINTS)
def test_pooling_gives_a_rising_curve_through_the_same_places(points: list[Point]) -> None:
    curve = rising(points)
    assert curve == sorted(curve)
    assert [value for _, value in curve] == sorted(value for _, value in curve)
    assert {raw for raw, _ in curve} <= {point.raw for point in points}


@given(POINTS)
def test_points_that_rise_are_their_own_curve(points: list[Point]) -> None:
    raws = sorted({point.raw for point in points})
    values = sorted(point.value for point in points)[: len(raws)]
    rises = [Point(raw, value) for raw, value in zip(raws, values, strict=True) if values.count(value) == 1]
    assert rising(rises) == [(point.raw, point.value) for point in rises]


def test_neighbours_that_fall_are_pooled_by_weight() -> None:
    assert rising([Point(0.1, 0.5, 3), Point(0.2, 0.1, 1), Point(0.3, 0.9)]) == [(0.1, 0.4), (0.2, 0.4), (0.3, 0.9)]


def test_points_at_one_place_are_one() -> None:
    assert rising([Point(0.5, 1), Point(0.5, 0), Point(0.5, 1), Point(0.5, 1)]) == [(0.5, 0.75)]


@given(OBSERVATIONS, RAW, RAW, st.sampled_from(["total", "date", "iban"]))
def test_a_surer_value_is_never_less_sure_afterwards(
    observations: list[Observation], one: float, other: float, field: str
) -> None:
    low, high = sorted((one, other))
    for calibration in (fit(observations, "new"), default_calibration(), NO_CALIBRATION):
        assert 0 <= calibration.apply(field, low) <= calibration.apply(field, high) <= 1


@given(OBSERVATIONS)
def test_a_fit_does_not_depend_on_the_order_of_what_was_seen(observations: list[Observation]) -> None:
    shuffled = random.Random(1).sample(observations, len(observations))
    one, other = fit(observations, "x"), fit(shuffled, "x")
    for raw in (0.1, 0.5, 0.93):
        assert one.apply("total", raw) == pytest.approx(other.apply("total", raw), abs=1e-5)


@given(
    st.sampled_from([source for source in Source if source is not Source.NOWHERE]),
    st.lists(st.sampled_from(Evidence), max_size=4),
    st.sampled_from([fact for fact in Evidence if EVIDENCE[fact] > 0]),
    st.sampled_from(FIELD_NAMES),
)
def test_more_evidence_for_a_value_never_lowers_its_confidence(
    source: Source, facts: list[Evidence], fact: Evidence, name: str
) -> None:
    less, more = field_confidence(source, facts), field_confidence(source, [*facts, fact])
    assert default_calibration().apply(name, less) <= default_calibration().apply(name, more)


def test_too_sure_readers_are_calibrated_down_and_unsure_ones_up() -> None:
    seen = [Observation("total", 0.95, n % 2 == 0, f"f{n}") for n in range(100)]
    seen += [Observation("date", 0.6, True, f"f{n}") for n in range(100)]
    calibration = fit(seen, "new")
    assert calibration.apply("total", 0.95) == pytest.approx(0.5, abs=0.05)
    assert calibration.apply("date", 0.6) > 0.9


def test_without_observations_a_confidence_hardly_changes() -> None:
    calibration = fit([Observation("total", 0.9, right=True, family=str(n)) for n in range(20)], "new")
    assert calibration.apply("total", 0.2) == pytest.approx(0.2, abs=0.01)
    assert fit([], "new").apply("total", 0.5) == pytest.approx(0.5)


def test_nothing_is_ever_certain() -> None:
    calibration = fit([Observation("total", 0.999, right=True, family=str(n)) for n in range(1000)], "new")
    assert 0.99 < calibration.apply("total", 1.0) < 1


def test_a_field_that_was_never_seen_takes_the_curve_of_all() -> None:
    calibration = fit([Observation("total", 0.9, right=False, family=str(n)) for n in range(50)], "new")
    assert calibration.apply("buyer_name", 0.9) == calibration.apply(POOLED, 0.9) < 0.2


def test_a_large_family_does_not_speak_for_all_layouts() -> None:
    seen = [Observation("total", 0.9, right=True, family="large") for _ in range(100)]
    seen += [Observation("total", 0.9, right=False, family=f"f{n}") for n in range(10)]
    assert fit(seen, "new").apply("total", 0.9) == pytest.approx(0.5, abs=0.1)


def test_the_expected_error_is_the_gap_between_what_is_claimed_and_what_is_right() -> None:
    assert expected_error([]) == 0
    assert expected_error([(0.95, True)] * 95 + [(0.95, False)] * 5) == pytest.approx(0)
    assert expected_error([(0.95, True)] * 45 + [(0.95, False)] * 55) == pytest.approx(0.5)
    assert expected_error([(1.0, False), (0.05, True)]) == pytest.approx(0.975)


def test_a_family_is_judged_by_the_others_only() -> None:
    seen = [Observation("total", 0.9, right=False, family="a") for _ in range(50)]
    seen += [Observation("total", 0.9, right=True, family=f"b{n}") for n in range(50)]
    own = [calibrated for calibrated, right in held_out(seen) if not right]
    assert min(own) > 0.9


def test_the_shipped_calibration_knows_the_fields_and_trusts_an_e_invoice() -> None:
    shipped = default_calibration()
    assert set(REQUIRED_FIELDS) <= set(shipped.curves)
    assert shipped.observations > 300
    assert all(shipped.apply(name, PRIORS[Source.XML]) > 0.95 for name in REQUIRED_FIELDS)


def test_a_judged_invoice_names_its_calibration() -> None:
    halved = Calibration(name="v7", curves={POOLED: ((0.0, 0.0), (1.0, 0.5))})
    invoice = assess(sound(), TODAY, calibration=halved)
    assert invoice.calibration == "v7"
    assert invoice.invoice_number.confidence == pytest.approx(PRIORS[Source.TEXT_LABEL] / 2, abs=0.001)
    assert assess(sound(), TODAY).calibration == default_calibration().name
