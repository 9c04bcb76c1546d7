"""Large and costly requests are answered soon, with few problems, while others are served and memory is given back."""

import asyncio
import json
import os
import socket
from contextlib import suppress
from functools import partial

import httpx
import pytest
from fastapi.routing import APIRoute

from docrail.adapters.sandbox.forker import ChildLimits, Forker
from docrail.api.app import CHECK_PROGRAM
from docrail.api.body_sizes import FIELDS_BYTES, MAX_JSON_BYTES, MOST_BYTES, UPLOADS
from docrail.api.middleware.large_requests import DIRECT_BYTES, MAX_HELD_BYTES, MAX_VALUES, has_too_many_values
from docrail.dag.values.json_values import Json
from docrail.services.definitions.checks import NICENESS, THREAD_BYTES, cost_of
from docrail.services.errors import MOST_PROBLEMS, Busy, TooCostly
from docrail.services.limited_processes import LIMITS, LimitedProcesses
from docrail.services.turns import Turns
from tests.api.test_routes import TAKES_BODY
from tests.security import attacks
from tests.security.attacks import ATTACKS, Attack
from tests.security.callers import Guarded, guarded
from tests.security.target import Target, dsn, target
from tests.security.watch import kept_mb, watched
from tests.stack import descendants, eventually

__all__ = ["dsn", "guarded", "target"]

MOST_MS = 250
"""Longest time that an attack may keep another request waiting."""
MOST_MB = 250
"""Most memory that the API keeps after an attack."""
TRIES = 5
"""On a busy machine other threads that the loop waits for are delayed too: the best of some tries counts."""
MOST_ANSWER_BYTES = 200_000
ANSWERED = {"200", "201", "202", "404", "413", "415", "422", "503"}


async def attack_once(target: Target, attack: Attack) -> tuple[list[httpx.Response], float]:
    """Send the attack, and return the answers and the longest wait of another request in milliseconds."""
    body = attack.body()
    headers = {"Content-Type": attack.content_type}
    async with target.client() as http:
        with watched(target.url, target.pid) as seen:
            request = partial(http.request, attack.method, attack.path, content=body, headers=headers)
            answers = await asyncio.gather(*(request() for _ in range(attack.at_once)))
    return answers, seen.longest_ms


@pytest.mark.parametrize("attack", [pytest.param(each, id=each.name) for each in ATTACKS])
@pytest.mark.slow
async def test_an_attack_holds_up_no_one(target: Target, attack: Attack) -> None:
    waits = []
    for _ in range(TRIES):
        answers, waited = await attack_once(target, attack)
        for answer in answers:
            assert str(answer.status_code) in ANSWERED, answer.text[:500]
            if answer.status_code >= 400:
                check_refusal(answer)
        waits.append(waited)
        if waited <= MOST_MS:
            break
    assert min(waits) <= MOST_MS, waits
    await check_memory(target)


async def check_memory(target: Target) -> None:
    """Wait for the API to return its memory, and fail with what each of its processes keeps."""
    with suppress(pytest.fail.Exception):
        await eventually(lambda: sum(kept_mb(target.pid).values()) <= MOST_MB, "the memory to be returned")
    kept = kept_mb(target.pid)
    assert sum(kept.values()) <= MOST_MB, kept


async def test_downloads_that_are_taken_slowly_hold_little_memory(target: Target) -> None:
    """Together the answers are larger than the API's memory may be."""
    definition = {"id": "kept", "inputs": {"document_id": {"type": "string"}}, "steps": [attacks.STEP]}
    async with target.client() as http:
        (await http.post("/v1/definitions", json={"definition": definition})).raise_for_status()
        files = {"file": ("large.bin", os.urandom(24 * 2**20))}
        stored = (await http.post("/v1/documents", files=files, data={"definition": "kept"})).json()
    await check_memory(target)
    head = f"GET /v1/documents/{stored['document_id']}/original HTTP/1.1\r\nHost: localhost\r\n\r\n"
    host, port = target.url.removeprefix("http://").split(":")
    held = [await asyncio.open_connection(host, int(port), limit=1024) for _ in range(16)]
    try:
        for _, writer in held:
            writer.write(head.encode())
        for reader, _ in held:
            assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        await check_memory(target)
    finally:
        for _, writer in held:
            writer.close()


def check_refusal(answer: httpx.Response) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.content) <= MOST_ANSWER_BYTES
    assert len(answer.json().get("problems", ())) <= MOST_PROBLEMS


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/runs", attacks.unknown_keys(9_000)),
        ("/v1/runs/x.y/retry", attacks.wrong_items()),
        ("/v1/runs/x.y/retry", attacks.wrong_steps()),
        ("/v1/definitions", attacks.misspelt_definition(300)),
    ],
    ids=["unknown keys", "items", "steps", "definition"],
)
async def test_a_refusal_lists_the_first_problems_and_counts_the_others(target: Target, path: str, body: bytes) -> None:
    async with target.client() as http:
        refused = await http.post(path, content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code == 422
    check_refusal(refused)
    assert refused.json()["more"] > 0


async def test_a_few_problems_are_all_listed(target: Target) -> None:
    steps = {f"s{number}": {"skip": "no"} for number in range(20)}
    async with target.client() as http:
        refused = (await http.post("/v1/runs/x.y/retry", json={"steps": steps})).json()
    assert [problem["path"] for problem in refused["problems"]] == [f"steps.s{number}.skip" for number in range(20)]
    assert "more" not in refused


async def test_a_costly_check_ends_when_its_caller_leaves(target: Target) -> None:
    body = attacks.right_definition(tests=100)
    lines = "POST /v1/definitions?run_tests=true HTTP/1.1", "Host: localhost", "Content-Type: application/json"
    head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""])
    host, port = target.url.removeprefix("http://").split(":")
    before = await forked(target)
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(head.encode() + body)
    await writer.drain()
    await eventually(lambda: bool(descendants(target.pid) - before), "a process for the tests")
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    await eventually(lambda: not descendants(target.pid) - before, "the end of that process", timeout_seconds=5)


async def forked(target: Target) -> set[int]:
    """Return the API's processes once the server of its limited processes has started."""
    async with target.client() as http:
        text = json.loads(attacks.misspelt_definition(300))
        assert (await http.post("/v1/definitions/validate", json=text)).status_code == 200
    return descendants(target.pid)


@pytest.fixture
async def forker() -> Forker:
    return Forker(CHECK_PROGRAM)


BURNING = json.dumps({"body": json.loads(attacks.right_definition(tests=100))["definition"], "fallbacks": {}})


async def test_a_costly_check_is_stopped_at_its_limit(forker: Forker) -> None:
    processes = LimitedProcesses(forker, ChildLimits(LIMITS.memory_bytes, cpu_seconds=1, wall_seconds=30.0))
    try:
        with pytest.raises(TooCostly):
            await processes.perform("tests", BURNING)
    finally:
        await forker.close()


async def test_costly_checks_leave_the_cores_to_whoever_answers_requests(forker: Forker) -> None:
    processes = LimitedProcesses(forker)
    try:
        with pytest.raises(RuntimeError, match="no_such_task"):
            await processes.perform("no_such_task", "{}")
        assert forker.server_pid is not None
        ours, theirs = (os.getpriority(os.PRIO_PROCESS, pid) for pid in (0, forker.server_pid))
        assert theirs == min(ours + NICENESS, 19)
    finally:
        await forker.close()


async def test_a_check_that_takes_too_much_memory_is_stopped(forker: Forker) -> None:
    await forker.start()
    processes = LimitedProcesses(forker, ChildLimits(memory_bytes=180_000_000, cpu_seconds=30, wall_seconds=60.0))
    long = json.loads(attacks.yaml_text())["definition"]
    order = {
        "body": long,
        "tags": [],
        "fallbacks": {},
        "unpublished": {"refs": [], "known": []},
        "is_planned": False,
        "drawn_open": None,
    }
    try:
        with pytest.raises(TooCostly):
            await processes.perform("definition", json.dumps(order))
    finally:
        await forker.close()


@pytest.mark.parametrize("most", [1000, 200])
def test_a_short_text_with_costly_patterns_is_not_checked_in_a_thread(most: int) -> None:
    body = attacks.costly_patterns(most).decode()
    assert len(body) < THREAD_BYTES < cost_of(body)


def test_usual_patterns_and_templates_are_checked_in_a_thread() -> None:
    usual = r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$ ^\d{4}-\d{2}-\d{2}$ {{ inputs.total }} {{ 3 }}"
    assert cost_of(json.dumps(usual)) < THREAD_BYTES


async def test_few_checks_run_at_once_and_few_wait(forker: Forker) -> None:
    processes = LimitedProcesses(forker, turns=Turns(1, 1))
    order = json.dumps({"body": {"id": "x", "steps": []}, "faults": {}})
    try:
        found = await asyncio.gather(*(processes.perform("routing", order) for _ in range(3)), return_exceptions=True)
    finally:
        await forker.close()
    assert [type(each) for each in found] == [dict, dict, Busy]


async def test_a_turn_is_free_again_after_its_holder_or_one_who_waits_gives_up() -> None:
    turns, had = Turns(1, 1), list[str]()
    async with turns.of("a"):
        waiting = asyncio.ensure_future(have(turns, "a", had))
        await asyncio.sleep(0)
        waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    for _ in range(3):
        await have(turns, "a", had)
    assert had == ["a"] * 3


async def have(turns: Turns, name: str, had: list[str]) -> None:
    """Have a turn of the tenant in the name's first letter."""
    async with turns.of(name[0]):
        had.append(name)
        await asyncio.sleep(0)


async def test_tenants_have_turns_in_rotation_however_many_of_their_callers_wait() -> None:
    turns, had = Turns(1, 10), list[str]()
    async with turns.of("a"):
        waiting = [asyncio.ensure_future(have(turns, name, had)) for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1")]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert had == ["b1", "c1", "a1", "b2", "a2", "a3", "a4"]


async def test_a_tenant_that_fills_the_places_makes_room_for_another() -> None:
    turns, had = Turns(1, 4), list[str]()
    async with turns.of("a"):
        names = ("a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1")
        waiting = [asyncio.ensure_future(have(turns, name, had)) for name in names]
        await asyncio.sleep(0)
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [name for name, each in zip(names, found, strict=True) if isinstance(each, Busy)] == ["a2", "a3", "a4", "a5"]
    assert sorted(had) == ["a1", "b1", "b2", "c1"]


@pytest.mark.parametrize(
    ("body", "is_refused"),
    [
        (b"[%s]" % b",".join([b"0"] * (MAX_VALUES - 1)), False),
        (b"[%s]" % b",".join([b"0"] * (MAX_VALUES + 1)), True),
        (b'{"a":"%s"}' % (b",[{" * MAX_VALUES), False),
        (rb'{"a":"\"%s\\"}' % (b"," * (MAX_VALUES + 1)), False),
        (rb'{"a":"\\",%s' % (b'"a":0,' * MAX_VALUES), True),
        (b'"%s' % (b"," * (MAX_VALUES + 1)), True),
    ],
    ids=["few", "many", "in a text", "after an escaped quote", "after an escaped backslash", "in a text without end"],
)
async def test_values_are_counted_outside_texts(body: bytes, is_refused: bool) -> None:
    assert await has_too_many_values(body) is is_refused


def test_every_limit_belongs_to_a_route_with_a_body() -> None:
    assert MOST_BYTES.keys() <= {str(parameter.values[1]) for parameter in TAKES_BODY}


@pytest.mark.parametrize(("method", "path", "route"), TAKES_BODY)
async def test_a_route_documents_its_limit_and_keeps_to_it(
    target: Target, method: str, path: str, route: APIRoute
) -> None:
    async with target.client() as http:
        document: Json = (await http.get("/openapi.json")).json()
        described = document["paths"][path][method.lower()]["responses"]["413"]["description"]
        if path in UPLOADS:
            assert UPLOADS[path] in described
            return
        limit = MOST_BYTES.get(path, FIELDS_BYTES)
        assert str(limit) in described
        refused = await http.request(method, path, content=b" " * (limit + 1))
        assert (refused.status_code, refused.json()["limit_bytes"]) == (413, limit)
        taken = await http.request(method, path, content=b" " * limit)
        assert taken.status_code != 413


async def test_bodies_that_are_sent_slowly_hold_no_turn(target: Target) -> None:
    """Twenty large bodies lack their last byte; another large one is handled all the same."""
    host, port = target.url.removeprefix("http://").split(":")
    lines = (
        b"POST /v1/definitions/validate HTTP/1.1",
        b"Host: localhost",
        b"Content-Length: 100001",
        b"",
        b" " * 100_000,
    )
    head = b"\r\n".join(lines)
    slow = [socket.create_connection((host, int(port))) for _ in range(20)]
    try:
        for each in slow:
            await asyncio.to_thread(each.sendall, head)
        async with target.client() as http:
            text = json.loads(attacks.misspelt_definition(2_000))
            assert (await http.post("/v1/definitions/validate", json=text)).status_code == 200
    finally:
        for each in slow:
            each.close()


async def test_a_tenant_that_holds_all_memory_of_bodies_keeps_out_itself_only(guarded: Guarded) -> None:
    """As many bodies as fit lack their last byte: the tenant gets no further one, and another tenant does."""
    mine, other = await guarded.key(tenant="acme"), await guarded.key(tenant="globex")
    writers = [await begin(guarded, mine) for _ in range(MAX_HELD_BYTES // MAX_JSON_BYTES)]
    try:
        await eventually(lambda: is_validated(guarded, mine, 503), "the bodies to be held")
        assert await is_validated(guarded, other, 200)
    finally:
        for each in writers:
            each.close()


async def begin(guarded: Guarded, key: str) -> asyncio.StreamWriter:
    """Send a body of the allowed size without its last byte."""
    _, writer = await asyncio.open_connection("127.0.0.1", guarded.service.http.base_url.port)
    head = ["POST /v1/definitions/validate HTTP/1.1", "Host: localhost", f"Authorization: Bearer {key}"]
    writer.write("\r\n".join([*head, f"Content-Length: {MAX_JSON_BYTES}", "", ""]).encode())
    writer.write(b" " * (MAX_JSON_BYTES - 1))
    await writer.drain()
    return writer


async def is_validated(guarded: Guarded, key: str, status: int) -> bool:
    """Check how a body that is received in many parts is answered."""
    body = b'{"definition": "id: x"}' + b" " * 8 * DIRECT_BYTES
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    answer = await guarded.service.http.post("/v1/definitions/validate", content=body, headers=headers)
    return answer.status_code == status
