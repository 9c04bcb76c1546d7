import math
from decimal import Decimal
from typing import Any

import pytest

from docrail.dag.values.json_values import Json
from docrail.invoices.facts import Source
from docrail.invoices.model import Candidate, FieldValue
from tests.api.reviewing import Reviewer, reading, reviewer, said, waiting
from tests.api.service import Service


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service)


def field_of(shown: Json, name: str) -> Json:
    return next(field for field in shown["fields"] if field["name"] == name)


async def correct(who: Reviewer, item: Json, name: str, value: str | None, **more: Any) -> Json:
    body = {"value": value, "token": await who.claim(item["review_id"]), **more}
    response = await who.ask("PUT", f"/documents/{item['document_id']}/fields/{name}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def test_fields_are_shown_with_all_that_is_known_of_them(service: Service, ann: Reviewer) -> None:
    box = (0.1, 0.1, 0.2, 0.2)
    read: FieldValue[Decimal] = FieldValue(
        value=Decimal("119.00"),
        source=Source.TEXT_LABEL,
        page=1,
        box=box,
        candidates=(Candidate(value=Decimal("119.00"), source=Source.TEXT_LABEL, page=1, box=box),),
    )
    item = await waiting(service, ann, reading(total=read))
    shown = await ann.get(f"/documents/{item['document_id']}/fields")
    total = field_of(shown, "total")
    assert (total["value"], total["source"], total["page"], total["box"]) == ("119.00", "text_label", 1, list(box))
    assert [part["what"] for part in total["explanation"]][:2] == ["prior:text_label", "totals_agree"]
    assert (total["candidates"][0]["value"], total["lock"], total["proposals"]) == ("119.00", None, [])
    assert (shown["review_id"], shown["digest"]) == (item["review_id"], item["digest"])
    assert shown["line_items"][0]["amount"] == "100.00"


async def test_the_parts_of_a_priority_add_up_to_it(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, reading(total=said(Decimal("200.00"))))
    shown = await ann.get(f"/documents/{item['document_id']}/fields")
    points = {part["what"]: part["weight"] for part in shown["priority"]}
    assert sum(points.values()) + 30 * item["parts"]["sla"] == pytest.approx(item["priority"], abs=0.02)
    assert {"uncertainty:totals_disagree", "value:total", "complexity:new_vendor"} <= set(points)
    overall = math.exp(sum(part["weight"] for part in shown["explanation"]))
    assert overall == pytest.approx(shown["confidence"], abs=0.001)


async def test_a_correction_is_checked_by_the_rules_at_once(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, reading(total=said(Decimal("200.00"))))
    before = await ann.get(f"/documents/{item['document_id']}/fields")
    assert "totals_disagree" in [problem["code"] for problem in before["problems"]]
    after = await correct(ann, item, "total", "119.00", why="page 1")
    assert [problem["code"] for problem in after["problems"]] == []
    total = field_of(after, "total")
    assert (total["value"], total["source"], total["lock"]["by"], total["lock"]["why"]) == (
        *("119.00", "human"),
        *("ann", "page 1"),
    )
    assert [each["value"] for each in total["proposals"]] == ["200.00"]
    assert after["confidence"] > before["confidence"]
    assert after["digest"] != before["digest"]


async def test_the_queue_shows_what_was_corrected(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, reading(total=said(Decimal("200.00"))))
    after = await correct(ann, item, "total", "119.00")
    now = await ann.get(f"/reviews/{item['review_id']}")
    assert (now["summary"]["total"], now["touched"], now["digest"]) == ("119.00", True, after["digest"])
    assert now["priority"] < item["priority"]
    assert [shown["title"].rpartition(", ")[2] for shown in (item, now)] == ["200.00 EUR", "119.00 EUR"]


async def test_a_field_that_is_confirmed_is_locked_and_not_touched(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    after = await correct(ann, item, "total", "119.00")
    assert field_of(after, "total")["lock"]["by"] == "ann"
    assert (await ann.get(f"/reviews/{item['review_id']}"))["touched"] is False


async def test_an_unlocked_field_has_what_was_read(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await correct(ann, item, "vendor_name", "Muster AG")
    query = {"token": await ann.claim(item["review_id"]), "why": "it was right"}
    path = f"/documents/{item['document_id']}/fields/vendor_name"
    shown = (await ann.ask("DELETE", path, params=query)).json()
    assert (field_of(shown, "vendor_name")["value"], field_of(shown, "vendor_name")["lock"]) == ("Muster GmbH", None)
    refused = await ann.refused("DELETE", path, 409, params=query)
    assert (refused["type"], refused["state"]) == ("/problems/wrong-state", "not locked")


async def test_changes_are_undone_one_after_the_other(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await correct(ann, item, "total", "1.00")
    await correct(ann, item, "total", "2.00")
    body = {"token": await ann.claim(item["review_id"])}
    values = []
    for _ in range(2):
        shown = await ann.post(f"/documents/{item['document_id']}/undo", body)
        values.append(field_of(shown, "total")["value"])
    assert values == ["1.00", "119.00"]
    refused = await ann.refused("POST", f"/documents/{item['document_id']}/undo", 409, json=body)
    assert refused["type"] == "/problems/nothing-to-take-back"
    changes = (await ann.get(f"/documents/{item['document_id']}/changes"))["changes"]
    assert [(each["value"], each["read_value"], each["undone_at"] is None) for each in changes] == [
        ("1.00", "119.00", False),
        ("2.00", "1.00", False),
    ]


async def test_an_undone_unlock_locks_again(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await correct(ann, item, "total", "1.00")
    token = await ann.claim(item["review_id"])
    await ann.ask("DELETE", f"/documents/{item['document_id']}/fields/total", params={"token": token})
    shown = await ann.post(f"/documents/{item['document_id']}/undo", {"token": token})
    assert field_of(shown, "total")["value"] == "1.00"


async def test_a_person_cannot_undo_another_persons_change(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await correct(ann, item, "total", "1.00")
    await service.app.db.execute("UPDATE reviews SET claimed_until = NULL WHERE review_id = $1", item["review_id"])
    bob = ann.named("bob")
    body = {"token": await bob.claim(item["review_id"])}
    refused = await bob.refused("POST", f"/documents/{item['document_id']}/undo", 409, json=body)
    assert refused["type"] == "/problems/nothing-to-take-back"


async def test_an_iban_that_is_printed_with_wrong_check_digits_is_recorded_with_a_warning(
    service: Service, ann: Reviewer
) -> None:
    item = await waiting(service, ann)
    after = await correct(ann, item, "iban", "DE03 1203 0000 0000 2020 51", why="so it is printed")
    assert field_of(after, "iban")["value"] == "DE03120300000000202051"
    assert ("iban_checksum", "warning") in [(each["code"], each["severity"]) for each in after["problems"]]
    listed = {"items": [{"review_id": item["review_id"], "digest": after["digest"]}]}
    [outcome] = (await ann.post("/reviews/approve", listed))["items"]
    assert not outcome["approved"]
    assert "check digits" in outcome["why"]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("total", "1.234,50", "a decimal such as"),
        ("date", "31.12.2026", "a date such as"),
        ("iban", "DE00", "an IBAN such as"),
        ("colour", "red", "expected one of document_type"),
        ("line_items", "[1]", "line items as a JSON list"),
    ],
)
async def test_a_value_that_the_field_cannot_have_is_refused(
    service: Service, ann: Reviewer, name: str, value: str, expected: str
) -> None:
    item = await waiting(service, ann)
    body = {"value": value, "token": await ann.claim(item["review_id"])}
    refused = await ann.refused("PUT", f"/documents/{item['document_id']}/fields/{name}", 422, json=body)
    assert expected in refused["problems"][0]["message"]
    assert (await ann.get(f"/documents/{item['document_id']}/changes"))["changes"] == []


async def test_a_correction_without_a_claim_that_holds_is_refused(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    old = await ann.claim(item["review_id"])
    await ann.claim(item["review_id"])
    path = f"/documents/{item['document_id']}/fields/total"
    late = await ann.refused("PUT", path, 409, json={"value": "1", "token": old})
    assert late["type"] == "/problems/claim-lost"
    assert field_of(await ann.get(f"/documents/{item['document_id']}/fields"), "total")["value"] == "119.00"


async def test_a_decided_document_is_corrected_after_it_was_reopened(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    verdict = await ann.verdict(item)
    await ann.post(f"/reviews/{item['review_id']}/approve", verdict)
    path = f"/documents/{item['document_id']}/fields/total"
    refused = await ann.refused("PUT", path, 409, json={"value": "1", "token": verdict["token"]})
    assert (refused["type"], refused["state"]) == ("/problems/wrong-state", "approved")
    await ann.post(f"/reviews/{item['review_id']}/reopen", {"why": "typo"})
    assert field_of(await correct(ann, item, "total", "118.00"), "total")["value"] == "118.00"


async def test_everything_is_in_the_audit(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await correct(ann, item, "total", "1.00", why="so it says")
    events = (await ann.get(f"/reviews/{item['review_id']}/audit"))["events"]
    assert [event["act"] for event in events] == ["claimed", "corrected"]
    assert events[1]["detail"] == {
        "field": "total",
        "value": "1.00",
        "was": "119.00",
        "source": "xml",
        "why": "so it says",
    }
    assert (events[1]["actor"], events[1]["document_id"]) == ("ann", item["document_id"])


@pytest.mark.parametrize(
    ("method", "path", "request_"),
    [
        ("GET", "fields", {}),
        ("GET", "changes", {}),
        ("PUT", "fields/total", {"json": {"value": "1", "token": 1}}),
        ("DELETE", "fields/total", {"params": {"token": 1}}),
        ("POST", "undo", {"json": {"token": 1}}),
    ],
)
async def test_another_tenants_document_is_not_found(
    service: Service, ann: Reviewer, method: str, path: str, request_: dict[str, Any]
) -> None:
    item = await waiting(service, ann)
    stranger = reviewer(service)
    for document_id in (item["document_id"], "doc_1", "doc_" + "0" * 26):
        await stranger.refused(method, f"/documents/{document_id}/{path}", 404, **request_)
