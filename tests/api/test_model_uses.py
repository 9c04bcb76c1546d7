"""What a document's answers cost, over HTTP, and what all of them came to on the metrics page."""

import datetime as dt
import secrets
from decimal import Decimal

import httpx
import pytest

from docrail.invoices.llm.prices import Cost, Tokens
from docrail.services.usage.models import Use
from docrail.services.usage.repository import record_use
from tests.api.invoices import e_invoice
from tests.api.service import Service


async def uploaded(http: httpx.AsyncClient) -> str:
    response = await http.post("/v1/documents", files={"file": ("a.xml", e_invoice(secrets.token_hex(6)))})
    assert response.status_code == 202, response.text
    return str(response.json()["document_id"])


async def record(service: Service, document_id: str, model: str, outcome: str = "read") -> None:
    use = Use("default", "invoice.1", "ask_gemini", 2, model, outcome, Tokens(1000, 200, 50), "1", document_id)
    cost = Cost(Decimal("0.0015"), "gemini")
    await record_use(service.app.db, use, cost, currency="USD", prices_read_on=dt.date(2026, 11, 21))


async def test_each_answer_is_listed_with_its_cost(workerless: Service) -> None:
    document_id, model = await uploaded(workerless.http), f"m-{secrets.token_hex(4)}"
    path = f"/v1/documents/{document_id}/model-uses"
    assert (await workerless.http.get(path)).json() == []
    await record(workerless, document_id, model, "garbled")
    await record(workerless, document_id, model)
    garbled, read = (await workerless.http.get(path)).json()
    assert (garbled["outcome"], read["outcome"]) == ("garbled", "read")
    assert {name: read[name] for name in ("model", "prompt_version", "attempt", "cost", "currency", "priced_as")} == {
        "model": model,
        "prompt_version": "1",
        "attempt": 2,
        "cost": "0.001500",
        "currency": "USD",
        "priced_as": "gemini",
    }
    assert [read[f"{kind}_tokens"] for kind in ("input", "output", "thinking")] == [1000, 200, 50]


@pytest.mark.parametrize("document_id", ["doc_00000000000000000000000000", "x"])
async def test_an_unknown_document_has_no_answers(workerless: Service, document_id: str) -> None:
    assert (await workerless.http.get(f"/v1/documents/{document_id}/model-uses")).status_code == 404


async def test_another_tenants_document_is_unknown(workerless: Service) -> None:
    document_id = await uploaded(workerless.http)
    path = f"/v1/documents/{document_id}/model-uses"
    assert (await workerless.http.get(path, headers={"X-Test-Tenant": "globex"})).status_code == 404


async def test_the_metrics_page_adds_up_all_of_them(workerless: Service) -> None:
    model = f"m-{secrets.token_hex(4)}"
    for outcome in ("read", "read", "refused"):
        await record(workerless, "doc_1", model, outcome)
    lines = [line for line in (await workerless.http.get("/metrics")).text.splitlines() if model in line]
    assert set(lines) == {
        f'docrail_model_answers_total{{model="{model}",outcome="read"}} 2.0',
        f'docrail_model_answers_total{{model="{model}",outcome="refused"}} 1.0',
        f'docrail_model_tokens_total{{kind="input",model="{model}"}} 3000.0',
        f'docrail_model_tokens_total{{kind="output",model="{model}"}} 600.0',
        f'docrail_model_tokens_total{{kind="thinking",model="{model}"}} 150.0',
        f'docrail_model_cost_total{{model="{model}"}} 0.0045',
    }
