"""Give a running API a few of everything, so that drawn requests are about something that exists."""

from collections.abc import Mapping, Sequence

import httpx

from docrail.dag.values.json_values import Json
from tests.api.invoices import e_invoice
from tests.stack import ROOT, eventually

SAMPLE = ROOT / "samples" / "zf2_en16931_physiotherapeut.pdf"
BROKEN = {"handler": "fail", "config": {"times": 99, "error": "ValueError"}, "max_retries": 0}
ASKING = {"human": {"form": {"type": "object"}, "title": "Pay?"}}

EACH = 4
"""Of those things that requests use up."""


async def furnish(http: httpx.AsyncClient) -> Mapping[str, Sequence[str | int]]:
    """Return ids that exist, by the name of the parameter that takes them."""
    files = {"scan.pdf": SAMPLE.read_bytes(), **{f"{n}.xml": e_invoice(f"R-{n}") for n in range(2 * EACH)}}
    documents = [await _upload(http, name, data) for name, data in files.items()]
    for title in ("first", "second"):
        await _post(http, "/v1/definitions", {"definition": _definition("known", {"handler": "noop"}, title)})
    runs = [
        (await _post(http, "/v1/runs", {"definition": _definition(name, step)}))["run_id"]
        for name, step in (("broken", BROKEN), ("asking", ASKING), ("done", {"handler": "noop"}))
        for _ in range(EACH)
    ]
    executions = [await _post(http, "/v1/workflow", {"definition": "known"}) for _ in range(EACH)]
    keys = [await _post(http, "/v1/keys", {"name": f"spare {number}", "scopes": ["read"]}) for number in range(EACH)]
    batches = [await _post(http, "/v1/batches", {"name": "known"}) for _ in range(EACH)]
    for batch in batches:
        await _post(http, f"/v1/batches/{batch['batch_id']}/append", {"document_ids": documents})
    triggers = [
        await _post(http, "/v1/triggers", {"name": f"spare{number}", "definition": "known", "cron": "0 3 1 1 *"})
        for number in range(EACH)
    ]
    reviews: list[str] = []

    async def are_waiting() -> bool:
        reviews[:] = [each["review_id"] for each in (await http.get("/v1/reviews")).json()["reviews"]]
        letters = (await http.get("/v1/dead-letters")).json()["letters"]
        return len(reviews) >= len(documents) + EACH and len(letters) >= EACH

    await eventually(are_waiting, "the reviews and the dead letters", timeout_seconds=180)
    return {
        "document_id": documents,
        "batch_id": [each["batch_id"] for each in batches],
        "definition_id": ["known", "invoice"],
        "run_id": runs,
        "step_id": ["only"],
        "execution_id": [each["execution_id"] for each in executions],
        "key_id": [each["details"]["key_id"] for each in keys],
        "review_id": reviews,
        "number": [1],
        "field": ["total", "invoice_number", "date", "line_items", "document_type"],
        "name": ["echo"],
        "tag": ["gemini_api"],
        "trigger": [each["name"] for each in triggers],
    }


def _definition(name: str, step: Json, title: str = "") -> Json:
    return {"id": name, "title": title, "steps": [{"id": "only", **step}]}


async def _upload(http: httpx.AsyncClient, name: str, data: bytes) -> str:
    answer = await http.post("/v1/documents", files={"file": (name, data)})
    answer.raise_for_status()
    return str(answer.json()["document_id"])


async def _post(http: httpx.AsyncClient, path: str, body: Json) -> Json:
    answer = await http.post(path, json=body)
    assert answer.is_success, answer.text
    return answer.json()
