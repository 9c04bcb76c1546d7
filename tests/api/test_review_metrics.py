from decimal import Decimal

from docrail.services.totals.counters import ReviewTotals
from tests.api.reviewing import reading, reviewer, said, waiting
from tests.api.service import Service
from tests.api.test_corrections import correct
from tests.api.test_metrics import page_of


async def test_the_page_counts_what_reviewers_did(service: Service) -> None:
    ann = reviewer(service)
    before = await page_of(service.http)
    item = await waiting(service, ann, reading(total=said(Decimal("200.00"))), audit_sample=True)
    await correct(ann, item, "total", "119.00")
    await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    after = await page_of(service.http)
    grown = {name: value - before.get(name, 0) for name, value in after.items() if name.startswith("docrail_")}
    assert grown['docrail_review_decisions_total{outcome="approved"}'] == 1
    assert grown['docrail_review_touched_decisions_total{outcome="approved"}'] == 1
    assert grown['docrail_review_corrections_total{field="total"}'] == 1
    assert grown['docrail_audit_sample_total{result="wrong"}'] == 1
    assert grown["docrail_review_seconds_count"] == 1
    assert 0 < grown["docrail_review_seconds_sum"] < 60


def test_events_that_never_happened_are_0_and_unknown_values_are_absent() -> None:
    shown = {
        (sample.name, *sample.labels.values()): sample.value
        for family in ReviewTotals([]).collect()
        for sample in family.samples
    }
    assert shown["docrail_straight_through_total", "passes"] == 0
    assert shown["docrail_review_sla_events_total", "80"] == 0
    assert list(ReviewTotals(None).collect()) == []
