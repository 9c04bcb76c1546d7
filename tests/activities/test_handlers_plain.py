"""The general handlers, and what importing the catalogue costs."""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from docrail.activities.handlers import echo, fail, noop, sleep
from docrail.activities.registry import NamedHandlers, load_catalogue
from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.sandbox.reader import DocumentReader
from docrail.adapters.store.blobs import BlobStore
from docrail.adapters.store.values import ValueStore
from docrail.dag.values.json_values import Json
from docrail.handlers import Catalogue, Handler, StepCall
from docrail.services.lake.files import Lake
from docrail.services.metrics import Metrics
from docrail.services.tools import Tools

HEAVY = ("google.genai", "httpx2", "lxml", "pikepdf", "pyarrow", "pypdfium2")


@pytest.fixture
async def tools(dsn: str, tmp_path: Path) -> AsyncIterator[Tools]:
    pool = await open_pool(dsn, min_size=0)
    yield Tools(pool, BlobStore(tmp_path), ValueStore(tmp_path), Lake(tmp_path), DocumentReader(), Metrics())
    await pool.close()


async def call(handler: Handler, tools: Tools, attempt: int = 1, **config: Json) -> Json:
    made = handler.config.model_validate(config)
    output = await handler.run(StepCall("acme", "run", "step", attempt, made), tools)
    return json.loads(output.model_dump_json())


async def test_noop_gives_nothing(tools: Tools) -> None:
    assert await call(noop.HANDLER, tools) == {}


@pytest.mark.parametrize("value", [None, 0, 1.5, "ü", [1, {"a": None}], {"b": [True]}])
async def test_echo_gives_back_any_json(tools: Tools, value: Json) -> None:
    assert await call(echo.HANDLER, tools, value=value) == {"value": value}


async def test_sleep_takes_its_time(tools: Tools) -> None:
    begun = time.monotonic()
    assert await call(sleep.HANDLER, tools, seconds=0.05) == {"seconds": 0.05}
    assert time.monotonic() - begun >= 0.049


@pytest.mark.parametrize("seconds", [-1, 3601, "inf", "nan"])
def test_sleep_refuses_what_is_no_short_wait(seconds: Json) -> None:
    with pytest.raises(ValidationError):
        sleep.Config.model_validate({"seconds": seconds})


async def test_fail_fails_its_first_attempts(tools: Tools) -> None:
    for attempt in (1, 2):
        with pytest.raises(TimeoutError, match="not yet"):
            await call(fail.HANDLER, tools, attempt, times=2, error="TimeoutError", message="not yet")
    assert await call(fail.HANDLER, tools, 3, times=2) == {"attempts": 3}


@pytest.mark.parametrize("name", fail.ERRORS)
async def test_fail_raises_the_error_it_is_reported(tools: Tools, name: str) -> None:
    with pytest.raises(fail.ERRORS[name]):
        await call(fail.HANDLER, tools, times=1, error=name)


async def test_fail_names_the_missing_key(tools: Tools) -> None:
    with pytest.raises(KeyError, match="total"):
        await call(fail.HANDLER, tools, times=1, error="KeyError", key="total")


def test_fail_refuses_an_error_it_does_not_know() -> None:
    with pytest.raises(ValidationError):
        fail.Config.model_validate({"times": 1, "error": "SystemExit"})


def test_the_catalogue_names_every_handler_by_its_file() -> None:
    files = {path.stem for path in Path(noop.__file__).parent.glob("[a-z]*.py")}
    assert set(load_catalogue()) == files


def fields_of(model: type[BaseModel]) -> Iterator[tuple[str, str | None]]:
    """Yield every field below a model, its path and its schema."""
    schema = model.model_json_schema()
    for owner, part in [(model.__name__, schema), *schema.get("$defs", {}).items()]:
        for name, field in part.get("properties", {}).items():
            yield f"{owner}.{name}", field.get("description")


@pytest.mark.parametrize("handler", load_catalogue().values(), ids=lambda handler: handler.name)
def test_every_handler_and_each_of_its_fields_says_what_it_is(handler: Handler) -> None:
    assert handler.summary
    assert handler.config.__doc__
    assert handler.output.__doc__
    silent = [path for model in (handler.config, handler.output) for path, reported in fields_of(model) if not reported]
    assert silent == []


@pytest.mark.parametrize(
    ("name", "handler"),
    [
        ("external_service", "call_external_service"),
        ("call_external_service", "call_external_service"),
        ("llm_service", "llm_service"),
        ("data_processor", "transform"),
        ("input", "input"),
        ("output", "output"),
        ("extract", "extract_invoice"),
        ("save_parquet", "save_parquet"),
        ("save_json", "save_json"),
        ("record_metrics", "record_metrics"),
        ("create_review", "create_review"),
        ("SendWebhookEvent", "send_webhook"),
        ("ParseHTTPRequest", "parse_http_request"),
        ("ParseDocument", "extract_invoice"),
    ],
)
def test_a_name_of_the_examples_is_a_handlers(name: str, handler: str) -> None:
    assert load_catalogue()[name].name == handler


def test_handlers_that_are_loaded_by_name_are_the_same() -> None:
    named, catalogue = NamedHandlers(), load_catalogue()
    assert {name: named[name] for name in catalogue} == dict(catalogue) == dict(named)
    assert len(named) == len(catalogue)


@pytest.mark.parametrize("catalogue", [load_catalogue(), NamedHandlers()], ids=["all", "named"])
def test_an_alias_finds_its_handler_and_is_not_one(catalogue: Mapping[str, Handler]) -> None:
    assert catalogue["data_processor"] is catalogue["transform"]
    assert "data_processor" not in list(catalogue)
    assert len(catalogue) == len(list(catalogue))
    assert catalogue.get("nobody") is None


def test_a_name_that_means_two_handlers_is_refused() -> None:
    other = Handler("other", noop.Config, noop.Output, noop.run, aliases=("noop",))
    with pytest.raises(ValueError, match="the name 'noop' means two handlers: noop and other"):
        Catalogue([noop.HANDLER, other])
    with pytest.raises(ValueError, match="the name 'noop' means two handlers: noop and noop"):
        Catalogue([noop.HANDLER, Handler("noop", noop.Config, noop.Output, noop.run)])


def test_the_identity_of_a_call_is_that_of_its_step_and_config_and_not_of_its_attempt() -> None:
    def identity(run: str = "r", step: str = "s", attempt: int = 1, value: Json = 1, item: str | None = None) -> str:
        return StepCall("acme", run, step, attempt, echo.Config(value=value), item).identity

    others = {identity(run="r2"), identity(step="s2"), identity(value=2), identity(item="a"), identity(item="b")}
    assert identity() == identity(attempt=2)
    assert len({identity(), *others}) == 6


def test_the_catalogue_loads_no_heavy_library() -> None:
    program = (
        "import sys; from docrail.activities.registry import load_catalogue; load_catalogue(); "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "[]\n"), ended.stderr
