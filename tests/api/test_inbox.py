"""What the inbox does with documents: failed ones sent again or dismissed, and many approved after a preview."""

from decimal import Decimal

import pytest

from docrail.dag.values.json_values import Json
from docrail.services.intake.service import note_ended_documents
from docrail.services.reviews import bulk
from tests.api.customer import unique
from tests.api.invoices import e_invoice
from tests.api.reviewing import OTHER_IBAN, Reviewer, reading, reviewer, said, waiting
from tests.api.service import Service
from tests.api.test_review_decisions import large, limited, vendor
from tests.stack import eventually

__all__ = ["limited"]


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service)


@pytest.fixture
def clerk(service: Service) -> Reviewer:
    """A person of the tenant whose documents a worker reads."""
    return reviewer(service, "default")


async def row_of(who: Reviewer, document_id: str) -> Json:
    page = await who.get("/documents", limit=500)
    [row] = [each for each in page["documents"] if each["document_id"] == document_id]
    return row


async def status_of(who: Reviewer, document_id: str, status: str) -> Json:
    """Wait until the document has the status; return its row."""

    async def has_it() -> bool:
        return bool((await row_of(who, document_id))["status"] == status)

    await eventually(has_it, f"{document_id} to be {status}")
    return await row_of(who, document_id)


async def sent(who: Reviewer, name: str, data: bytes, **fields: str) -> Json:
    response = await who.http.post("/v1/documents", files={"file": (name, data)}, data=fields)
    assert response.status_code == 202, response.text
    return response.json()


def actions_of(row: Json) -> dict[str, str | None]:
    """Return why the caller may not take each action; None if it may."""
    assert all(each["allowed"] is (each["reason"] is None) for each in row["actions"])
    return {each["name"]: each["reason"] for each in row["actions"]}


async def unreadable(who: Reviewer) -> str:
    """Upload a document that no reader can open; return its id once that is known."""
    document_id: str = (await sent(who, "broken.pdf", b"%PDF-1.7 " + unique("x").encode()))["document_id"]
    await status_of(who, document_id, "failed")
    return document_id


async def test_a_document_is_reading_until_it_waits_for_a_person(service: Service, clerk: Reviewer) -> None:
    document = await sent(clerk, "müller <b>.xml", e_invoice(unique("E")))
    row = await status_of(clerk, document["document_id"], "attention")
    assert (row["file_name"], row["vendor_name"], row["total"]) == ("müller <b>.xml", "Muster GmbH", "119.00")
    assert row["run_id"] == document["run_id"]
    review = await clerk.get(f"/reviews/{row['review_id']}")
    assert (review["file_name"], review["document_id"]) == ("müller <b>.xml", row["document_id"])
    runs = (await service.http.get("/v1/runs", params={"document": document["document_id"]})).json()["runs"]
    assert {run["file_name"] for run in runs} <= {"müller <b>.xml"}


async def test_a_document_about_which_no_one_is_asked_is_completed_with_its_run(
    service: Service, clerk: Reviewer
) -> None:
    definition: dict[str, Json] = {
        "id": unique("straight"),
        "inputs": {"document_id": {"type": "string", "required": True}},
        "steps": [{"id": "note", "handler": "echo", "config": {"value": 1}}],
    }
    assert (await service.http.post("/v1/definitions", json={"definition": definition})).status_code == 201
    document = await sent(clerk, "a.xml", e_invoice(unique("E")), definition=str(definition["id"]))
    await service.closed(document["run_id"])

    async def is_completed() -> bool:
        await note_ended_documents(service.app, older_than_seconds=0)
        return bool((await row_of(clerk, document["document_id"]))["status"] == "completed")

    await eventually(is_completed, "the document to be completed")


async def test_a_duplicate_is_named_by_its_upload_and_its_row(service: Service, clerk: Reviewer) -> None:
    data = e_invoice(unique("E"))
    first, second = await sent(clerk, "a.xml", data), await sent(clerk, "b.xml", data)
    assert (first["duplicate_of"], second["duplicate_of"]) == (None, first["document_id"])
    row = await row_of(clerk, second["document_id"])
    assert (row["duplicate_of"], row["look_alike_of"]) == (first["document_id"], first["document_id"])


async def test_a_failed_document_shows_why_and_is_sent_again(service: Service, clerk: Reviewer) -> None:
    document_id = await unreadable(clerk)
    row = await row_of(clerk, document_id)
    letters = (await service.http.get("/v1/dead-letters", params={"limit": 500})).json()["letters"]
    [letter] = [each for each in letters if each["document_id"] == document_id]
    assert (letter["file_name"], letter["error_message"]) == ("broken.pdf", row["reason"])
    again = await clerk.post(f"/documents/{document_id}/send-again")
    assert again["status"] in ("reading", "failed")
    actions = (await service.http.get(f"/v1/dead-letters/{letter['run_id']}/{letter['step_id']}")).json()["actions"]
    assert [each["details"]["reason"] for each in actions] == ["sent again"]
    await status_of(clerk, document_id, "failed")  # its bytes are the same


async def test_a_dismissed_document_leaves_the_failed_ones_and_can_be_read_again(
    service: Service, clerk: Reviewer
) -> None:
    document_id = await unreadable(clerk)
    assert actions_of(await row_of(clerk, document_id)) == {"send-again": None, "dismiss": None}
    shown = await clerk.post(f"/documents/{document_id}/dismiss", {"reason": "an advertisement"})
    assert shown["status"] == "dismissed"
    assert actions_of(shown) == {"send-again": None, "dismiss": "the document is dismissed"}
    refused = await clerk.refused("POST", f"/documents/{document_id}/dismiss", 409)
    assert refused["detail"] == "cannot dismiss the document: the document is dismissed"
    assert (await clerk.post(f"/documents/{document_id}/send-again"))["document_id"] == document_id
    await status_of(clerk, document_id, "failed")


async def test_dismissing_a_document_whose_run_waits_aborts_the_run(service: Service, clerk: Reviewer) -> None:
    definition: dict[str, Json] = {
        "id": unique("parks"),
        "inputs": {"document_id": {"type": "string", "required": True}},
        "on_failure": "park",
        "steps": [{"id": "bad", "handler": "fail", "config": {"times": 9}, "max_retries": 0}],
    }
    assert (await service.http.post("/v1/definitions", json={"definition": definition})).status_code == 201
    document = await sent(clerk, "a.xml", e_invoice(unique("E")), definition=str(definition["id"]))
    await status_of(clerk, document["document_id"], "failed")
    shown = await clerk.post(f"/documents/{document['document_id']}/dismiss")
    assert shown["status"] == "dismissed"
    assert (await service.closed(document["run_id"]))["status"] == "aborted"


async def test_a_document_that_waits_for_a_person_is_not_sent_again(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    for act, words in (("send-again", "send the document again"), ("dismiss", "dismiss the document")):
        refused = await ann.refused("POST", f"/documents/{item['document_id']}/{act}", 409)
        assert refused["detail"].startswith(f"cannot {words}: the document is attention")
    stranger = reviewer(service)
    await stranger.refused("POST", f"/documents/{item['document_id']}/send-again", 404)


@pytest.mark.usefixtures("limited")
async def test_a_preview_says_what_would_be_approved_and_why_the_rest_stays(service: Service, ann: Reviewer) -> None:
    good = [await waiting(service, ann, reading(**vendor(f"Vendor {name}"))) for name in "ab"]
    swiss = await waiting(service, ann, reading(currency=said("CHF"), **vendor("Vendor c")))
    wrong = await waiting(service, ann, reading(net=said(Decimal("1.00")), **vendor("Other Ltd")))
    much = await waiting(service, ann, large())
    taken = await waiting(service, ann, reading(**vendor("Third Ltd", said(OTHER_IBAN))))
    await ann.named("bob").claim(taken["review_id"])
    items = [*good, swiss, wrong, much, taken]
    review_ids = [item["review_id"] for item in items]
    preview = await ann.post("/reviews/approve/preview", {"review_ids": [*review_ids, "rev_" + "0" * 26]})
    assert [item["approved"] for item in preview["items"]] == [True, True, True, False, False, False, False]
    whys = [item["why"] or "" for item in preview["items"][3:]]
    expected = ("Net 1.00", "above 1000", "bob has claimed this item", "there is no review item")
    assert all(part in why for part, why in zip(expected, whys, strict=True)), whys
    codes = [[reason["code"] for reason in item["reasons"]] for item in preview["items"]]
    assert ("totals_disagree" in codes[3], codes[4], codes[5:]) == (True, ["total_above_limit"], [[], []])
    assert (preview["approved"], preview["matching"]) == (3, 7)
    sums = {each["currency"]: (each["documents"], each["total"]) for each in preview["sums"]}
    assert sums == {"EUR": (2, "238.00"), "CHF": (1, "119.00")}
    assert preview["items"][0]["file_name"] == "invoice.pdf"
    assert {(await ann.get(f"/reviews/{each}"))["status"] for each in review_ids} == {"open"}


async def test_what_was_previewed_is_approved_and_what_changed_stays_open(service: Service, ann: Reviewer) -> None:
    same, changed, decided = [await waiting(service, ann, reading(**vendor(f"Vendor {name}"))) for name in "abc"]
    preview = await ann.post("/reviews/approve/preview", {"matching": {"text": "vendor"}})
    assert (preview["approved"], preview["matching"]) == (3, 3)
    body = {"value": "Vendor z", "token": await ann.claim(changed["review_id"])}
    await ann.ask("PUT", f"/documents/{changed['document_id']}/fields/vendor_name", json=body)
    verdict = await ann.verdict(decided, why="not ours")
    await ann.post(f"/reviews/{decided['review_id']}/reject", verdict)
    done = await ann.post("/reviews/approve", {"token": preview["token"]})
    whys = {item["review_id"]: item["why"] for item in done["items"]}
    assert whys[same["review_id"]] is None
    assert "changed since it was shown" in whys[changed["review_id"]]
    assert "already decided" in whys[decided["review_id"]]
    assert done["token"] is None
    assert (await row_of(ann, same["document_id"]))["status"] == "approved"
    assert (await row_of(ann, changed["document_id"]))["status"] == "attention"
    again = await ann.post("/reviews/approve", {"token": preview["token"]})
    assert [item["approved"] for item in again["items"]].count(True) == 1


async def test_more_than_a_hundred_are_approved_in_turns(
    service: Service, ann: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MOST_AT_ONCE", 2)
    items = [await waiting(service, ann, reading(**vendor(f"Vendor {name}"))) for name in "abc"]
    review_ids = [item["review_id"] for item in items]
    preview = await ann.post("/reviews/approve/preview", {"review_ids": [*review_ids, review_ids[0]]})
    assert (preview["approved"], len(preview["items"])) == (3, 3)  # each item once
    first = await ann.post("/reviews/approve", {"token": preview["token"]})
    second = await ann.post("/reviews/approve", {"token": first["token"]})
    assert [item["review_id"] for each in (first, second) for item in each["items"]] == review_ids
    assert (len(first["items"]), second["token"]) == (2, None)


@pytest.mark.parametrize("of", ["another person", "no preview"])
async def test_a_token_of_someone_else_or_of_nothing_is_refused(service: Service, ann: Reviewer, of: str) -> None:
    item = await waiting(service, ann)
    preview = await ann.post("/reviews/approve/preview", {"review_ids": [item["review_id"]]})
    token = preview["token"] if of == "another person" else "bm90aGluZw=="
    refused = await ann.named("bob").refused("POST", "/reviews/approve", 422, json={"token": token})
    assert refused["problems"][0]["path"] == "token"
    assert (await row_of(ann, item["document_id"]))["status"] == "attention"


async def test_a_preview_of_one_tenant_has_nothing_of_another(service: Service, ann: Reviewer) -> None:
    item, stranger = await waiting(service, ann), reviewer(service)
    known = await stranger.post("/reviews/approve/preview", {"review_ids": [item["review_id"]]})
    [shown] = known["items"]
    assert (shown["document_id"], shown["file_name"], known["token"]) == (None, None, None)
    everything = await stranger.post("/reviews/approve/preview", {"matching": {}})
    assert (everything["items"], everything["matching"]) == ([], 0)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/reviews/approve", {}),
        ("/reviews/approve", {"token": "x", "items": [{"review_id": "rev_1", "digest": "0" * 64}]}),
        ("/reviews/approve/preview", {}),
        ("/reviews/approve/preview", {"review_ids": ["rev_1"], "matching": {}}),
        ("/reviews/approve/preview", {"review_ids": ["rev_1"] * 501}),
    ],
)
async def test_a_bulk_approval_names_its_items_in_one_way(ann: Reviewer, path: str, body: Json) -> None:
    assert (await ann.refused("POST", path, 422, json=body))["type"] == "/problems/invalid-input"
