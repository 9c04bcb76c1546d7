"""A running API with a worker, and a way to run a definition that is written as a user writes it."""

from collections.abc import Awaitable, Callable

import pytest
import yaml

from docrail.dag.values.json_values import Json
from tests.api.conftest import dsn, service
from tests.api.service import Service

__all__ = ["dsn", "service", "start"]

Start = Callable[..., Awaitable[str]]


@pytest.fixture
def start(service: Service) -> Start:
    """Return a function that starts a run of a definition in YAML, with its inputs as keywords, and returns its id."""

    async def start(definition: str, **inputs: Json) -> str:
        body = {"definition": yaml.safe_load(definition), "inputs": inputs}
        response = await service.http.post("/v1/runs", json=body)
        assert response.status_code == 202, response.text
        run_id: str = response.json()["run_id"]
        return run_id

    return start
