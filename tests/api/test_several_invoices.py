"""A PDF of two invoices through the API: two documents linked to the file, or one that a person looks at."""

import httpx

from docrail.dag.values.json_values import Json
from docrail.services.intake.service import start_waiting_documents
from tests.api.service import Service
from tests.api.test_documents import review_of
from tests.invoices.documents import Line, make_pdf, pdf_bytes
from tests.invoices.test_several_invoices import SECOND_PAGE, invoice
from tests.postgres import new_document_id


async def uploaded(service: Service, *between: list[Line]) -> Json:
    """Upload a file of two invoices with numbers of their own, and wait for its run."""
    one, two = (f"R-{new_document_id()[4:12].upper()}" for _ in range(2))
    data = pdf_bytes(make_pdf(invoice(one, "119,00"), *between, invoice(two, "238,00")))
    response = await service.http.post("/v1/documents", files={"file": ("both.pdf", data, "application/pdf")})
    assert response.status_code == 202, response.text
    run = await service.ended(response.json()["run_id"])
    assert run["status"] == "completed", run
    return response.json()


async def shown(http: httpx.AsyncClient, document_id: str) -> Json:
    return (await http.get(f"/v1/documents/{document_id}")).json()


async def test_each_invoice_of_a_file_is_read_and_reviewed_as_a_document(service: Service) -> None:
    document = await uploaded(service, SECOND_PAGE)
    whole = await shown(service.http, document["document_id"])
    assert len(whole["parts"]) == 2
    looked_at = await service.http.get(f"/v1/documents/{document['document_id']}/fields")
    assert looked_at.status_code == 200
    assert await start_waiting_documents(service.app, older_than_seconds=0) >= 2
    totals = []
    for document_id, pages in zip(whole["parts"], [(1, 2), (3, 3)], strict=True):
        part = await shown(service.http, document_id)
        assert (part["part_of"], part["first_page"], part["last_page"]) == (document["document_id"], *pages)
        assert (part["received_at"], part["definition"]) == (whole["received_at"], whole["definition"])
        run = await service.ended(part["run_id"])
        assert run["status"] == "completed", run
        totals.append(run["outputs"]["total"])
        review = await review_of(service.http, document_id)
        assert review["status"] == "open"
        assert "several_invoices" not in {reason["code"] for reason in review["reasons"]}
        assert document["document_id"] not in str(review["reasons"]), "the file is not an invoice that it repeats"
    assert totals == [119, 238]


async def test_a_break_that_is_not_certain_goes_to_a_person(service: Service) -> None:
    document = await uploaded(service, [(60, 60, "Anlage: Zeitnachweis")])
    assert (await shown(service.http, document["document_id"]))["parts"] == []
    review = await review_of(service.http, document["document_id"])
    assert "several_invoices" in {reason["code"] for reason in review["reasons"]}
