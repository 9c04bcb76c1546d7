"""`docrail run answer` and `docrail review` against a running API and worker, and how answers are typed."""

import datetime as dt
import json
from collections.abc import AsyncIterator
from decimal import Decimal

import asyncpg
import pytest
import typer

from docrail.cli.answer import parse_answer
from docrail.dag.values.json_values import Json
from docrail.invoices.model import FieldValue
from tests.api.customer import open_item, start, unique, until_waiting
from tests.api.invoices import e_invoice
from tests.api.reviewing import OTHER_IBAN, reading, reviewer, said, waiting
from tests.api.service import Service, serve_with_worker, settings_for
from tests.cli.process import Ended, docrail
from tests.postgres import migrated_database
from tests.stack import Servers

FORM = {
    "type": "object",
    "required": ["approved"],
    "properties": {"approved": {"type": "boolean", "title": "Pay it"}, "reference": {"type": "string"}},
}


@pytest.fixture(scope="module")
async def service(embedded: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("reviews"))
        async with serve_with_worker(settings) as served:
            yield served


async def typed(service: Service, *arguments: str) -> Ended:
    return await docrail(*arguments, DOCRAIL_API_URL=str(service.http.base_url))


def run_of(step: dict[str, Json]) -> dict[str, Json]:
    return {"id": unique("typed"), "steps": [step], "outputs": {"answer": "{{ ask }}"}}


async def test_a_question_is_found_shown_and_decided(service: Service) -> None:
    human = {"queue": "payments", "title": "Pay 12?", "form": FORM, "show": {"amount": 12}}
    run_id = await start(service, run_of({"id": "ask", "human": human}))
    item = await open_item(service, run_id=run_id)
    listed = await typed(service, "review", "list", "--queue", "payments")
    assert [line.split()[:4] for line in listed.out.splitlines()[2:]] == [[item["review_id"], "payments", "Pay", "12?"]]
    shown = await typed(service, "review", "show", item["review_id"])
    assert shown.out.splitlines() == [
        "Pay 12?",
        "  step in queue payments, open, due never",
        f"  run {run_id}, step ask",
        "  amount: 12",
        "a decision has:",
        "  approved: boolean, required (Pay it)",
        "  reference: string",
    ]
    refused = await typed(service, "review", "decide", item["review_id"], "approved=maybe")
    assert (refused.code, refused.out) == (1, "")
    assert "decision.approved: " in refused.err
    decided = await typed(service, "review", "decide", item["review_id"], "approved=true", "reference=007")
    assert (decided.code, decided.err) == (0, "")
    assert decided.out.startswith(f"decided ask; {run_id} is ")
    assert (await service.ended(run_id))["outputs"] == {"answer": {"approved": True, "reference": "007"}}
    late = await typed(service, "review", "decide", item["review_id"], "approved=false")
    assert (late.code, late.err) == (
        1,
        "docrail: Already decided: tester has already decided this, and the first decision counts\n",
    )


async def test_a_waiting_step_is_answered(service: Service) -> None:
    run_id = await start(service, run_of({"id": "ask", "wait": {"for": "signal"}}))
    await until_waiting(service, run_id)
    answered = await typed(service, "run", "answer", run_id, "ask", "decision=process", "amount=12.5", "--json")
    assert (answered.code, json.loads(answered.out)["run_id"]) == (0, run_id)
    assert (await service.ended(run_id))["outputs"] == {"answer": {"decision": "process", "amount": 12.5}}
    late = await typed(service, "run", "answer", run_id, "ask", "--value", "[1]")
    assert late.code == 1
    assert "cannot answer: the run is completed" in late.err


async def test_an_empty_queue_is_shown_as_one(service: Service) -> None:
    run_id = await start(service, run_of({"id": "ask", "human": {"queue": "refunds", "title": "Refund 12?"}}))
    await open_item(service, run_id=run_id)
    listed = await typed(service, "review", "list", "--queue", "unknown", "--json")
    assert (listed.code, json.loads(listed.out)) == (0, [])
    assert listed.err.startswith("docrail: no review item has the queue 'unknown'. There is: ")


@pytest.mark.parametrize(
    ("given", "value", "answer"),
    [
        (["a=1", "b=true", "c=null", 'd={"e": 1}'], None, {"a": 1, "b": True, "c": None, "d": {"e": 1}}),
        (["a=", "b=x=y", "c=NaN", "d=007"], None, {"a": "", "b": "x=y", "c": "NaN", "d": "007"}),
        (["reference=12"], None, {"reference": "12"}),
        ([], None, {}),
        ([], "[1, 2]", [1, 2]),
        ([], '"text"', "text"),
    ],
)
def test_an_answer_is_typed_as_fields_or_whole(given: list[str], value: str | None, answer: Json) -> None:
    assert parse_answer(given, value, FORM) == answer


@pytest.mark.parametrize(
    ("given", "value", "message"),
    [
        (["approved"], None, "expected NAME=VALUE, found 'approved'"),
        (["=1"], None, "expected NAME=VALUE, found '=1'"),
        (["a=1", "a=2"], None, "a is given twice: expected one value"),
        (["a=1"], "{}", "is given with fields: expected one of both"),
        ([], "{", "expected JSON, found '{'"),
        ([], "NaN", "expected JSON, found 'NaN'"),
    ],
)
def test_an_invalid_answer_is_wrong_usage(given: list[str], value: str | None, message: str) -> None:
    with pytest.raises(typer.BadParameter) as refused:
        parse_answer(given, value)
    assert message == refused.value.message


async def document_item(service: Service, name: str) -> dict[str, Json]:
    """Upload a sample, and return its item."""
    files = {"file": (name, e_invoice(unique("T")))}
    document = (await service.http.post("/v1/documents", files=files)).json()
    await service.ended(f"invoice.{document['document_id']}")
    listed = (await service.http.get("/v1/reviews", params={"kind": "document", "limit": 500})).json()["reviews"]
    return next(item for item in listed if item["document_id"] == document["document_id"])


async def test_a_document_is_corrected_explained_and_approved(service: Service) -> None:
    review = (await document_item(service, "a.xml"))["review_id"]
    claimed = await typed(service, "review", "claim", review)
    assert claimed.out.startswith(f"{review}  Muster GmbH, ")
    corrected = await typed(service, "review", "correct", review, "total=200.00", "--reason", "page 1")
    assert ["total", "200.00", "1.00", "human", "tester"] in [line.split() for line in corrected.out.splitlines()]
    assert "error: Net 100.00 + tax 19.00 is 119.00" in corrected.out
    refused = await typed(service, "review", "correct", review, "total=many")
    assert (refused.code, "expected a decimal such as" in refused.err) == (1, True)
    refused = await typed(service, "review", "approve", review)
    assert (refused.code, "totals_disagree" in refused.err) == (1, True)
    undone = await typed(service, "review", "undo", review)
    assert ["total", "119.00"] in [line.split()[:2] for line in undone.out.splitlines()]
    explained = await typed(service, "review", "explain", review, "total")
    assert explained.out.splitlines()[0].startswith("total = 119.00, confidence 0.99")
    assert "prior:xml" in explained.out
    assert "in all, and 1 / (1 + e^-" in explained.out
    whole = (await typed(service, "review", "explain", review)).out.splitlines()
    assert whole[0].startswith("confidence 0.")
    place = next(at for at, line in enumerate(whole) if line.startswith("priority "))
    points = [float(line.split()[0]) for line in whole[place + 1 :]]
    assert sum(points) == pytest.approx(float(whole[place].split()[1].rstrip(":")), abs=0.3)
    assert whole[-1].endswith("sla: 0% of its time is used")
    shown = await typed(service, "review", "show", review)
    assert "tester works on it until" in shown.out
    assert (await typed(service, "review", "approve", review)).out == f"approved {review}\n"
    history = await typed(service, "review", "history", review)
    assert [line.split()[3] for line in history.out.splitlines()[2:] if "claimed" not in line] == [
        *("corrected", "undone", "approved"),
    ]
    assert (await typed(service, "review", "reopen", review, "--reason", "typo")).out == f"reopened {review}\n"
    assert (await typed(service, "review", "reject", review, "--reason", "not ours")).out == f"rejected {review}\n"


async def test_a_repeated_decision_has_the_same_outcome(service: Service) -> None:
    review = (await document_item(service, "again.xml"))["review_id"]
    for act, result in (("approve", "approved"), ("reject", "rejected")):
        for _ in range(2):
            decided = await typed(service, "review", act, review, "--reason", "seen")
            assert (decided.code, decided.out) == (0, f"{result} {review}\n"), decided.err
        other = await typed(service, "review", act, review, "--reason", "read")
        assert (other.code, "tester has already decided this, and the first decision counts" in other.err) == (1, True)
        await typed(service, "review", "reopen", review, "--reason", "typo")


async def test_a_repeated_first_approval_has_the_same_outcome_and_a_second_person_approves(service: Service) -> None:
    review = (await document_item(service, "twice.xml"))["review_id"]
    assert (await typed(service, "review", "correct", review, f"iban={OTHER_IBAN}")).code == 0
    for _ in range(2):
        first = await typed(service, "review", "approve", review)
        assert (first.code, first.out.startswith(f"approved {review} as the first of two: ")) == (0, True), first.err
    ann = reviewer(service, "default")
    item = await ann.get(f"/reviews/{review}")
    await ann.post(f"/reviews/{review}/approve", await ann.verdict(item))
    assert (await typed(service, "review", "approve", review)).out == f"approved {review}\n"


async def test_a_field_without_a_value_has_no_confidence(service: Service) -> None:
    review = (await document_item(service, "empty.xml"))["review_id"]
    rows = [line.split() for line in (await typed(service, "review", "fields", review)).out.splitlines()]
    [found], [missing] = ([row for row in rows if row[0] == name] for name in ("total", "due_date"))
    assert found[:2] == ["total", "119.00"]
    assert 0.9 < float(found[2]) <= 1
    assert not [cell for cell in missing[1:] if cell[0].isdigit()]
    explained = (await typed(service, "review", "explain", review, "due_date")).out
    assert explained.splitlines()[0] == "due_date has no value"
    assert "0.00" not in explained


@pytest.mark.parametrize("act", [["correct", "total=many"], ["undo"], ["unlock", "total"], ["postpone", "yesterday"]])
async def test_a_refused_act_leaves_the_item_to_others_unless_it_was_claimed_before(
    service: Service, act: list[str]
) -> None:
    review = (await document_item(service, f"{act[0]}.xml"))["review_id"]
    for claimed_by in (None, "tester"):
        assert (await typed(service, "review", act[0], review, *act[1:])).code == 1
        shown = await service.http.get(f"/v1/reviews/{review}")
        assert shown.json()["claimed_by"] == claimed_by
        await typed(service, "review", "claim", review)


async def test_an_item_shows_how_many_approvals_it_still_needs(service: Service) -> None:
    item = await document_item(service, "two.xml")
    ann = reviewer(service, "default")
    body = {"value": OTHER_IBAN, "token": await ann.claim(item["review_id"])}
    await ann.ask("PUT", f"/documents/{item['document_id']}/fields/iban", json=body)
    shown = []
    for who in (ann, ann.named("bob")):
        shown.append((await typed(service, "review", "show", item["review_id"])).out)
        await who.post(f"/reviews/{item['review_id']}/approve", await who.verdict(item))
    shown.append((await typed(service, "review", "show", item["review_id"])).out)
    assert "\n  two people must approve it\n" in shown[0]
    assert "\n  first approved by ann; someone else must approve it too\n" in shown[1]
    assert "\n  first approved by ann\n" in shown[2]


async def test_items_are_handed_out_given_back_and_put_off(service: Service) -> None:
    review = (await document_item(service, "b.xml"))["review_id"]
    assert (await typed(service, "review", "assign", review, "tester")).code == 0
    taken = await typed(service, "review", "next", "--kind", "document", "--json")
    assert json.loads(taken.out)["review"]["review_id"] == review
    listed = await typed(service, "review", "list", "--claimed-by", "tester", "--vendor", "muster", "--band", "0")
    assert review in listed.out
    assert (await typed(service, "review", "release", review)).out == f"released {review}\n"
    until = f"{dt.datetime.now(dt.UTC) + dt.timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    assert (await typed(service, "review", "postpone", review, until)).code == 0
    assert review in (await typed(service, "review", "list", "--status", "postponed")).out


async def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated(service: Service) -> None:
    here = str(service.http.base_url)
    refused = await docrail("review", "list", DOCRAIL_API_URL=here, DOCRAIL_API_KEY="sécret")
    assert refused.code == 1
    assert "DOCRAIL_API_KEY: expected a key like docrail_" in refused.err
    assert "cret" not in refused.err.replace("docrail", "")


async def test_several_are_approved_where_nothing_is_wrong(service: Service) -> None:
    one, two = [(await document_item(service, "c.xml"))["review_id"] for _ in range(2)]
    unknown = f"rev_{'0' * 26}"
    done = await typed(service, "review", "approve", one, unknown, two)
    assert [line.split()[0] for line in done.out.splitlines()] == [one, unknown, two]
    assert f"{unknown}  not approved: there is no review item '{unknown}'" in done.out
    assert done.code == 1


async def test_all_that_match_are_approved_after_a_look(service: Service) -> None:
    who, name = reviewer(service, "default"), unique("Alle")
    good = [
        await waiting(service, who, reading(vendor_name=said(f"{name} {each}"), iban=FieldValue())) for each in "ab"
    ]
    wrong = await waiting(service, who, reading(vendor_name=said(name), iban=FieldValue(), net=said(Decimal("1.00"))))
    preview = await typed(service, "review", "approve-all", "--text", name)
    assert (preview.code, preview.err) == (0, "")
    first, total, stays, last = preview.out.splitlines()
    assert (first, total) == ("2 of 3 documents have no problems", "  238.00 EUR  (2)")
    assert stays.startswith(f"{wrong['review_id']}  invoice.pdf  stays open: Net 1.00")
    assert last == "nothing is approved yet: repeat it with --yes"
    assert {(await who.get(f"/reviews/{each['review_id']}"))["status"] for each in good} == {"open"}
    done = await typed(service, "review", "approve-all", "--text", name, "--yes")
    assert (done.code, done.out, done.err) == (0, "approved 2 of 3 documents\n", "")
    assert {(await who.get(f"/reviews/{each['review_id']}"))["status"] for each in good} == {"approved"}


async def test_the_audit_is_verified(service: Service) -> None:
    await typed(service, "review", "claim", (await document_item(service, "d.xml"))["review_id"])
    verified = await typed(service, "audit", "verify")
    assert (verified.code, verified.out[:8]) == (0, "intact: ")
    head = verified.out.split()[-1]
    assert (await typed(service, "audit", "verify", "--head", head)).code == 0
    missing = await typed(service, "audit", "verify", "--head", "f" * 64)
    assert (missing.code, "the audit is broken: no event has the head ffff" in missing.err) == (1, True)
    listed = (await typed(service, "audit", "list")).out.splitlines()
    assert (listed[0].split(), listed[2].split()[0]) == (["event", "when", "by", "what", "review"], "1")
    owner = await asyncpg.connect(service.settings.database_url)
    await owner.execute("SET session_replication_role = replica")  # past the triggers
    await owner.execute("UPDATE audit_events SET actor = 'eve' WHERE sequence = 1")
    broken = await typed(service, "audit", "verify")
    await owner.execute("UPDATE audit_events SET actor = 'tester' WHERE sequence = 1")
    await owner.close()
    assert (broken.code, broken.out) == (1, "")
    assert "the audit is broken at event 1" in broken.err
