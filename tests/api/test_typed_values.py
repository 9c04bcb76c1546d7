"""A person types values, edits line items by row, and sees an item with all that a decision needs."""

from decimal import Decimal
from typing import Any

import pytest

from docrail.dag.values.json_values import Json
from docrail.invoices.model import FieldValue
from tests.api.reviewing import Reviewer, reading, reviewer, said, waiting
from tests.api.service import Service
from tests.api.test_corrections import field_of


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service)


async def typed(who: Reviewer, item: Json, field: str, text: str, status: int = 200, **more: Any) -> Json:
    body = {"text": text, "token": await who.claim(item["review_id"]), **more}
    response = await who.ask("PUT", f"/documents/{item['document_id']}/fields/{field}/text", json=body)
    assert response.status_code == status, response.text
    return response.json()


async def edit(who: Reviewer, item: Json, base: str, *edits: Json, status: int = 200) -> Json:
    body = {"edits": [*edits], "base": base, "token": await who.claim(item["review_id"])}
    response = await who.ask("POST", f"/documents/{item['document_id']}/line-items", json=body)
    assert response.status_code == status, response.text
    return response.json()


async def test_a_value_is_locked_as_it_was_typed_and_what_was_understood_is_shown(
    service: Service, ann: Reviewer
) -> None:
    item = await waiting(service, ann, reading(total=said(Decimal("200.00"))))
    after = await typed(ann, item, "total", "119,00 €", page=1, box=[0.1, 0.1, 0.2, 0.2])
    total = field_of(after, "total")
    assert (after["understood"], total["value"]) == ({"value": "119.00", "because": None}, "119.00")
    assert (total["lock"]["by"], total["page"], total["box"]) == ("ann", 1, [0.1, 0.1, 0.2, 0.2])
    assert after["problems"] == []
    cleared = await typed(ann, item, "due_date", "")
    assert (field_of(cleared, "due_date")["value"], field_of(cleared, "due_date")["confidence"]) == (None, None)
    assert (await ann.get(f"/documents/{item['document_id']}/fields"))["understood"] is None


async def test_of_two_readings_the_documents_decides_or_the_person_is_asked(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, reading(iban=FieldValue()))
    refused = await typed(ann, item, "total", "1.234", 422)
    assert (refused["type"], refused["readings"]) == ("/problems/ambiguous-value", ["1234", "1.234"])
    assert field_of(await ann.get(f"/documents/{item['document_id']}/fields"), "total")["value"] == "119.00"
    german = await waiting(service, ann)
    decided = await typed(ann, german, "total", "1.234")
    assert (decided["understood"]["value"], decided["understood"]["because"]["code"]) == ("1234", "vendor_country")
    assert (await typed(ann, german, "date", "12.04.2014"))["understood"]["value"] == "2014-04-12"


async def test_what_cannot_be_understood_changes_nothing(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    refused = await typed(ann, item, "total", "viel", 422)
    assert refused["type"] == "/problems/invalid-input"
    assert [(each["path"], each["code"]) for each in refused["problems"]] == [("text", "expected_amount")]
    changes = await ann.get(f"/documents/{item['document_id']}/changes")
    assert changes["changes"] == []


async def test_line_items_are_edited_by_row_and_judged_at_once(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    path = f"/documents/{item['document_id']}"
    before = await ann.get(f"{path}/fields")
    assert (before["lines_total"], before["problems"]) == ("100.00", [])
    after = await edit(
        *(ann, item, before["lines_version"]),
        {"do": "set", "row": 0, "column": "amount", "text": "4.904,95"},
        {"do": "insert", "row": 1},
        {"do": "paste", "row": 1, "column": "description", "text": "Fahrt\t1\t10,00\t10,00\nHotel\t1\t20,00\t20,00"},
    )
    assert [line["description"] for line in after["line_items"]] == ["Beratung", "Fahrt", "Hotel"]
    assert (after["lines_total"], [each["code"] for each in after["problems"]]) == ("4934.95", ["lines_disagree"])
    assert after["locks"]["line_items"]["by"] == "ann"
    body = {"token": await ann.claim(item["review_id"])}
    undone = await ann.post(f"{path}/undo", body)
    assert (undone["lines_version"], undone["problems"]) == (before["lines_version"], [])


async def test_edits_of_other_line_items_are_refused_as_a_whole(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    before = await ann.get(f"/documents/{item['document_id']}/fields")
    version = before["lines_version"]
    insert = {"do": "insert", "row": 1}
    after = await edit(ann, item, version, insert)
    again = await edit(ann, item, version, insert, status=409)
    assert (again["type"], again["lines_version"]) == ("/problems/lines-outdated", after["lines_version"])
    wrong = {"do": "set", "row": 0, "column": "amount", "text": "viel"}
    refused = await edit(ann, item, after["lines_version"], {"do": "delete", "row": 1}, wrong, status=422)
    assert refused["problems"][0]["path"] == "edits.1"
    assert len((await ann.get(f"/documents/{item['document_id']}/fields"))["line_items"]) == 2


async def test_an_item_is_shown_with_all_that_a_decision_needs(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    path = f"/reviews/{item['review_id']}/view"
    shown = await ann.get(path)
    assert shown["fields"]["digest"] == item["digest"]
    assert (shown["document"]["document_id"], shown["page_count"], shown["undoable"]) == (item["document_id"], 0, None)
    assert allowed(shown) == {"claim", "correct", "approve", "reject", "postpone"}
    assert shown["review"]["claimed_by"] is None  # showing it claims nothing
    await typed(ann, item, "total", "118,00")
    changed = await ann.get(path)
    assert (changed["undoable"]["field"], "undo" in allowed(changed)) == ("total", True)


async def test_the_second_person_sees_who_works_on_it_and_may_do_nothing(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await ann.claim(item["review_id"])
    shown = await ann.named("bob").get(f"/reviews/{item['review_id']}/view")
    assert (shown["review"]["claimed_by"], shown["review"]["claimed_until"] > shown["as_of"]) == ("ann", True)
    assert allowed(shown) == set()
    (approve,) = [each for each in shown["actions"] if each["name"] == "approve"]
    assert (approve["problem"], approve["reason"]) == ("claimed-by-other", "ann has claimed it")


async def test_the_need_for_a_second_person_is_shown_before_the_first_approves(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    path = f"/reviews/{item['review_id']}"
    corrected = await typed(ann, item, "iban", "DE89 3704 0044 0532 0130 00")
    assert "no reader found the IBAN" in corrected["needs_second"][0]["message"]
    verdict = {"token": await ann.claim(item["review_id"]), "digest": corrected["digest"]}
    assert (await ann.post(f"{path}/approve", verdict))["needs_second"] == corrected["needs_second"]
    first, second = await ann.get(f"{path}/view"), await ann.named("bob").get(f"{path}/view")
    assert first["review"]["first_approved_by"] == "ann"
    assert {"claim", "approve"} & allowed(first) == set()
    assert {"claim", "approve"} <= allowed(second)


async def test_a_decided_item_may_only_be_reopened(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await ann.post(f"/reviews/{item['review_id']}/approve", await ann.verdict(item))
    assert allowed(await ann.get(f"/reviews/{item['review_id']}/view")) == {"reopen"}


def allowed(shown: Json) -> set[str]:
    return {each["name"] for each in shown["actions"] if each["allowed"]}
