"""`extract_fields` and `save_fields` with a real child process, the real SDK against the fake, and a real lake."""

import dataclasses
import io
import json
import uuid
from decimal import Decimal
from typing import Any

import pyarrow.parquet as pq
import pytest

from docrail.activities.handlers import extract_fields, save_fields
from docrail.adapters.http.errors import TryAgainLaterError
from docrail.adapters.postgres.pool import NotStored
from docrail.dag.values.json_values import Json
from docrail.embedded.fake_gemini.replies import blocked, wrote
from docrail.handlers import StepCall
from docrail.samples.purchase_orders import ORDERS, draw_order, expected
from docrail.services.documents.models import Document
from docrail.services.extraction.gemini import OUTPUT_TOKENS, AskAgainError
from docrail.services.tools import Tools
from docrail.services.usage.repository import load_document_uses
from tests.activities.asking import reaching, stored
from tests.gemini import gemini
from tests.invoices.test_by_schema import shipped_schema
from tests.postgres import OTHER_TENANT, TENANT

ORDER = ORDERS["order_english"]
SCHEMA = shipped_schema().model_dump(mode="json", exclude_none=True)


def pdf(name: str = "order_english") -> bytes:
    """Return an order with bytes of its own."""
    return draw_order(ORDERS[name]) + f"\n%{uuid.uuid4()}\n".encode()


async def read(
    tools: Tools,
    document: Document,
    *,
    attempt: int = 1,
    retry_within: float | None = float("inf"),
    tenant_id: str = TENANT,
    **config: Json,
) -> Json:
    made = extract_fields.Config.model_validate({"document_id": document.document_id, "schema": SCHEMA, **config})
    call = StepCall(tenant_id, "purchase_order.test", "extract", attempt, made, retry_within_seconds=retry_within)
    return (await extract_fields.run(call, tools)).model_dump(mode="json")


async def save(tools: Tools, document: Document, **config: Json) -> Json:
    made = save_fields.Config.model_validate({"document_id": document.document_id, "kind": "purchase_order", **config})
    return (await save_fields.run(StepCall(TENANT, "purchase_order.test", "save", 1, made), tools)).model_dump()


async def test_without_a_key_the_labels_are_read(keyless: Tools) -> None:
    output = await read(keyless, await stored(keyless, pdf()))
    assert (output["values"], output["reader"], output["needs_person"]) == (expected(ORDER), "text", False)
    assert output["fields"]["total"]["box"]
    assert output["notes"]["total"] == "confidence 0.88, page 1"


async def test_a_higher_threshold_sends_the_values_to_a_person(keyless: Tools) -> None:
    output = await read(keyless, await stored(keyless, pdf()), min_confidence=0.99)
    assert output["needs_person"]
    assert "Total has a confidence of 0.88, less than 0.99" in output["reasons"]


async def test_another_tenants_document_is_not_read(keyless: Tools) -> None:
    with pytest.raises(NotStored):
        await read(keyless, await stored(keyless, pdf()), tenant_id=OTHER_TENANT)


async def test_gemini_reads_by_the_schema_and_the_labels_agree(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools, pdf())
        output = await read(tools, document)
    [asked] = fake.asked
    config = asked.json()["generationConfig"]
    assert (output["values"], output["reader"], output["needs_person"]) == (expected(ORDER), "gemini", False)
    assert output["fields"]["total"]["evidence"] == ["on_page", "second_source_agrees"]
    assert output["fields"]["total"]["confidence"] > 0.98
    assert asked.document == await tools.blobs.get(document.sha256)
    assert (config["maxOutputTokens"], config["responseMimeType"]) == (OUTPUT_TOKENS, "application/json")
    assert set(config["responseSchema"]["properties"]) == set(SCHEMA["properties"])
    [use] = await load_document_uses(tools.db, TENANT, document.document_id)
    assert (use.outcome, use.prompt_version.startswith("fields-")) == ("read", True)


async def test_a_value_that_gemini_invents_goes_to_a_person(keyless: Tools) -> None:
    said: dict[str, Any] = {name: {"value": None} for name in SCHEMA["properties"]}
    answer = said | {"total": {"value": "9999.00", "confidence": 0.99, "page": 1}}
    async with gemini(wrote(json.dumps(answer)), reader=keyless.reader) as fake:
        output = await read(reaching(keyless, fake), await stored(keyless, pdf()))
    assert output["values"]["total"] == expected(ORDER)["total"]
    assert {each["value"] for each in output["fields"]["total"]["candidates"]} == {9999.0, expected(ORDER)["total"]}
    assert output["reasons"] == [
        f"Total has a confidence of {output['fields']['total']['confidence']:.2f}, less than 0.80, the readers disagree"
    ]


async def test_a_garbled_answer_is_asked_for_again_once(keyless: Tools) -> None:
    async with gemini("wrong-schema,ok", reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools, pdf())
        with pytest.raises(AskAgainError):
            await read(tools, document)
        output = await read(tools, document, attempt=2)
    first, second = (asked.json()["generationConfig"]["maxOutputTokens"] for asked in fake.asked)
    assert (output["reader"], second) == ("gemini", 2 * first)


@pytest.mark.parametrize(
    ("script", "attempt", "why"), [("wrong-schema", 2, "did not follow"), (blocked(), 1, "refused")]
)
async def test_an_unusable_answer_leaves_the_labels_and_a_person(
    keyless: Tools, script: Any, attempt: int, why: str
) -> None:
    async with gemini(script, reader=keyless.reader) as fake:
        output = await read(reaching(keyless, fake), await stored(keyless, pdf()), attempt=attempt)
    assert (output["values"], output["reader"], output["needs_person"]) == (expected(ORDER), "text", True)
    assert why in output["reasons"][0]


async def test_an_unavailable_model_is_tried_again_and_then_left_out(keyless: Tools) -> None:
    async with gemini("503", reader=keyless.reader) as fake:
        tools = reaching(keyless, fake)
        document = await stored(tools, pdf())
        with pytest.raises(TryAgainLaterError):
            await read(tools, document)
        output = await read(tools, document, attempt=2, retry_within=None)
    assert (output["values"], output["needs_person"]) == (expected(ORDER), True)


async def test_a_used_up_budget_leaves_the_labels(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        tools = reaching(keyless, fake, budget_per_tenant=Decimal("0.000001"))
        first = await read(tools, await stored(tools, pdf()))
        second = await read(tools, await stored(tools, pdf()))
    assert second["needs_person"]
    assert "budget" in second["reasons"][0]
    assert second["values"] == first["values"]


async def test_gemini_can_be_left_out(keyless: Tools) -> None:
    async with gemini(reader=keyless.reader) as fake:
        output = await read(reaching(keyless, fake), await stored(keyless, pdf()), use_gemini=False)
    assert (output["reader"], fake.asked) == ("text", [])


async def test_both_files_are_saved_and_a_retry_writes_the_same(keyless: Tools) -> None:
    document = await stored(keyless, pdf("order_without_number"))
    output = await read(keyless, document)
    answer = output["values"] | {"order_number": "PO-77"}
    config: dict[str, Json] = {"fields": output["fields"], "checked": answer, "checked_by": "ann"}
    saved = await save(keyless, document, **config)
    files = [keyless.lake.root / saved[name] for name in ("json_path", "parquet_path")]
    first = [file.read_bytes() for file in files]
    assert await save(keyless, document, **config) == saved
    assert [file.read_bytes() for file in files] == first
    record = json.loads(first[0])
    assert record["fields"]["order_number"]["source"] == "human"
    [row] = pq.read_table(io.BytesIO(first[1])).to_pylist()
    fields = {field["name"]: field for field in row["fields"]}
    assert (row["tenant_id"], row["kind"], row["checked_by"]) == (TENANT, "purchase_order", "ann")
    assert json.loads(row["values"]) == saved["values"] == answer
    assert (fields["total"]["number"], fields["partial_deliveries"]["number"]) == (answer["total"], None)
    assert (fields["order_number"]["value"], fields["order_number"]["checked_by"]) == ("PO-77", "ann")


async def test_what_is_saved_is_no_version_of_an_invoice(keyless: Tools) -> None:
    document = await stored(keyless, pdf())
    await save(keyless, document, fields=(await read(keyless, document))["fields"])
    assert keyless.lake.tenants() == [TENANT]
    assert {info.path.split("/")[0] for info in keyless.lake.of(TENANT).files("fields")} == {"fields"}


async def test_fields_of_a_document_that_does_not_exist_are_not_saved(keyless: Tools) -> None:
    document = await stored(keyless, pdf())
    with pytest.raises(NotStored):
        await save(keyless, dataclasses.replace(document, document_id="doc_unknown"), fields={})
