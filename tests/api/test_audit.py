import pytest

from tests.api.reviewing import Reviewer, reviewer, waiting
from tests.api.service import Service
from tests.postgres import as_owner


@pytest.fixture
def ann(service: Service) -> Reviewer:
    return reviewer(service)


async def test_events_are_listed_page_by_page_and_fit(service: Service, ann: Reviewer) -> None:
    for _ in range(3):
        await ann.claim((await waiting(service, ann))["review_id"])
    operator = ann.named("op", "operate")
    first = (await operator.get("/audit", limit=2))["events"]
    rest = (await operator.get("/audit", after=first[-1]["sequence"]))["events"]
    assert [event["sequence"] for event in first + rest] == [1, 2, 3]
    assert {(event["actor"], event["act"]) for event in first + rest} == {("ann", "claimed")}
    verdict = await operator.get("/audit/verify")
    assert verdict == {"intact": True, "events": 3, "head": rest[-1]["hash"], "broken_at": None, "problem": ""}


async def test_the_newest_events_come_first_page_by_page_and_by_person_act_and_item(
    service: Service, ann: Reviewer
) -> None:
    items = [(await waiting(service, ann))["review_id"] for _ in range(2)]
    for item in items:
        await ann.claim(item)
    await ann.named("bob").refused("POST", f"/reviews/{items[0]}/claim", 409)
    operator = ann.named("op", "operate")
    first = await operator.get("/audit/newest", limit=1)
    assert ([each["sequence"] for each in first["events"]], first["before"], first["acts"]) == ([2], 2, ["claimed"])
    rest = await operator.get("/audit/newest", before=first["before"])
    assert ([each["sequence"] for each in rest["events"]], rest["before"]) == ([1], None)

    async def numbers(**wanted: str) -> list[int]:
        return [each["sequence"] for each in (await operator.get("/audit/newest", **wanted))["events"]]

    assert await numbers(actor="Ann", act="claimed") == [2, 1]
    assert await numbers(actor="bob") == []
    assert await numbers(act="approved") == []
    assert await numbers(subject=items[0]) == [1]


async def test_a_kept_head_is_looked_for(service: Service, ann: Reviewer) -> None:
    operator = ann.named("op", "operate")
    heads = []
    for _ in range(2):
        await ann.claim((await waiting(service, ann))["review_id"])
        heads.append((await operator.get("/audit/verify"))["head"])
    for head in heads:
        assert (await operator.get("/audit/verify", head=head))["intact"]
    verdict = await operator.get("/audit/verify", head="f" * 64)
    assert (verdict["intact"], verdict["events"], "f" * 64 in verdict["problem"]) == (False, 2, True)
    await operator.refused("GET", "/audit/verify", 422, params={"head": "f"})


async def test_an_items_events_are_listed_page_by_page(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    for _ in range(3):
        await ann.claim(item["review_id"])
    path = f"/reviews/{item['review_id']}/audit"
    first = (await ann.get(path, limit=2))["events"]
    rest = (await ann.get(path, after=first[-1]["sequence"]))["events"]
    assert [event["detail"]["token"] for event in first + rest] == [1, 2, 3]


async def test_another_tenant_has_an_audit_of_its_own(service: Service, ann: Reviewer) -> None:
    item = await waiting(service, ann)
    await ann.claim(item["review_id"])
    stranger = reviewer(service).named("op", "operate")
    assert (await stranger.get("/audit"))["events"] == []
    assert (await stranger.get("/audit/verify"))["events"] == 0
    await stranger.named("eve").refused("GET", f"/reviews/{item['review_id']}/audit", 404)


@pytest.mark.parametrize("path", ["/audit", "/audit/newest", "/audit/verify"])
async def test_a_reviewer_does_not_read_all_of_the_audit(ann: Reviewer, path: str) -> None:
    assert (await ann.refused("GET", path, 403))["scope"] == "operate"


async def test_a_break_is_reported_with_its_place(service: Service, ann: Reviewer) -> None:
    await ann.claim((await waiting(service, ann))["review_id"])
    async with service.pool.acquire() as connection:
        await as_owner(connection)
        await connection.execute("SET session_replication_role = replica")  # past the triggers, as an owner can
        await connection.execute("UPDATE audit_events SET actor = 'eve' WHERE tenant_id = $1", ann.tenant)
        await connection.execute("SET session_replication_role = DEFAULT")
        await connection.execute("SET ROLE docrail_fleet")
    verdict = await ann.named("op", "operate").get("/audit/verify")
    assert (verdict["intact"], verdict["broken_at"]) == (False, 1)
    assert verdict["problem"] == "event 1 is not as it was written, or not in its place"
