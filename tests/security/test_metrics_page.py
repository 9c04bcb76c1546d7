"""A worker's metrics page answers to its own names only."""

from collections.abc import Iterator

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter

from docrail.adapters.http.metrics_page import serve_metrics
from docrail.settings import Settings


@pytest.fixture
def page() -> Iterator[httpx.Client]:
    registry = CollectorRegistry()
    Counter("documents", "Documents", registry=registry).inc(7)
    hosts = Settings(api_hosts="worker", worker_metrics_host="127.0.0.1").worker_hosts
    server = serve_metrics(registry, "127.0.0.1", 0, hosts)
    with httpx.Client(base_url=f"http://127.0.0.1:{server.server_port}", trust_env=False) as http:
        yield http
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("host", ["127.0.0.1:9100", "localhost", "worker:9100"])
def test_it_answers_to_its_own_names(page: httpx.Client, host: str) -> None:
    answer = page.get("/metrics", headers={"Host": host})
    assert (answer.status_code, "documents_total 7.0" in answer.text) == (200, True)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9100", "127.0.0.1.evil.example", "10.0.0.5"])
@pytest.mark.parametrize("path", ["/metrics", "/"])
def test_it_shows_nothing_under_another_name(page: httpx.Client, host: str, path: str) -> None:
    answer = page.get(path, headers={"Host": host})
    assert (answer.status_code, "documents" in answer.text) == (421, False)


def test_on_all_addresses_every_ip_address_is_its_own() -> None:
    hosts = Settings(worker_metrics_host="0.0.0.0").worker_hosts
    assert hosts.accepts("10.0.0.5:9100")
    assert not hosts.accepts("evil.example:9100")
