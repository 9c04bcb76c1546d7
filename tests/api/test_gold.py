"""Gold data: the approved values next to the read ones; nothing unapproved, and nothing of another tenant."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from docrail.adapters.store.blobs import BlobStore
from docrail.invoices.assessment.labelled import Manifest
from docrail.services.access.models import PASSED_BY
from docrail.services.documents.models import reading_version
from docrail.services.documents.repository.readings import save_extraction
from tests.api.reviewing import Reviewer, reading, reviewer, said, waiting
from tests.api.service import Service
from tests.api.test_corrections import correct
from tests.cli.process import Ended, docrail


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service)


async def export(service: Service, who: Reviewer, *arguments: str) -> Ended:
    settings = service.settings
    environment = {"DOCRAIL_DATABASE_URL": settings.database_url, "DOCRAIL_DATA_DIR": str(settings.data_dir)}
    ended = await docrail("review", "export", *arguments, "--tenant", who.tenant, cwd=None, **environment)
    assert ended.code == 0, ended.err
    return ended


async def approved(service: Service, who: Reviewer) -> str:
    """Have a person correct a document's total and approve it; return its id."""
    item = await waiting(service, who, reading(total=said(Decimal("200.00"))))
    await correct(who, item, "total", "119.00", why="page 1")
    await who.post(f"/reviews/{item['review_id']}/approve", await who.verdict(item, why="looked at it"))
    return str(item["document_id"])


async def test_corrected_and_approved_documents_are_exported(service: Service, ann: Reviewer, tmp_path: Path) -> None:
    document_id = await approved(service, ann)
    unapproved = await waiting(service, ann, reading(total=said(Decimal("200.00"))))
    await correct(ann, unapproved, "total", "119.00")
    await approved(service, reviewer(service))
    [line] = map(json.loads, (await export(service, ann, "-")).out.splitlines())
    assert (line["document_id"], line["field"], line["value"], line["why"]) == (
        document_id,
        "total",
        "119.00",
        "page 1",
    )
    assert (line["read"]["value"], line["read"]["source"]) == ("200.00", "xml")
    assert 0 < line["read"]["confidence"] < 1
    assert (line["corrected_by"], line["approved_by"]) == ("ann", ["ann"])
    assert line["approved_at"] > line["corrected_at"]


async def test_documents_that_passed_without_a_person_are_not_gold(service: Service, ann: Reviewer) -> None:
    document_id = await approved(service, ann)
    await service.app.db.execute("UPDATE reviews SET decided_by = $1 WHERE document_id = $2", PASSED_BY, document_id)
    assert (await export(service, ann, "-")).out == ""


async def test_an_approved_document_is_exported_as_approved_after_a_new_reading(
    service: Service, ann: Reviewer, tmp_path: Path
) -> None:
    document_id = await approved(service, ann)
    sha256 = (await ann.get(f"/documents/{document_id}"))["sha256"]
    anew = reading(invoice_number=said("misread"))
    await save_extraction(service.app.db, ann.tenant, sha256, reading_version(fresh_run_id="later"), anew)
    await export(service, ann, str(tmp_path))
    [entry] = json.loads((tmp_path / "MANIFEST.json").read_text())["files"]
    assert entry["expected"]["invoice_number"] != "misread"


async def test_the_manifest_is_that_of_a_labelled_folder(service: Service, ann: Reviewer, tmp_path: Path) -> None:
    await approved(service, ann)
    exported = await export(service, ann, str(tmp_path / "gold"))
    assert exported.out == f"wrote 1 corrections of 1 approved documents to {tmp_path / 'gold'}\n"
    assert len((tmp_path / "gold" / "corrections.jsonl").read_text().splitlines()) == 1
    text = (tmp_path / "gold" / "MANIFEST.json").read_text()
    [labelled] = Manifest.model_validate_json(text).files
    assert labelled.truths()["total"] == "119.00"
    [entry] = json.loads(text)["files"]
    assert (entry["family"], entry["document_type"], entry["expected"]["line_count"]) == ("Muster GmbH", "invoice", 1)
    assert "due_date" not in entry["visible"]
    assert entry["file"] == f"originals/{entry['sha256']}.pdf"


async def test_originals_come_with_it_named_by_what_they_are(service: Service, ann: Reviewer, tmp_path: Path) -> None:
    document_id = await approved(service, ann)
    exported = await export(service, ann, str(tmp_path), "--originals")
    assert "is no longer kept" in exported.err  # the test's document has a row alone
    data = f"%PDF-1.7 {document_id}".encode()
    reference = await BlobStore(service.settings.data_dir / "blobs").put(data)
    await service.app.db.execute(
        "UPDATE documents SET sha256 = $1 WHERE document_id = $2", reference.sha256, document_id
    )
    await service.app.db.execute(
        "INSERT INTO processed_documents SELECT p.tenant_id, $1, p.reader_version, p.data FROM processed_documents p "
        "WHERE p.tenant_id = $2 LIMIT 1",
        *(reference.sha256, ann.tenant),
    )
    await export(service, ann, str(tmp_path), "--originals")
    assert (tmp_path / "originals" / f"{reference.sha256}.pdf").read_bytes() == data
