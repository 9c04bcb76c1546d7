"""A tenant uses the `after` of another tenant's lists, in every list: it learns nothing.

A page token is bound to its query by a checksum that everyone can compute. So each token is used as it was stolen, and
as a caller makes it who forges the checksum. Its answer is compared with that to a token of things that never existed.
"""

import base64
import re
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import httpx
import pytest

from docrail.dag.values.json_values import Json
from docrail.services import paging
from docrail.services.access.models import Scope
from docrail.services.definitions.service import publish_shipped
from tests.api.described import DOCUMENT
from tests.api.invoices import e_invoice
from tests.api.service import settings_for, work
from tests.security.callers import Guarded, dsn, serve_guarded
from tests.stack import Servers, eventually

__all__ = ["dsn"]

LISTS = [
    path
    for path, methods in DOCUMENT["paths"].items()
    if "after" in {each["name"] for each in methods.get("get", {}).get("parameters", ())}
]
PLACES = {
    *("/v1/audit", "/v1/reviews/{review_id}/audit"),
    *("/v1/runs/{run_id}/explain", "/v1/runs/{run_id}/steps", "/v1/runs/{run_id}/steps/{step_id}/items"),
    *("/v1/definitions/{definition_id}/versions", "/v1/definitions/{definition_id}/moves"),
}
"""Lists that go on after a number, a time or the id of a step, which are no one's."""
MARK = bytes(paging.MARK_BYTES)
EACH = 2
"""Of everything, so that a page of one has a next one."""
ASK = {"human": {"form": {"type": "object"}, "title": "Pay?"}}
KEEP_EXPORT = """
INSERT INTO exports (tenant_id, export_id, status, wanted, documents, error, created_by, ended_at)
VALUES ($1, $2, 'failed', $3, 1, 'refused', 'tests', now())"""


@dataclass(frozen=True, slots=True)
class Owner:
    """A tenant that has some of everything, and its ids by the name of their parameter."""

    guarded: Guarded
    tenant: str
    key: str
    ids: Mapping[str, str]

    async def list_from(
        self, path: str, after: str | None = None, ids: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Ask for a page of one, of what this tenant has or of what has other ids."""
        params = {"limit": "1"} | ({"after": after} if after is not None else {})
        return await self.guarded.ask(self.key, "GET", path.format_map(ids or self.ids), params=params)

    async def cursor(self, path: str) -> str:
        """Return the `after` of the second page."""
        page = await self.list_from(path)
        assert page.status_code == 200, page.text
        body = page.json()
        after = body["events"][-1]["sequence"] if path.endswith("/audit") else body["after"]
        assert after is not None, f"{path} has no second page: {page.text}"
        return str(after)


@pytest.fixture(scope="module")
async def owners(
    embedded: Servers, dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Owner, Owner]]:
    """Yield the victim and the thief."""
    settings = settings_for(embedded.temporal_address, dsn, tmp_path_factory.mktemp("cursors"))
    async with serve_guarded(settings.model_copy(update={"access": "keys"})) as service, work(settings):
        victim, thief = [await furnished(Guarded(service), tenant) for tenant in ("victim", "thief")]
        yield victim, thief


async def furnished(guarded: Guarded, tenant: str) -> Owner:
    """Return a tenant with some of everything that is listed."""
    key = await guarded.key(*Scope, tenant=tenant)
    await publish_shipped(guarded.service.app, tenant)

    async def post(path: str, body: Json = None, **more: object) -> Json:
        answer = await guarded.ask(key, "POST", path, **({"json": body} if body is not None else {}), **more)
        assert answer.is_success, answer.text
        return answer.json()

    inner = f"{tenant}_inner"
    await post("/v1/definitions", {"definition": {"id": inner, "steps": [{"id": "ask", **ASK}]}})
    definition_id = f"a_{tenant}_{uuid.uuid4().hex}"  # the first in its list
    for title in map(str, range(EACH)):
        await post("/v1/definitions", {"definition": _definition(definition_id, inner) | {"title": title}})
    run = (await post("/v1/runs", {"definition": definition_id}))["run_id"]
    for act in ("pause", "resume"):
        await post(f"/v1/runs/{run}/{act}", {})
    files = [(f"{tenant}-{number}.xml", e_invoice(f"{tenant}-{number}")) for number in range(EACH)]
    documents = [(await post("/v1/documents", files={"file": file}))["document_id"] for file in files]
    batches = [(await post("/v1/batches", {"name": tenant}))["batch_id"] for _ in range(EACH)]
    await post(f"/v1/batches/{batches[0]}/append", {"document_ids": documents})
    for _ in range(EACH):
        await post("/v1/runs", {"definition": _failing(tenant)})
        await post("/v1/keys", {"name": "spare", "scopes": ["read"]})
        await post("/v1/session", {"key": key})
        guarded.service.http.cookies.clear()
        values = tenant, f"exp_{uuid.uuid4().hex[:26]}", {"to": {"format": "xlsx"}}
        await guarded.service.pool.execute(KEEP_EXPORT, *values)
    ids = {"definition_id": definition_id, "run_id": run, "step_id": "each", "batch_id": batches[0]}
    await eventually(lambda: _is_listed(guarded, key, run), f"what {tenant} has")
    review = (await guarded.ask(key, "GET", "/v1/reviews")).json()["reviews"][0]["review_id"]
    claim = await post(f"/v1/reviews/{review}/claim")
    await post(f"/v1/reviews/{review}/release", {"token": claim["token"]})
    return Owner(guarded, tenant, key, ids | {"review_id": review})


def _definition(name: str, inner: str) -> dict[str, Json]:
    each = {"id": "each", "handler": "noop", "for_each": {"items": ["a", "b", "c"], "key": "item"}}
    nested = [{"id": f"nested{number}", "workflow": {"id": inner}} for number in range(EACH)]
    return {"id": name, "steps": [{"id": "ask", **ASK}, each, *nested]}


def _failing(tenant: str) -> dict[str, Json]:
    bad = {"id": "bad", "handler": "fail", "config": {"times": 9, "error": "ValueError"}, "max_retries": 0}
    return {"id": f"{tenant}_failing", "steps": [bad], "on_failure": "park"}


async def _is_listed(guarded: Guarded, key: str, run: str) -> bool:
    """Check that the work of all runs has been done, as far as it goes by itself."""

    async def count(path: str, name: str) -> int:
        answer = await guarded.ask(key, "GET", path)
        return len(answer.json()[name]) if answer.is_success else 0

    waits = await count(f"/v1/runs/{run}/waits", "waits")
    items = await count(f"/v1/runs/{run}/steps/each/items", "items")
    letters, reviews = await count("/v1/dead-letters", "letters"), await count("/v1/reviews", "reviews")
    return waits == 1 + EACH and items == 3 and letters == EACH and reviews == 2 * EACH + 1


def invented(cursor: str) -> str:
    """Return a cursor at the same place, of a thing that never existed. Numbers and ids of steps are no one's."""
    if (renamed := _renamed(cursor)) != cursor:
        return renamed
    try:
        packed = base64.urlsafe_b64decode(cursor)
        mark, token = packed[: paging.MARK_BYTES], packed[paging.MARK_BYTES :].decode()
    except ValueError:
        return cursor
    return base64.urlsafe_b64encode(mark + _renamed(token).encode()).decode()


def _renamed(text: str) -> str:
    """Rename what the text names, and what the tokens of Temporal in it do."""
    text = re.sub(r'"([A-Za-z0-9+/]{40,}=*)"', lambda found: f'"{_renamed_token(found[1])}"', text)
    return re.sub(r"[0-9a-f]{12,}", lambda found: uuid.uuid4().hex[: len(found[0])].ljust(len(found[0]), "0"), text)


def _renamed_token(token: str) -> str:
    return base64.b64encode(_renamed(base64.b64decode(token).decode()).encode()).decode()


@pytest.fixture(params=["stolen", "forged"])
def tokens(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Use page tokens as they are, or as if each had the checksum of whatever list it is sent to."""
    if request.param == "forged":
        accept_forged(monkeypatch)
    return str(request.param)


def accept_forged(patch: pytest.MonkeyPatch) -> None:
    """Let tokens without a checksum pass."""
    patch.setattr(paging, "_mark", lambda token, query: bytes(paging.MARK_BYTES))
    assert paging.token_of(forged(b"any"), "any query") == b"any"


def forged(token: bytes) -> str:
    return base64.urlsafe_b64encode(bytes(paging.MARK_BYTES) + token).decode()


def test_all_lists_are_walked() -> None:
    assert len(LISTS) >= 20


@pytest.mark.parametrize("path", LISTS)
async def test_a_cursor_counts_no_rows_of_other_tenants(
    owners: tuple[Owner, Owner], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Both tenants did the same one after the other: numbers of a tenant's own are alike, a common counter is not."""
    monkeypatch.setattr(paging, "_mark", lambda token, query: MARK)
    numbers = [re.findall(r"(?<![\w.:+-])\d+(?![\w.:+-])", _clear(await owner.cursor(path))) for owner in owners]
    assert numbers[0] == numbers[1]


def _clear(cursor: str) -> str:
    """Return what a cursor says to whoever decodes it."""
    try:
        marked = base64.urlsafe_b64decode(cursor)
    except ValueError:
        return cursor
    return marked.removeprefix(MARK).decode() if marked.startswith(MARK) else cursor


@pytest.mark.parametrize("path", LISTS)
async def test_a_cursor_of_another_tenant_says_nothing(owners: tuple[Owner, Owner], tokens: str, path: str) -> None:
    victim, thief = owners
    stolen = await victim.cursor(path)
    assert (invented(stolen) == stolen) == (path in PLACES)
    answers = [await thief.list_from(path, after) for after in (stolen, invented(stolen))]
    assert answers[0].status_code in {200, 422}, answers[0].text
    assert answers[0].status_code == answers[1].status_code
    assert answers[0].json() == answers[1].json()
    theirs = {"victim", *victim.ids.values()} - set(thief.ids.values())
    assert [word for word in theirs if word in answers[0].text] == []


@pytest.mark.parametrize("path", [path for path in LISTS if "{" in path])
async def test_a_cursor_opens_no_list_of_another_tenant(owners: tuple[Owner, Owner], tokens: str, path: str) -> None:
    victim, thief = owners
    cursors = await victim.cursor(path), await thief.cursor(path)
    answers = [await thief.list_from(path, after, victim.ids) for after in cursors]
    expected = {404, 200} if path == "/v1/reviews/{review_id}/audit" else {404, 422}
    assert {each.status_code for each in answers} <= expected, answers


@pytest.mark.parametrize("path", LISTS)
async def test_a_cursor_of_ones_own_goes_on(owners: tuple[Owner, Owner], tokens: str, path: str) -> None:
    """Else the tests above would prove nothing."""
    for owner in owners:
        first, second = await owner.list_from(path), await owner.list_from(path, await owner.cursor(path))
        assert second.status_code == 200, second.text
        assert first.json() != second.json()


PLACE = '{"alone": {"token": %s, "skip": %s, "is_over": false}, "chunked": %s, "is_chunked_over": false}'
RUNS = [
    b"\xff",
    *(b"{}", b"[]", b"null", b"[" * 60_000),
    *((PLACE % (token, 0, "null")).encode() for token in ("1", '"a"', "{}")),
    *((PLACE % ("null", skip, "null")).encode() for skip in ("-20000", 10**400, '"1"', "1.5")),
    *((PLACE % ("null", 0, place)).encode() for place in ("[1]", '["a", "b", "c"]', "{}")),
    (PLACE % ("null", 0, '["0001-01-01T00:00:00+14:00", "2026-01-01T00:00:00Z", "a.b"]')).encode(),
    (PLACE % ("null", 0, r'["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "\u0000"]')).encode(),
]


@pytest.mark.parametrize("token", RUNS, ids=lambda token: ascii(token)[:60])
async def test_a_forged_place_in_the_list_of_runs_is_refused(owners: tuple[Owner, Owner], token: bytes) -> None:
    with pytest.MonkeyPatch.context() as patched:
        accept_forged(patched)
        refused = await owners[1].list_from("/v1/runs", forged(token[:3_000]))
    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "after"), refused.text
