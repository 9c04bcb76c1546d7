"""The list of documents: status, filters, order, pages and counts."""

import datetime as dt
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

import pytest
from asyncpg.pool import PoolConnectionProxy

from docrail.dag.language.statuses import RunStatus, StepStatus
from docrail.invoices.facts import DocumentType
from docrail.services.access.models import Principal, Scope
from docrail.services.app import App
from docrail.services.documents.models import ApprovedFilter, PeriodOf, UnendedDocument
from docrail.services.documents.service import (
    load_unended,
    mark_decided,
    mark_ended,
    mark_read_again,
    mark_run_started,
    mark_runs_started,
    mark_taken_exported,
    take_approved,
)
from docrail.services.failures.models import Resolved
from docrail.services.failures.repository import close, load_letter, record_report
from docrail.services.inbox import repository, service
from docrail.services.inbox.models import (
    Certainty,
    DocumentFilter,
    DocumentSort,
    DocumentStatus,
    ListedDocument,
    Neighbours,
    certainty_of,
)
from docrail.services.inbox.permitted import document_actions
from docrail.services.inbox.repository import (
    FIND_TEXT,
    LIST_DOCUMENTS,
    SCOPES,
    count_documents,
    find_neighbours,
    list_documents,
)
from docrail.services.reviews.models import Appearance, Question
from docrail.services.reviews.repository.claims import claim_review, free_review
from docrail.services.reviews.repository.decisions import record_first_approval
from docrail.workflows.contract.messages import DeadLetter
from tests.postgres import OTHER_TENANT, TENANT, as_owner, upload
from tests.review_items import upsert_review
from tests.services.arrivals import arrive, correct, judged

ANY = DocumentFilter()
MONDAY = dt.datetime(2026, 11, 2, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
ANN = Principal(TENANT, "ann", frozenset())


async def listed(
    db: PoolConnectionProxy,
    sort: DocumentSort = DocumentSort.NEWEST,
    limit: int = 100,
    after: str | None = None,
    **filters: Any,
) -> list[str]:
    found = await list_documents(db, TENANT, DocumentFilter(**filters), sort, limit=limit, after=after)
    return [document.document_id for document in found]


async def only(db: PoolConnectionProxy) -> ListedDocument:
    [document] = await list_documents(db, TENANT, ANY, limit=2)
    return document


async def unended(db: PoolConnectionProxy) -> UnendedDocument:
    [document] = await load_unended(db, older_than_seconds=-1, limit=2)
    return document


async def store_many(db: PoolConnectionProxy, count: int) -> None:
    """Store read documents, one a minute, the newest first: a third are undecided, approved and exported each."""
    await db.execute(
        "WITH d AS (INSERT INTO documents"
        " (tenant_id, document_id, sha256, size_bytes, media_type, file_name, sla_hours, received_at, decision,"
        " exported_at) SELECT 'acme', 'doc_' || n, repeat(md5(n::text), 2), 1, 'x/y', 'Invoice ' || n || '.pdf', 24,"
        " now() - n * interval '1 minute', CASE WHEN n % 3 > 0 THEN 'approved' END, CASE WHEN n % 3 > 1 THEN now() END"
        " FROM generate_series(1, $1) AS n RETURNING *)"
        "INSERT INTO seen_invoices (tenant_id, document_id, sha256, document_type, vendor_name)"
        " SELECT tenant_id, document_id, sha256, 'invoice', 'Muster GmbH' FROM d",
        count,
    )


async def asked(db: PoolConnectionProxy, document_id: str, *reasons: str, hours: int = 24) -> str:
    """Open the review item of a document; return its id."""
    look = Appearance(10, {}, [{"message": each} for each in reasons], {"confidence": 0.95})
    question = Question(f"invoice.{document_id}", look, MONDAY + hours * HOUR, file_name="invoice.pdf")
    return (await upsert_review(db, TENANT, document_id, question)).review_id


async def failed(
    db: PoolConnectionProxy, document_id: str, status: str = "failed", at: float = 1.0, message: str = "no text in it"
) -> None:
    letter = DeadLetter(
        tenant_id=TENANT,
        run_id=f"invoice.{document_id}",
        step_id="extract",
        definition_id="invoice",
        version=1,
        handler="extract_invoice",
        document_id=document_id,
        status=StepStatus(status),
        error_type="UnreadableDocument",
        error_message=message,
        failed_at=at,
    )
    await record_report(db, letter)


async def set_aside(db: PoolConnectionProxy, document_id: str) -> None:
    await failed(db, document_id)
    letter = await load_letter(db, TENANT, f"invoice.{document_id}", "extract")
    assert letter is not None
    await close(db, TENANT, letter, Resolved.DISMISS, by="ann")


async def export_approved(db: PoolConnectionProxy) -> None:
    everything = ApprovedFilter(PeriodOf.APPROVED, since=None, before=None, only_new=True)
    assert await take_approved(db, TENANT, everything, "exp_1", limit=100)
    await mark_taken_exported(db, TENANT, "exp_1")


async def one_of_each(db: PoolConnectionProxy) -> dict[DocumentStatus, str]:
    """Store a document of each status; return their ids."""
    ids = {status: (await upload(db)).document_id for status in DocumentStatus}
    await failed(db, ids[DocumentStatus.FAILED])
    await set_aside(db, ids[DocumentStatus.DISMISSED])
    await mark_ended(db, [UnendedDocument(ids[DocumentStatus.COMPLETED], MONDAY)], RunStatus.COMPLETED)
    without = (*(DocumentStatus.READING, DocumentStatus.FAILED), *(DocumentStatus.COMPLETED, DocumentStatus.DISMISSED))
    items = {status: await asked(db, id_) for status, id_ in ids.items() if status not in without}
    await mark_decided(db, TENANT, ids[DocumentStatus.REJECTED], "rejected")
    await mark_decided(db, TENANT, ids[DocumentStatus.EXPORTED], "approved")
    await export_approved(db)
    await mark_decided(db, TENANT, ids[DocumentStatus.APPROVED], "approved")
    later = dt.datetime.now(dt.UTC) + HOUR
    await free_review(db, TENANT, items[DocumentStatus.POSTPONED], postponed_until=later)
    await record_first_approval(db, ANN, items[DocumentStatus.SECOND], digest="0" * 64)
    return ids


async def test_documents_are_filtered_and_counted_by_status(db: PoolConnectionProxy) -> None:
    ids = await one_of_each(db)
    assert {status: await listed(db, status=status) for status in DocumentStatus} == {
        status: [document_id] for status, document_id in ids.items()
    }
    assert await count_documents(db, TENANT, ANY) == dict.fromkeys(DocumentStatus, 1)


async def test_counting_stops_where_there_are_many_decided_documents(
    db: PoolConnectionProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "MOST_COUNTED", 2)
    await store_many(db, 10)
    counted = await service.count_documents(cast(App, SimpleNamespace(db=db)), ANN, ANY)
    assert {status: number for status, number in counted.counts.items() if number} == {
        "reading": 3,
        "approved": 2,
        "exported": 2,
    }
    assert (counted.total, counted.at_least) == (7, ["approved", "exported"])


async def test_what_the_index_of_a_status_holds_are_all_documents_of_that_status(db: PoolConnectionProxy) -> None:
    await one_of_each(db)
    rows = await db.fetch("SELECT document_id, status FROM document_states WHERE tenant_id = $1", TENANT)
    for row in rows:
        scope = f"SELECT FROM document_states WHERE document_id = $1 AND {SCOPES[DocumentStatus(row['status'])]}"
        assert await db.fetchrow(scope, row["document_id"]) is not None, row


async def test_a_failure_without_words_is_shown_by_its_type(db: PoolConnectionProxy) -> None:
    await failed(db, (await upload(db)).document_id, message="")
    assert (await only(db)).reason == "UnreadableDocument"


async def test_a_failure_counts_until_the_document_waits_for_a_person(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    await failed(db, document_id)
    found = await only(db)
    assert (found.status, found.reason) == (DocumentStatus.FAILED, "no text in it")
    assert found.run_id == f"invoice.{document_id}"
    await failed(db, document_id, "running", 2.0)  # it was retried
    assert (await only(db)).status is DocumentStatus.READING
    await failed(db, document_id, at=3.0)
    await asked(db, document_id)
    assert (await only(db)).status is DocumentStatus.ATTENTION


async def test_a_dismissed_document_that_is_read_again_is_not_dismissed_any_more(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    await mark_run_started(db, TENANT, document_id, f"invoice.{document_id}")
    await set_aside(db, document_id)
    assert (await only(db)).status is DocumentStatus.DISMISSED
    await db.execute("UPDATE dead_letters SET resolved_at = resolved_at - interval '1 s'")  # all in one transaction
    await mark_read_again(db, TENANT, document_id)
    assert (await only(db)).status is DocumentStatus.READING


async def test_a_new_failure_of_a_dismissed_document_counts(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    await set_aside(db, document_id)
    await failed(db, document_id, at=9.0)
    assert (await only(db)).status is DocumentStatus.FAILED


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (RunStatus.COMPLETED, DocumentStatus.COMPLETED),
        (RunStatus.CANCELLED, DocumentStatus.DISMISSED),
        (RunStatus.ABORTED, DocumentStatus.DISMISSED),
    ],
)
async def test_a_run_that_asked_no_one_leaves_its_document_when_it_ends(
    db: PoolConnectionProxy, end: RunStatus, status: DocumentStatus
) -> None:
    document_id = (await upload(db)).document_id
    await mark_run_started(db, TENANT, document_id, "invoice.a")
    await mark_ended(db, [await unended(db)], end)
    found = await only(db)
    assert (found.status, found.reason, found.more_reasons) == (status, None, 0)
    await mark_read_again(db, TENANT, document_id)
    assert (await only(db)).status is DocumentStatus.READING
    await mark_ended(db, [await unended(db)], end)
    await asked(db, document_id)
    assert (await only(db)).status is DocumentStatus.ATTENTION


async def test_the_end_of_an_earlier_run_leaves_a_document_that_is_read_again_open(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    await mark_runs_started(db, TENANT, [(first := UnendedDocument(document_id, MONDAY), f"invoice.{document_id}")])
    await mark_read_again(db, TENANT, document_id)
    await mark_ended(db, [first], RunStatus.COMPLETED)
    assert (await only(db)).status is DocumentStatus.READING
    await mark_ended(db, [await unended(db)], RunStatus.ABORTED)
    assert (await only(db)).status is DocumentStatus.DISMISSED


async def test_a_decision_that_is_withdrawn_is_not_exported_any_more(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    await asked(db, document_id)
    await mark_decided(db, TENANT, document_id, "approved")
    await export_approved(db)
    await mark_decided(db, TENANT, document_id, None)
    assert (await only(db)).status is DocumentStatus.ATTENTION
    await mark_decided(db, TENANT, document_id, "approved")
    assert (await only(db)).status is DocumentStatus.APPROVED


async def test_a_document_is_listed_with_its_first_reason_and_who_has_it(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    assert (await only(db)).certainty is Certainty.UNKNOWN
    review_id = await asked(db, document_id, "Net 1.00 differs.", "No VAT id.", "No IBAN.")
    await claim_review(db, TENANT, review_id, "ann")
    found = await only(db)
    assert (found.review_id, found.claimed_by, found.due_at) == (review_id, "ann", MONDAY + 24 * HOUR)
    assert (found.reason, found.more_reasons) == ("Net 1.00 differs.", 2)
    assert (found.confidence, found.certainty) == (0.95, Certainty.HIGH)
    await claim_review(db, TENANT, review_id, "ann", lease=dt.timedelta(0))
    assert (await only(db)).claimed_by is None


@pytest.mark.parametrize(
    ("confidence", "words"), [(None, "unknown"), (0.0, "low"), (0.7, "medium"), (0.89, "medium"), (0.9, "high")]
)
def test_a_confidence_in_words(confidence: float | None, words: str) -> None:
    assert certainty_of(confidence) == words


async def test_a_document_is_listed_with_the_values_of_its_invoice(db: PoolConnectionProxy) -> None:
    document_id = await arrive(db, vendor_name="Größe & Söhne GmbH")
    unread = await only(db)
    assert (unread.document_id, unread.status, unread.vendor_name) == (document_id, DocumentStatus.READING, None)
    await judged(db, document_id)
    read = await only(db)
    assert (read.document_type, read.vendor_name) == (DocumentType.INVOICE, "Größe & Söhne GmbH")
    assert (read.invoice_number, read.issued_on) == ("RE-2026-0017", dt.date(2026, 10, 1))
    assert (str(read.total), read.currency) == ("119.00", "EUR")


async def test_a_listed_value_follows_a_correction_that_changes_nothing_compared(db: PoolConnectionProxy) -> None:
    document_id = await arrive(db)
    await judged(db, document_id)
    await correct(db, document_id, "currency", "CHF")
    await judged(db, document_id)
    assert (await only(db)).currency == "CHF"


async def test_a_part_of_a_file_is_no_look_alike_of_it(db: PoolConnectionProxy) -> None:
    file, part = await arrive(db), await arrive(db)
    cut = "UPDATE documents SET part_of = $1, first_page = 1, last_page = 1 WHERE document_id = $2"
    for document_id in (file, part):
        await judged(db, document_id)
    alike = {each.document_id: each.look_alike_of for each in await list_documents(db, TENANT, ANY, limit=9)}
    await db.execute(cut, file, part)
    cut_out = {each.document_id: each.look_alike_of for each in await list_documents(db, TENANT, ANY, limit=9)}
    assert (alike[part], cut_out[part]) == (file, None)


async def test_look_alikes_name_the_earlier_document(db: PoolConnectionProxy) -> None:
    first, same_number, other = await arrive(db), await arrive(db), await arrive(db, invoice_number="RE-1")
    for document_id in (first, same_number, other):
        await judged(db, document_id)
    same_bytes = await arrive(db, text=first)
    found = {each.document_id: each.look_alike_of for each in await list_documents(db, TENANT, ANY, limit=9)}
    assert found == {first: None, same_number: first, other: None, same_bytes: first}


async def test_documents_of_another_tenant_are_not_listed(db: PoolConnectionProxy) -> None:
    await arrive(db, OTHER_TENANT)
    assert await listed(db) == []
    assert set((await count_documents(db, TENANT, ANY)).values()) == {0}


async def test_pages_hold_each_document_once_latest_upload_first(db: PoolConnectionProxy) -> None:
    uploaded = [await upload(db) for _ in range(7)]
    for number, document in enumerate(uploaded[:4]):  # the others were received at the same moment
        received_at = MONDAY + dt.timedelta(hours=number)
        await db.execute(
            "UPDATE documents SET received_at = $1 WHERE document_id = $2", received_at, document.document_id
        )
    pages: list[list[str]] = [await listed(db, limit=2)]
    while pages[-1]:
        pages.append(await listed(db, limit=2, after=pages[-1][-1]))
    simultaneous = sorted((document.document_id for document in uploaded[4:]), reverse=True)
    assert [each for page in pages for each in page] == [
        *simultaneous,
        *(document.document_id for document in reversed(uploaded[:4])),
    ]


ATTENTION = DocumentFilter(DocumentStatus.ATTENTION)


async def to_review(db: PoolConnectionProxy, number: int, *, same: bool = False) -> tuple[str, str]:
    """Store a document that waits for a person; return its id and its item's. The `same` ones look alike."""
    own = {} if same else {"invoice_number": f"RE-{number}"}
    document_id = await arrive(db, total=Decimal(number), vendor_name=f"Vendor {number}", **own)
    await judged(db, document_id)
    at = MONDAY + number * HOUR
    await db.execute("UPDATE documents SET received_at = $1 WHERE document_id = $2", at, document_id)
    return document_id, await asked(db, document_id, hours=24 + number)


@pytest.mark.parametrize("sort", DocumentSort)
async def test_a_document_has_its_neighbours_in_every_order(db: PoolConnectionProxy, sort: DocumentSort) -> None:
    items = dict([await to_review(db, number) for number in range(4)])
    await upload(db)  # not read yet: there is nothing to review
    order = await listed(db, sort, status=DocumentStatus.ATTENTION)
    around = [None, *(items[document_id] for document_id in order), None]
    for place, document_id in enumerate(order, start=1):
        found = await find_neighbours(db, TENANT, ATTENTION, sort, document_id, me="ann")
        assert found == Neighbours(around[place + 1], None, around[place - 1], None, place, 4)


@pytest.mark.parametrize("sort", DocumentSort)
async def test_look_alikes_follow_the_first_of_them_in_every_order(db: PoolConnectionProxy, sort: DocumentSort) -> None:
    items = dict([await to_review(db, number, same=number % 2 == 0) for number in range(6)])
    order = await listed(db, sort, status=DocumentStatus.ATTENTION)
    alike = [document_id for document_id in order if document_id in [*items][::2]]
    head, *followers = alike
    walk = [each for each in order if each not in followers]
    walk[walk.index(head) + 1 : walk.index(head) + 1] = followers
    around = [None, *(items[document_id] for document_id in walk), None]
    below = [None, *(head if each in followers else None for each in walk), None]
    for place, document_id in enumerate(walk, start=1):
        found = await find_neighbours(db, TENANT, ATTENTION, sort, document_id, me="ann")
        before, after = place - 1, place + 1
        assert found == Neighbours(around[after], below[after], around[before], below[before], place, 6)


async def test_a_look_alike_keeps_its_place_when_the_one_that_it_followed_is_decided(db: PoolConnectionProxy) -> None:
    documents = [await to_review(db, number, same=number in (0, 3)) for number in range(5)]
    (head, _), (_, second), _, (follower, _), (_, last) = documents
    await mark_decided(db, TENANT, head, "approved")
    place = DocumentSort.OLDEST
    walked = await find_neighbours(db, TENANT, ATTENTION, place, follower, me="ann", below=head)
    assert (walked.next, walked.place, walked.total) == (second, 1, 4)
    opened = await find_neighbours(db, TENANT, ATTENTION, place, follower, me="ann")
    assert (opened.next, opened.place) == (last, 3)  # as the list shows it now


async def test_a_copy_of_a_look_alike_belongs_to_the_group_of_the_earliest(db: PoolConnectionProxy) -> None:
    first, alike = await arrive(db), await arrive(db)
    copy = await arrive(db, text=alike)
    for document_id in (first, alike, copy):
        await judged(db, document_id)
    found = {each.document_id: each.look_alike_of for each in await list_documents(db, TENANT, ANY, limit=9)}
    assert found == {first: None, alike: first, copy: first}


async def test_neighbours_are_known_when_the_document_has_left_and_leave_out_what_others_have(
    db: PoolConnectionProxy,
) -> None:
    documents = [await to_review(db, number) for number in range(4)]
    (first, earlier), (second, _), (_, claimed), (_, last) = documents
    await mark_decided(db, TENANT, second, "rejected")
    await claim_review(db, TENANT, claimed, "ann")
    place = DocumentSort.OLDEST
    of_bob = await find_neighbours(db, TENANT, ATTENTION, place, second, me="bob")
    assert of_bob == Neighbours(next=last, next_below=None, previous=earlier, previous_below=None, place=2, total=2)
    assert (await find_neighbours(db, TENANT, ATTENTION, place, first, me="ann")).next == claimed


@pytest.mark.parametrize("sort", DocumentSort)
async def test_every_order_has_each_has_each_document_on_one_page(db: PoolConnectionProxy, sort: DocumentSort) -> None:
    values = ((3, "Beta"), (1, "Alpha"), (2, "Gamma"))
    ids = [await arrive(db, total=Decimal(number), vendor_name=name) for number, name in values]
    for number, document_id in enumerate(ids):
        await judged(db, document_id)
        await asked(db, document_id, hours=(2, 3, 1)[number])
        at = MONDAY + number * HOUR
        await db.execute("UPDATE documents SET received_at = $1 WHERE document_id = $2", at, document_id)
    unread = (await upload(db)).document_id
    a, b, c = ids
    expected = {
        DocumentSort.NEWEST: [unread, c, b, a],
        DocumentSort.OLDEST: [a, b, c, unread],
        DocumentSort.DUE: [c, a, b, unread],
        DocumentSort.TOTAL: [a, c, b, unread],
        DocumentSort.VENDOR: [b, a, c, unread],
    }
    pages: list[list[str]] = [await listed(db, sort, limit=1)]
    while pages[-1]:
        pages.append(await listed(db, sort, limit=1, after=pages[-1][-1]))
    assert [each for page in pages for each in page] == expected[sort]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"document_type": DocumentType.CREDIT_NOTE}, "credit note"),
        ({"vendor": "DE 111 111 111"}, "credit note"),
        ({"vendor": "muster"}, "invoice"),
        ({"vendor": "MULLER & SO"}, "credit note"),
        ({"vendor": "gmbh"}, None),
        ({"text": "söhne"}, "credit note"),
        ({"text": "2026-0017"}, "invoice"),
        ({"text": "INVOICE.PDF", "document_type": DocumentType.INVOICE}, "invoice"),
        ({"text": "100%"}, None),
        ({"text": "4.904,95"}, "credit note"),
        ({"text": "4904.9"}, "credit note"),
        ({"text": "119,00"}, "invoice"),
    ],
)
async def test_documents_are_filtered_by_their_invoice(
    db: PoolConnectionProxy, filters: dict[str, Any], found: str | None
) -> None:
    other: dict[str, Any] = {
        "invoice_number": "GS-1",
        "vendor_name": "Müller & SÖHNE",
        "vendor_vat_id": "DE111111111",
        "iban": None,
    }
    ids = {
        "invoice": await arrive(db),
        "credit note": await arrive(db, **other, total=Decimal("4904.95")),
    }
    await correct(db, ids["credit note"], "document_type", "credit_note")
    for document_id in ids.values():
        await judged(db, document_id)
    assert await listed(db, **filters) == ([] if found is None else [ids[found]])
    assert sum((await count_documents(db, TENANT, DocumentFilter(**filters))).values()) == (found is not None)


@pytest.mark.parametrize(
    ("text", "numbers"), [("voice 7.p", [7]), ("voice 19", [*range(199, 189, -1), 19]), ("many", [])]
)
@pytest.mark.parametrize("most", [10_000, 1], ids=["looked up", "read in order"])
async def test_a_text_is_found_in_few_and_in_many_documents(
    db: PoolConnectionProxy, monkeypatch: pytest.MonkeyPatch, text: str, numbers: list[int], most: int
) -> None:
    """Without statistics PostgreSQL expects about one document: more than MOST_FOUND are found out by finding them."""
    monkeypatch.setattr(repository, "MOST_FOUND", most)
    await store_many(db, 200)
    await upload(db, tenant_id=OTHER_TENANT, document_id="other")
    wanted = DocumentFilter(text=text)
    assert await listed(db, text=text) == [f"doc_{number}" for number in numbers[::-1]]
    assert sum((await count_documents(db, TENANT, wanted)).values()) == len(numbers)


async def test_an_amount_is_found_in_many_documents_too(
    db: PoolConnectionProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "MOST_FOUND", 1)
    ids = [await arrive(db, invoice_number=number) for number in ("A-1", "B-2")]
    for document_id in ids:
        await judged(db, document_id)
    assert await listed(db, text="119,00") == sorted(ids, reverse=True)  # they have arrived at the same time


@pytest.mark.parametrize(("text", "count"), [("9", 38), ("99", 2), ("E 4", 11), ("e 4", 11), ("zq", 0), ("%", 0)])
async def test_a_short_text_is_found_too(db: PoolConnectionProxy, text: str, count: int) -> None:
    await store_many(db, 200)
    assert len(await listed(db, text=text)) == count


@pytest.mark.parametrize("text", ["abc", "abcd", "abcde", "abcdef", "abcdefg"])
async def test_the_parts_that_are_looked_up_hold_every_character(db: PoolConnectionProxy, text: str) -> None:
    parts = await db.fetchval("SELECT covering_trigrams($1)", text)
    assert {*parts} <= {*await db.fetchval("SELECT trigrams($1)", text)}
    assert {*"".join(parts)} == {*text}


@pytest.mark.parametrize("table", ["documents", "seen_invoices"])
async def test_a_text_is_looked_up_in_an_index(db: PoolConnectionProxy, table: str) -> None:
    """Under row-level security, which hides `@>` from indexes, the view is what makes it possible."""
    await store_many(db, 4_000)
    await as_owner(db)  # only the owner may analyze
    await db.execute("ANALYZE documents, seen_invoices")
    await db.execute("SELECT set_config('role', 'docrail_app', true), set_config('docrail.tenant', $1, true)", TENANT)
    rows = await db.fetch(f"EXPLAIN {FIND_TEXT}", TENANT, "voice 7.p", None)
    plan = "\n".join(row[0] for row in rows)
    assert f"on {table}_by_text" in plan, plan
    assert f"Seq Scan on {table}" not in plan


async def test_documents_are_filtered_by_the_time_of_their_upload(db: PoolConnectionProxy) -> None:
    document_id = (await upload(db)).document_id
    await db.execute("UPDATE documents SET received_at = $1 WHERE document_id = $2", MONDAY, document_id)
    second = dt.timedelta(seconds=1)
    assert await listed(db, since=MONDAY, until=MONDAY + second) == [document_id]
    assert await listed(db, since=MONDAY + second) == await listed(db, until=MONDAY) == []


@pytest.mark.parametrize(
    ("status", "index"),
    [
        (None, "documents_newest"),
        (DocumentStatus.READING, "documents_undecided"),
        (DocumentStatus.APPROVED, "documents_decided"),
        (DocumentStatus.EXPORTED, "documents_exported"),
    ],
)
async def test_a_page_is_found_by_an_index(db: PoolConnectionProxy, status: DocumentStatus | None, index: str) -> None:
    """Of 4,000 documents a third are undecided, approved and exported each."""
    await store_many(db, 4_000)
    await as_owner(db)  # only the owner may analyze
    await db.execute("ANALYZE documents, seen_invoices, reviews, dead_letters")
    statement = LIST_DOCUMENTS[DocumentSort.NEWEST, status]
    rows = await db.fetch(f"EXPLAIN {statement}", TENANT, *[None] * 7, "doc_2000", 101)
    plan = "\n".join(row[0] for row in rows)
    assert f"using {index}" in plan, plan
    assert "Seq Scan on documents" not in plan


def test_a_caller_who_may_only_read_is_offered_nothing() -> None:
    reader = Principal(TENANT, "ann", frozenset({Scope.READ}))
    offered = document_actions(reader, DocumentStatus.FAILED)
    assert [(each.allowed, each.reason) for each in offered] == [(False, "this needs the scope 'review'")] * 2


def test_a_listed_document_names_no_tenant_and_no_uploader() -> None:
    assert {"tenant_id", "uploaded_by"} & set(ListedDocument.__dataclass_fields__) == set()
