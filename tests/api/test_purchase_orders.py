"""The shipped definition of purchase orders: read by its schema, checked by a person in the queue, saved."""

import json
import uuid
from pathlib import Path

from docrail.dag.values.json_values import Json
from docrail.samples.purchase_orders import ORDERS, draw_order, expected
from tests.api.service import Service
from tests.stack import eventually

DEFINITION = "purchase_order"


async def upload(service: Service, name: str) -> str:
    """Upload an order with bytes of its own, and return its run's id."""
    data = draw_order(ORDERS[name]) + f"\n%{uuid.uuid4()}\n".encode()
    sent = await service.http.post(
        "/v1/documents", files={"file": (f"{name}.pdf", data)}, data={"definition": DEFINITION}
    )
    assert sent.status_code == 202, sent.text
    return f"{DEFINITION}.{sent.json()['document_id']}"


async def asked(service: Service, run_id: str) -> Json:
    """Return the question of a run once it is in the queue."""
    found: list[Json] = []

    async def is_asked() -> bool:
        listed = (await service.http.get("/v1/reviews", params={"run_id": run_id})).json()["reviews"]
        found[:] = [each for each in listed if each["step_id"] == "check"]
        return bool(found)

    await eventually(is_asked, f"the question of {run_id}")
    return (await service.http.get(f"/v1/reviews/{found[0]['review_id']}")).json()


def saved(service: Service, run: Json) -> Json:
    path: Path = service.settings.data_dir / "lake" / run["outputs"]["json"]
    return json.loads(path.read_text())


async def test_an_order_that_is_sure_is_saved_without_a_person(service: Service) -> None:
    run = await service.ended(await upload(service, "order_german"))
    assert (run["status"], run["steps"]["check"]["status"]) == ("completed", "skipped")
    assert run["outputs"]["order"] == expected(ORDERS["order_german"])
    assert saved(service, run)["values"] == run["outputs"]["order"]
    assert (service.settings.data_dir / "lake" / run["outputs"]["parquet"]).is_file()


async def test_a_person_gets_the_form_filled_in_and_corrects_it(service: Service) -> None:
    run_id = await upload(service, "order_without_number")
    question = await asked(service, run_id)
    fields = question["form"]["properties"]
    assert question["queue"] == "purchase_orders"
    assert question["document_id"] == run_id.removeprefix(f"{DEFINITION}.")
    assert question["show"] == {"why": ["Order number is required, and was not found"]}
    assert fields["total"] == {
        "type": "number",
        "title": "Total",
        "default": expected(ORDERS["order_without_number"])["total"],
        "description": "confidence 0.88, page 1",
    }
    assert "default" not in fields["order_number"]
    assert fields["order_number"]["description"] == "not found"
    page = await service.http.get(f"/v1/documents/{question['document_id']}/pages/1.png")
    assert page.headers["content-type"] == "image/png"

    answer = {name: field["default"] for name, field in fields.items() if "default" in field}
    address = f"/v1/reviews/{question['review_id']}/decision"
    refused = await service.http.post(address, json={"decision": answer})
    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "decision.order_number")
    corrected = answer | {"order_number": "PO-2026-00500", "supplier": "Hollin Cross Bearings Ltd"}
    decided = await service.http.post(address, json={"decision": corrected})
    assert decided.status_code == 200, decided.text

    run = await service.ended(run_id)
    record = saved(service, run)
    assert (run["status"], run["outputs"]["order"]) == ("completed", corrected)
    assert record["checked_by"] == run["outputs"]["checked_by"] is not None
    assert record["fields"]["supplier"]["read"] == "Hollin Cross Bearings"
    assert (record["fields"]["supplier"]["source"], record["fields"]["net"]["source"]) == ("human", "text_label")


async def test_the_decision_is_in_the_audit_log(service: Service) -> None:
    run_id = await upload(service, "order_without_number")
    question = await asked(service, run_id)
    fields = question["form"]["properties"]
    answer = {name: field["default"] for name, field in fields.items() if "default" in field} | {"order_number": "PO-1"}
    await service.http.post(f"/v1/reviews/{question['review_id']}/decision", json={"decision": answer})
    await service.closed(run_id)
    stored = (await service.http.get(f"/v1/reviews/{question['review_id']}")).json()
    acts = await service.app.db.fetch("SELECT act FROM audit_events WHERE review_id = $1", question["review_id"])
    assert (stored["decision"], stored["status"], bool(stored["decided_by"])) == (answer, "decided", True)
    assert [event["act"] for event in acts] == ["settled"]


async def test_a_definition_with_a_schema_that_cannot_be_read_by_is_refused(service: Service) -> None:
    source = (await service.http.get(f"/v1/definitions/{DEFINITION}")).json()["source"]
    wrong = source.replace("id: purchase_order\n", "id: wrong_order\n", 1).replace(
        "          net:\n            type: number\n", "          net:\n            type: array\n", 1
    )
    assert wrong != source
    refused = await service.http.post("/v1/definitions", json={"definition": wrong})
    [problem] = refused.json()["problems"]
    assert refused.status_code == 422
    assert problem["path"] == "steps[0].config.schema.properties.net.type"
    assert "only single values are read" in problem["message"]
