from pathlib import Path

import httpx
import pytest

from docrail.adapters.store import blobs
from docrail.services.fleet.store_identity import ANOTHER, FILE, claim_store
from tests.api.service import Service, serve, settings_for
from tests.postgres import migrated_database
from tests.stack import Servers


async def test_an_api_with_everything_is_ready(http: httpx.AsyncClient) -> None:
    response = await http.get("/readyz")
    free = {"store_free_bytes": response.json()["store_free_bytes"]}
    assert free["store_free_bytes"] > blobs.LEAST_FREE_BYTES
    services = dict.fromkeys(("temporal", "postgresql", "worker", "store"), "ok")
    assert response.json() == {"ready": True} | services | free


async def test_a_live_api_says_so(http: httpx.AsyncClient) -> None:
    assert (await http.get("/healthz")).json() == {"status": "ok"}


async def test_readiness_names_a_store_that_is_not_there(
    embedded: Servers, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(settings_for(embedded.temporal_address, dsn, tmp_path)) as service:
        assert (await service.http.get("/readyz")).json()["store"] == "ok"
        monkeypatch.setattr(blobs, "LEAST_FREE_BYTES", 2**80)
        response = await service.http.get("/readyz")
        assert response.status_code == 503
        assert response.json()["store"] == "the file store is not available: the disk is full"


async def test_readiness_names_a_missing_worker(workerless: Service) -> None:
    response = await workerless.http.get("/readyz")
    assert response.status_code == 503
    assert "no worker polls the task queue" in response.json()["worker"]
    shown = await workerless.http.get("/v1/health")
    assert shown.status_code == 200
    assert shown.json() | {"store_free_bytes": 0} == response.json() | {"store_free_bytes": 0}  # other tests write


async def test_metrics_count_by_route_template(http: httpx.AsyncClient) -> None:
    await http.get("/v1/runs/hello.never_started")
    text = (await http.get("/metrics")).text
    assert 'docrail_http_requests_total{method="GET",route="/v1/runs/{run_id}",status="404"}' in text
    assert "never_started" not in text


async def test_metrics_do_not_grow_with_made_up_paths(http: httpx.AsyncClient) -> None:
    await http.get("/made/up/4711")
    text = (await http.get("/metrics")).text
    assert 'route="unmatched",status="404"' in text
    assert "made" not in text


async def test_readiness_names_a_store_that_is_not_this_database_s(embedded: Servers, tmp_path: Path) -> None:
    """As with a volume that is not mounted any more."""
    async with (
        migrated_database(embedded.dsn) as own_dsn,
        serve(settings_for(embedded.temporal_address, own_dsn, tmp_path)) as service,
    ):
        await claim_store(service.app.db, service.app.store)
        assert (await service.http.get("/readyz")).json()["store"] == "ok"
        (tmp_path / FILE).unlink()
        answer = await service.http.get("/readyz")
        assert (answer.status_code, answer.json()["store_free_bytes"]) == (503, None)
        assert answer.json()["store"] == ANOTHER
