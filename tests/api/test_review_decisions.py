import asyncio
import dataclasses
import datetime as dt
from collections.abc import AsyncIterator
from decimal import Decimal

import pytest

from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.review_summary import shown_digest
from docrail.invoices.facts import Source
from docrail.invoices.model import FieldValue, InvoiceData
from docrail.services.documents.models import reading_version
from docrail.services.documents.repository.readings import save_extraction
from docrail.services.reviews.standing import load_state
from tests.api.reviewing import IBAN, OTHER_IBAN, Reviewer, reading, reviewer, said, waiting
from tests.api.service import Service
from tests.vendors import load_vendor

NOTHING: FieldValue[str] = FieldValue()


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service)


@pytest.fixture
async def limited(service: Service) -> AsyncIterator[None]:
    """Require two approvals above 1000."""
    app = service.api.state.app
    service.api.state.app = dataclasses.replace(app, four_eyes_above=Decimal(1000))
    yield
    service.api.state.app = app


async def decide(who: Reviewer, item: Json, act: str = "approve", **more: Json) -> Json:
    return await who.post(f"/reviews/{item['review_id']}/{act}", await who.verdict(item, **more))


async def test_an_approved_item_leaves_the_queue(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    outcome = await decide(ann, item)
    assert (outcome["review"]["status"], outcome["review"]["decided_by"]) == ("approved", "ann")
    assert (outcome["needs_second"], outcome["runs_answered"]) == ([], True)
    assert (await ann.get("/reviews"))["reviews"] == []
    assert (await ann.get(f"/reviews/{item['review_id']}"))["decision"] == {"approved": True, "reason": ""}


async def test_an_approval_teaches_about_the_vendor(service: Service, ann: Reviewer) -> None:
    await decide(ann, await waiting(service, ann))
    memory = await load_vendor(service.app.db, ann.tenant, [f"iban:{IBAN}"])
    assert memory
    assert (memory.approvals, memory.usual("vendor_name")) == (1, "Muster GmbH")


async def test_a_correction_is_applied_to_the_same_misreading_next_time(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, reading(vendor_name=said("Mustr GmbH", Source.OCR_LABEL)))
    body = {"value": "Muster GmbH", "token": await ann.claim(item["review_id"])}
    await ann.ask("PUT", f"/documents/{item['document_id']}/fields/vendor_name", json=body)
    await decide(ann, item)
    again = await waiting(service, ann, reading(vendor_name=said("Mustr GmbH", Source.OCR_LABEL)))
    shown = await ann.get(f"/documents/{again['document_id']}/fields")
    name = next(field for field in shown["fields"] if field["name"] == "vendor_name")
    assert (name["value"], name["source"], name["lock"]) == ("Muster GmbH", "vendor", None)
    assert [(each["value"], each["source"]) for each in name["candidates"]] == [
        ("Muster GmbH", "vendor"),
        ("Mustr GmbH", "ocr_label"),
    ]
    assert "as_vendor_history" in name["evidence"]
    assert again["summary"]["vendor"] == "Muster GmbH"
    surer = await waiting(service, ann, reading(vendor_name=said("Mustr GmbH", Source.XML)))  # so it is written
    assert surer["summary"]["vendor"] == "Mustr GmbH"


async def test_a_rejection_has_a_reason_and_teaches_nothing(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    verdict = await ann.verdict(item, why=" ")
    refused = await ann.refused("POST", f"/reviews/{item['review_id']}/reject", 422, json=verdict)
    assert refused["problems"][0]["path"] == "why"
    outcome = await decide(ann, item, "reject", why="not ours")
    assert outcome["review"]["status"] == "rejected"
    assert await load_vendor(service.app.db, ann.tenant, [f"iban:{IBAN}"]) is None


async def test_a_decision_without_a_claim_is_refused(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    verdict = await ann.verdict(item)
    bob = ann.named("bob")
    refused = await bob.refused("POST", f"/reviews/{item['review_id']}/approve", 409, json=verdict)
    assert (refused["type"], refused["claimed_by"]) == ("/problems/claim-lost", "ann")


async def test_a_decision_on_what_has_changed_is_refused(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    verdict = await ann.verdict(item)
    value = {"value": "120.00", "token": verdict["token"]}
    changed = await ann.ask("PUT", f"/documents/{item['document_id']}/fields/total", json=value)
    refused = await ann.refused("POST", f"/reviews/{item['review_id']}/approve", 409, json=verdict)
    assert (refused["type"], refused["digest"]) == ("/problems/decision-outdated", changed.json()["digest"])


async def test_a_reading_that_comes_in_between_makes_a_decision_outdated(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    verdict = await ann.verdict(item)
    sha256 = (await ann.get(f"/documents/{item['document_id']}"))["sha256"]
    anew = reading(total=said(Decimal("999.00"))).for_document("").model_dump_json()
    await service.app.db.execute(
        "UPDATE processed_documents SET data = $3::text::jsonb WHERE tenant_id = $1 AND sha256 = $2",
        *(ann.tenant, sha256, anew),
    )
    refused = await ann.refused("POST", f"/reviews/{item['review_id']}/approve", 409, json=verdict)
    assert refused["type"] == "/problems/decision-outdated"


async def test_of_two_who_decide_at_once_one_counts(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    verdict = await ann.verdict(item, why="seen")
    paths = [f"/reviews/{item['review_id']}/{act}" for act in ("approve", "reject") * 4]
    answers = await asyncio.gather(*(ann.ask("POST", path, json=verdict) for path in paths))
    winners = [answer.json()["review"] for answer in answers if answer.status_code == 200]
    assert [winner["status"] for winner in winners] == [winners[0]["status"]] * 4  # each repeats the same decision
    winner, late = winners[0], [answer.json() for answer in answers if answer.status_code != 200]
    assert {each["type"] for each in late} == {"/problems/already-decided"}
    assert {(each["decided_by"], each["decision"]["approved"]) for each in late} == {
        ("ann", winner["status"] == "approved")
    }
    acts = [event["act"] for event in (await ann.get(f"/reviews/{item['review_id']}/audit"))["events"]]
    assert acts == ["claimed", winner["status"]]


async def test_broken_rules_take_a_reason_to_approve(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, reading(total=said(Decimal("200.00"))))
    verdict = await ann.verdict(item)
    refused = await ann.refused("POST", f"/reviews/{item['review_id']}/approve", 422, json=verdict)
    assert "totals_disagree" in refused["problems"][0]["message"]
    outcome = await decide(ann, item, why="a deposit is in it")
    assert outcome["review"]["status"] == "approved"


async def test_a_decided_item_can_be_reopened(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await decide(ann, item)
    blank = await ann.refused("POST", f"/reviews/{item['review_id']}/reopen", 422, json={"why": " \n"})
    assert blank["problems"][0]["path"] == "why"
    reopened = await ann.post(f"/reviews/{item['review_id']}/reopen", {"why": "paid twice"})
    assert (reopened["status"], reopened["decided_by"]) == ("open", None)
    refused = await ann.refused("POST", f"/reviews/{item['review_id']}/reopen", 409, json={"why": "again"})
    assert refused["type"] == "/problems/wrong-state"
    assert (await decide(ann, item, "reject", why="paid twice"))["review"]["status"] == "rejected"


async def test_an_approval_that_was_taken_back_teaches_nothing(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await decide(ann, item)
    await ann.post(f"/reviews/{item['review_id']}/reopen", {"why": "a mistake"})
    assert await load_vendor(service.app.db, ann.tenant, [f"iban:{IBAN}"]) is None
    outcomes = "SELECT count(*) FROM field_outcomes WHERE tenant_id = $1"
    assert await service.app.db.fetchval(outcomes, ann.tenant) == 0
    await decide(ann, item)
    memory = await load_vendor(service.app.db, ann.tenant, [f"iban:{IBAN}"])
    assert memory
    assert memory.approvals == 1


async def test_an_approved_document_stays_as_approved_until_it_is_reopened(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await decide(ann, item)
    path = f"/documents/{item['document_id']}"
    shown = await ann.get(f"{path}/fields")
    anew = reading(total=said(Decimal("999.00")), iban=said(OTHER_IBAN))
    sha256 = (await ann.get(path))["sha256"]
    await save_extraction(service.app.db, ann.tenant, sha256, reading_version(fresh_run_id="later"), anew)
    await decide(ann, await waiting(service, ann))  # it teaches about the vendor
    assert await ann.get(f"{path}/fields") == shown
    today = dt.datetime.now(dt.UTC).date()
    saved = (await load_state(service.app.db, ann.tenant, item["document_id"], today=today)).invoice
    assert (saved.total.value, shown_digest(saved)) == (Decimal("119.00"), shown["digest"])
    await ann.post(f"/reviews/{item['review_id']}/reopen", {"why": "another reading"})
    reopened = (await load_state(service.app.db, ann.tenant, item["document_id"], today=today)).invoice
    assert reopened.total.value == Decimal("999.00")


async def test_the_list_of_documents_shows_a_decision_until_it_is_reopened(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    shown = [(await ann.get("/documents"))["documents"][0]["status"]]
    await decide(ann, item)
    shown.append((await ann.get("/documents"))["documents"][0]["status"])
    await ann.post(f"/reviews/{item['review_id']}/reopen", {"why": "another reading"})
    shown.append((await ann.get("/documents"))["documents"][0]["status"])
    assert shown == ["attention", "approved", "attention"]


@pytest.mark.usefixtures("limited")
async def test_above_the_limit_two_people_approve(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, large())
    first = await decide(ann, item)
    assert "above 1000" in first["needs_second"][0]["message"]
    assert (first["review"]["status"], first["review"]["first_approved_by"]) == ("open", "ann")
    second = await decide(ann.named("bob"), item)
    assert (second["review"]["status"], second["review"]["decided_by"]) == ("approved", "bob")
    events = (await ann.get(f"/reviews/{item['review_id']}/audit"))["events"]
    assert events[-1]["detail"]["first_approved_by"] == "ann"


@pytest.mark.usefixtures("limited")
async def test_the_second_approval_is_not_handed_to_the_first_person(service: Service, ann: Reviewer) -> None:
    await decide(ann, await waiting(service, ann, large()))
    assert (await ann.post("/reviews/next"))["claim"] is None
    assert (await ann.named("bob").post("/reviews/next"))["claim"]


@pytest.mark.usefixtures("limited")
async def test_the_first_person_cannot_claim_the_item_again(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, large())
    await decide(ann, item)
    refused = await ann.refused("POST", f"/reviews/{item['review_id']}/claim", 403)
    assert (refused["type"], "ann approved it first" in refused["detail"]) == ("/problems/may-not-decide", True)


@pytest.mark.usefixtures("limited")
async def test_an_item_that_needs_two_approvals_shows_it_from_the_start(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, large())
    assert (item["approvals_needed"], item["approvals_missing"]) == (2, 2)
    [listed] = (await ann.get("/reviews"))["reviews"]
    assert (listed["approvals_needed"], listed["approvals_missing"]) == (2, 2)
    assert (await decide(ann, item))["review"]["approvals_missing"] == 1
    decided = (await decide(ann.named("bob"), item))["review"]
    assert (decided["approvals_needed"], decided["approvals_missing"]) == (2, 0)


@pytest.mark.usefixtures("limited")
async def test_a_corrected_total_changes_how_many_must_approve(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    assert item["approvals_needed"] == 1
    body = {"value": "119000.00", "token": await ann.claim(item["review_id"])}
    await ann.ask("PUT", f"/documents/{item['document_id']}/fields/total", json=body)
    assert (await ann.get(f"/reviews/{item['review_id']}"))["approvals_needed"] == 2


@pytest.mark.parametrize("act", ["approve", "reject"])
async def test_a_repeated_decision_gives_the_same_answer(service: Service, ann: Reviewer, act: str) -> None:
    item = await waiting(service, ann)
    verdict, path = await ann.verdict(item, why="seen"), f"/reviews/{item['review_id']}/{act}"
    first = await ann.post(path, verdict)
    assert await ann.post(path, verdict) == first
    acts = [event["act"] for event in (await ann.get(f"/reviews/{item['review_id']}/audit"))["events"]]
    assert acts == ["claimed", first["review"]["status"]]
    for who, other in ((ann.named("bob"), verdict), (ann, {**verdict, "why": "changed my mind"})):
        late = await who.refused("POST", path, 409, json=other)
        assert (late["type"], late["decided_by"]) == ("/problems/already-decided", "ann")


def timeless(outcome: Json) -> Json:
    """Return an outcome without the priority of its open item, which rises with time."""
    review = {name: value for name, value in outcome["review"].items() if name not in ("priority", "parts")}
    return outcome | {"review": review}


@pytest.mark.usefixtures("limited")
async def test_a_repeated_first_approval_gives_the_same_answer(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, large())
    verdict, path = await ann.verdict(item), f"/reviews/{item['review_id']}/approve"
    first = await ann.post(path, verdict)
    assert timeless(await ann.post(path, verdict)) == timeless(first)
    bob = ann.named("bob")
    token = await bob.claim(item["review_id"])
    again = await ann.post(path, verdict)
    assert (again["needs_second"], again["review"]["status"]) == (first["needs_second"], "open")
    assert again["review"]["claimed_by"] == "bob"
    outcome = await bob.post(path, {**verdict, "token": token})
    assert outcome["review"]["status"] == "approved"
    acts = [event["act"] for event in (await ann.get(f"/reviews/{item['review_id']}/audit"))["events"]]
    assert acts == ["claimed", "approved_first", "claimed", "approved"]


@pytest.mark.usefixtures("limited")
async def test_a_first_approval_is_void_once_a_field_has_changed(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, large())
    await decide(ann, item)
    bob = ann.named("bob")
    body = {"value": "R-77", "token": await bob.claim(item["review_id"])}
    await bob.ask("PUT", f"/documents/{item['document_id']}/fields/invoice_number", json=body)
    outcome = await decide(bob, item)
    assert (outcome["review"]["status"], outcome["review"]["first_approved_by"]) == ("open", "bob")
    assert (await decide(ann, item))["review"]["status"] == "approved"


@pytest.mark.usefixtures("limited")
async def test_a_void_first_approval_counts_for_no_one(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, large())
    await decide(ann, item)
    bob, path = ann.named("bob"), f"/reviews/{item['review_id']}"
    token = await bob.claim(item["review_id"])
    for name, value in (("net", "100.00"), ("tax", "19.00"), ("total", "119.00")):
        body = {"value": value, "token": token}
        await bob.ask("PUT", f"/documents/{item['document_id']}/fields/{name}", json=body)
    shown = await bob.get(path)
    assert (shown["first_approved_by"], shown["decided_so_far"], shown["approvals_needed"]) == (None, [], 1)
    await bob.post(f"{path}/release", {"token": token})
    assert (await ann.post("/reviews/next"))["claim"]["review"]["review_id"] == item["review_id"]
    assert (await decide(ann, item))["review"]["decided_by"] == "ann"
    assert (await ann.get(f"{path}/audit"))["events"][-1]["detail"]["first_approved_by"] is None


async def test_a_changed_iban_takes_two_people(service: Service, ann: Reviewer) -> None:
    await decide(ann, await waiting(service, ann))
    item = await waiting(service, ann, reading(iban=said(OTHER_IBAN)))
    outcome = await decide(ann, item, why="they called")
    assert "the IBAN differs from the one" in outcome["needs_second"][0]["message"]
    outcome = await decide(ann.named("bob"), item, why="I asked them too")
    assert outcome["review"]["status"] == "approved"


async def test_the_first_account_of_a_known_vendor_takes_two_people(service: Service, ann: Reviewer) -> None:
    await decide(ann, await waiting(service, ann, reading(iban=NOTHING)))
    item = await waiting(service, ann)
    assert "has not been approved yet" in (await decide(ann, item, why="as on the page"))["needs_second"][0]["message"]
    assert (await decide(ann.named("bob"), item, why="so it is"))["review"]["status"] == "approved"
    assert (await decide(ann, await waiting(service, ann), why="again"))["needs_second"] == []


async def test_an_iban_that_a_person_entered_takes_two_approvals(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, reading(iban=FieldValue()))
    body = {"value": OTHER_IBAN, "token": await ann.claim(item["review_id"])}
    await ann.ask("PUT", f"/documents/{item['document_id']}/fields/iban", json=body)
    assert "ann entered it" in (await decide(ann, item))["needs_second"][0]["message"]


async def test_many_are_approved_at_once_where_nothing_is_wrong(service: Service, ann: Reviewer) -> None:
    good = await waiting(service, ann)
    wrong = await waiting(service, ann, reading(net=said(Decimal("1.00")), **vendor("Other Ltd")))
    taken = await waiting(service, ann, reading(**vendor("Third Ltd", said(OTHER_IBAN))))
    await ann.named("bob").claim(taken["review_id"])
    items = [{"review_id": item["review_id"], "digest": item["digest"]} for item in (good, wrong, taken)]
    outdated = {"review_id": good["review_id"], "digest": "0" * 64}
    others = await waiting(service, reviewer(service))
    missing = [{"review_id": id_, "digest": others["digest"]} for id_ in ("rev_" + "0" * 26, others["review_id"])]
    done = (await ann.post("/reviews/approve", {"items": [outdated, *items, *missing, items[0]]}))["items"]
    assert [outcome["approved"] for outcome in done] == [False, True, False, False, False, False, True]
    whys = [(outcome["why"] or "").replace(outcome["review_id"], "ID") for outcome in done]
    assert whys[4] == whys[5]  # another tenant's is as unknown as one that there is not
    expected = ("changed since", "", "Net 1.00", "bob has claimed this item", "there is no review item", whys[5], "")
    assert all(part in why for part, why in zip(expected, whys, strict=True)), whys
    assert (await ann.get(f"/reviews/{wrong['review_id']}"))["status"] == "open"


async def test_of_one_who_decides_and_others_who_approve_many_at_once_one_counts(
    service: Service, ann: Reviewer
) -> None:
    """The claim excludes others while it is valid, and the decision afterwards."""
    for round_ in range(4):
        misread = reading(**vendor(f"Vendor {'abcd'[round_]}"))
        item = await waiting(service, ann, misread)
        verdict = await ann.verdict(item, why="not ours")
        if round_ % 2:
            await release(service, item)  # the lease is over
        body = {"items": [{"review_id": item["review_id"], "digest": item["digest"]}]}
        many = [ann.named(name).ask("POST", "/reviews/approve", json=body) for name in ("bob", "cat")]
        own, *bulk = await asyncio.gather(ann.ask("POST", f"/reviews/{item['review_id']}/reject", json=verdict), *many)
        approved = [answer.json()["items"][0]["approved"] for answer in bulk]
        assert [own.status_code == 200, *approved].count(True) == 1
        acts = [event["act"] for event in (await ann.get(f"/reviews/{item['review_id']}/audit"))["events"]]
        assert acts == ["claimed", "approved" if round_ % 2 else "rejected"]


@pytest.mark.usefixtures("limited")
async def test_a_bulk_approval_is_no_way_around_the_second_person(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann, large())
    body = {"items": [{"review_id": item["review_id"], "digest": item["digest"]}]}
    [outcome] = (await ann.post("/reviews/approve", body))["items"]
    assert (outcome["approved"], "above 1000" in outcome["why"]) == (False, True)
    assert (await ann.get(f"/reviews/{item['review_id']}"))["first_approved_by"] is None


async def test_too_many_at_once_are_refused(ann: Reviewer) -> None:
    body = {"items": [{"review_id": "rev_1", "digest": "0" * 64}] * 101}
    assert (await ann.refused("POST", "/reviews/approve", 422, json=body))["type"] == "/problems/invalid-input"


@pytest.mark.parametrize("act", ["approve", "reject", "reopen"])
async def test_another_tenants_item_is_not_decided(service: Service, ann: Reviewer, act: str) -> None:
    item = await waiting(service, ann)
    verdict = await ann.verdict(item, why="ours now")
    body = {"why": "ours now"} if act == "reopen" else verdict
    stranger, unknown = reviewer(service), "rev_" + "0" * 26
    answers = [
        str(await stranger.refused("POST", f"/reviews/{id_}/{act}", 404, json=body)).replace(id_, "ID")
        for id_ in (item["review_id"], unknown)
    ]
    assert answers[0] == answers[1]
    assert (await ann.get(f"/reviews/{item['review_id']}"))["status"] == "open"
    assert (await stranger.ask("GET", f"/reviews/{item['review_id']}/audit")).status_code == 404


def vendor(name: str, iban: FieldValue[str] = NOTHING) -> dict[str, FieldValue[str]]:
    return {"vendor_name": said(name), "iban": iban}


def large() -> InvoiceData:
    totals = {"net": Decimal("10000.00"), "tax": Decimal("1900.00"), "total": Decimal("11900.00")}
    invoice = reading(**{name: said(value) for name, value in totals.items()})
    return invoice.model_copy(update={"line_items": ()})


async def release(service: Service, item: Json) -> None:
    await service.app.db.execute("UPDATE reviews SET claimed_until = NULL WHERE review_id = $1", item["review_id"])
