"""Store documents that wait for a person, as a run would, each in its test's own tenant."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx

from docrail.adapters.postgres.pool import transaction
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.confidence import assess
from docrail.invoices.facts import Source
from docrail.invoices.model import Candidate, FieldValue, InvoiceData, LineItem
from docrail.services.documents.assessed import load_assessed
from docrail.services.documents.models import CURRENT_READER, Document
from docrail.services.documents.repository.readings import save_extraction
from docrail.services.reviews.items import appearance_of
from docrail.services.reviews.models import Question, Review
from tests.api.customer import unique
from tests.api.service import Service
from tests.postgres import upload
from tests.review_items import upsert_review

IBAN = "DE02120300000000202051"
OTHER_IBAN = "DE89370400440532013000"


def said(value: Any, source: Source = Source.XML) -> FieldValue[Any]:
    return FieldValue(value=value, source=source, candidates=(Candidate(value=value, source=source),))


def reading(**fields: FieldValue[Any] | str) -> InvoiceData:
    """Return the reading of a correct e-invoice."""
    reported = {
        "invoice_number": said(unique("R")),
        "date": said(dt.date(2026, 11, 1)),
        "vendor_name": said("Muster GmbH"),
        "iban": said(IBAN),
        "currency": said("EUR"),
        "net": said(Decimal("100.00")),
        "tax": said(Decimal("19.00")),
        "total": said(Decimal("119.00")),
    }
    lines = (LineItem(description="Beratung", amount=Decimal("100.00")),)
    return assess(InvoiceData(**{**reported, **fields}, line_items=lines, reader="xml"), dt.date(2026, 11, 21))


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A person at the API: every request carries their name and their tenant."""

    http: httpx.AsyncClient
    tenant: str
    name: str = "ann"
    scopes: str = "read review"

    @property
    def headers(self) -> dict[str, str]:
        return {"X-Test-Tenant": self.tenant, "X-Test-Name": self.name, "X-Test-Scopes": self.scopes}

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        return await self.http.request(method, f"/v1{path}", headers=self.headers, **request)

    async def get(self, path: str, **query: Any) -> Json:
        response = await self.ask("GET", path, params=query)
        assert response.status_code == 200, response.text
        return response.json()

    async def post(self, path: str, body: Json = None) -> Json:
        response = await self.ask("POST", path, json=body)
        assert response.status_code == 200, response.text
        return response.json()

    async def refused(self, method: str, path: str, status: int, **request: Any) -> Json:
        response = await self.ask(method, path, **request)
        assert response.status_code == status, response.text
        return response.json()

    async def claim(self, review_id: str) -> int:
        return int((await self.post(f"/reviews/{review_id}/claim"))["token"])

    async def verdict(self, item: Json, **more: Json) -> Json:
        """Claim the item and return the body of a decision about it as it is shown now."""
        digest = (await self.get(f"/documents/{item['document_id']}/fields"))["digest"]
        return {"token": await self.claim(item["review_id"]), "digest": digest, **more}

    def named(self, name: str, scopes: str = "read review") -> "Reviewer":
        return Reviewer(self.http, self.tenant, name, scopes)


def reviewer(service: Service, tenant: str | None = None) -> Reviewer:
    return Reviewer(service.http, tenant or unique("tenant"))


async def waiting(service: Service, who: Reviewer, invoice: InvoiceData | None = None, **question: Any) -> Json:
    """Store a document with its reading, open its item, and return the item as the API shows it."""
    document = await upload(service.app.db, tenant_id=who.tenant)
    review = await open_item(service, document, invoice or reading(), **question)
    return await who.get(f"/reviews/{review.review_id}")


async def open_item(service: Service, document: Document, invoice: InvoiceData, **question: Any) -> Review:
    """Store the reading of a document and open its item."""
    db, tenant = service.app.db, document.tenant_id
    await save_extraction(db, tenant, document.sha256, CURRENT_READER, invoice)
    async with transaction(db) as tx:
        assessed = await load_assessed(tx, tenant, document.document_id, today=dt.date(2026, 11, 21))
        due = document.received_at + dt.timedelta(hours=24)
        look = appearance_of(assessed.invoice, service.app.four_eyes_above)
        question = {"file_name": document.file_name} | question
        asked = Question("invoice.test", look, due, document.received_at, **question)
        return await upsert_review(tx, tenant, document.document_id, asked)
