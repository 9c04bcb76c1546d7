"""docker-compose.yml fits the compose schema, the settings that the code reads, and the embedded stack."""

import asyncio
import json
import os
import re
import sysconfig
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import asyncpg
import jsonschema
import pytest
import yaml
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client

from docrail.adapters.postgres.migrate import migrate
from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.postgres.tenants import rows_of
from docrail.adapters.temporal.connection import Connection
from docrail.cli.main import leaves
from docrail.embedded.postgres import find_programs, start_postgres
from docrail.embedded.temporal import DYNAMIC_CONFIG, RETENTION, SEARCH_ATTRIBUTES
from docrail.services.access.models import Scope, system_principal
from docrail.services.access.service import create_key
from docrail.services.fleet.namespace import prepare_namespace
from docrail.settings import Settings
from tests.postgres import administer
from tests.s3 import KEYS
from tests.servers import database_at
from tests.stack import Servers

ROOT = Path(__file__).parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "docrail"}


BUCKET_KEYS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"}
"""Variables of the S3 client that are not settings of Docrail."""


def settings_of(service: str) -> Settings:
    """Return what the file itself sets; a name without a value is handed on from wherever it is used."""
    variables = OURS[service]["environment"].items()
    values = {name: value for name, value in variables if name.startswith("DOCRAIL_") and value is not None}
    return Settings.model_validate({name.removeprefix("DOCRAIL_").lower(): value for name, value in values.items()})


def test_it_fits_the_compose_schema() -> None:
    schema = json.loads(files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text())
    jsonschema.validate(COMPOSE, schema)


def test_the_schema_would_notice_a_mistake() -> None:
    schema = json.loads(files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"services": {"api": {"imagee": "docrail"}}}, schema)


@pytest.mark.parametrize("service", OURS)
def test_every_variable_is_a_setting_that_accepts_its_value(service: str) -> None:
    """Settings forbids names it does not know, so this fails for a misspelt one."""
    assert settings_of(service).temporal_address == "temporal:7233"


@pytest.mark.parametrize("service", OURS)
def test_every_variable_that_is_handed_on_is_a_setting(service: str) -> None:
    handed_on = [name for name, value in OURS[service]["environment"].items() if value is None]
    assert handed_on
    ours = set(handed_on) - BUCKET_KEYS
    assert [name for name in ours if name.removeprefix("DOCRAIL_").lower() not in Settings.model_fields] == []


def test_services_that_store_or_read_files_get_the_bucket_and_its_keys() -> None:
    for service in ("api", "worker"):
        environment = OURS[service]["environment"]
        for name in {"DOCRAIL_STORE", "DOCRAIL_STORE_ENDPOINT", *BUCKET_KEYS}:
            assert environment.get(name, "missing") is None


def test_the_keys_are_called_as_the_client_calls_them() -> None:
    assert {*KEYS, "AWS_SESSION_TOKEN"} == BUCKET_KEYS  # a token comes with borrowed keys only


def test_a_variable_that_is_passed_on_empty_counts_as_unset() -> None:
    """As compose does with `NAME=` in its .env."""
    settings = Settings.model_validate({"store": "", "store_endpoint": ""})
    assert (settings.store, settings.store_endpoint) == (None, None)


def test_api_and_workers_have_the_same_callback_key() -> None:
    for name in ("DOCRAIL_CALLBACK_KEY", "DOCRAIL_PUBLIC_URL"):
        assert {OURS[service]["environment"].get(name, "missing") for service in ("api", "worker")} == {None}


OF_API = {"access", "api_host", "api_port", "share_from", "tls_cert", "tls_key"}
"""Settings of the API alone, with `oidc_...`."""


def test_every_setting_reaches_the_services_that_read_it() -> None:
    for name in Settings.model_fields:
        readers = {
            service for service in ("api", "worker") if f"DOCRAIL_{name.upper()}" in OURS[service]["environment"]
        }
        if name in OF_API or name.startswith("oidc_"):
            assert (name, readers) == (name, {"api"})
        elif name.startswith(OF_WORKERS):
            assert (name, readers) == (name, {"worker"})
        else:
            assert (name, readers) == (name, {"api", "worker"})


OF_WORKERS = (
    *("worker_", "notify_url", "secrets_dir", "inbox_dir"),  # the API calls no services
    *("gemini_api_key", "gemini_base_url", "gemini_model"),
    *("graceful_shutdown_seconds", "build_id", "deployment_name", "sandboxed"),
)
"""Settings of workers alone, by the beginnings of their names."""


def test_no_container_takes_all_memory_or_fills_the_disk_with_its_log() -> None:
    for name, service in SERVICES.items():
        assert (name, service["logging"]["options"]) == (name, {"max-size": "10m", "max-file": "5"})
        assert re.fullmatch(r"\d+[mg]|\$\{MEMORY_[A-Z]+:-\d+g\}", service["mem_limit"])


def test_secrets_are_mounted_for_reading_where_the_worker_looks_and_are_in_no_image_or_commit() -> None:
    folder = settings_of("worker").secrets_folder
    assert f"${{SECRETS_FOLDER:-./secrets}}:{folder}:ro" in SERVICES["worker"]["volumes"]
    for name in (".dockerignore", ".gitignore"):
        assert {"secrets", ".env"} <= {line.strip("/") for line in (ROOT / name).read_text().splitlines()}


def test_there_are_two_workers() -> None:
    assert SERVICES["worker"]["deploy"]["replicas"] == 2


def test_every_service_waits_for_what_it_needs() -> None:
    jobs = {"migrate", "temporal-schema", "temporal-setup"}
    for service in SERVICES.values():
        for needed, wait in service.get("depends_on", {}).items():
            expected = "service_completed_successfully" if needed in jobs else "service_healthy"
            assert wait["condition"] == expected
            assert needed in jobs or "healthcheck" in SERVICES[needed]


def test_each_server_has_a_healthcheck() -> None:
    serving = {"postgres", "temporal-postgres", "temporal", "api", "worker", "prometheus"}
    assert {name for name, service in SERVICES.items() if "healthcheck" in service} == serving


def test_addresses_lead_to_services_and_ports_agree() -> None:
    api, worker = settings_of("api"), settings_of("worker")
    assert api.temporal_address is not None
    host, port = api.temporal_address.split(":")
    assert host in SERVICES
    assert f"nc -z localhost {port}" in " ".join(SERVICES[host]["healthcheck"]["test"])
    assert SERVICES["api"]["ports"] == [f"127.0.0.1:{api.api_port}:{api.api_port}"]
    assert f":{api.api_port}/healthz" in SERVICES["api"]["healthcheck"]["test"][-1]
    assert f":{worker.worker_metrics_port}/readyz" in SERVICES["worker"]["healthcheck"]["test"][-1]
    assert api.temporal_ui_url == "http://" + SERVICES["temporal-ui"]["ports"][0].rsplit(":", 1)[0]


def login_of(service: str) -> tuple[str, ...]:
    """Return user, password, host and database of a service's URL."""
    found = urlsplit(settings_of(service).database_url)
    return found.username or "", unquote(found.password or ""), found.hostname or "", found.path.removeprefix("/")


def test_only_migrations_log_in_as_the_databases_owner() -> None:
    given = SERVICES["postgres"]["environment"]
    assert login_of("migrate") == ("docrail_owner", given["OWNER_PASSWORD"], "postgres", "docrail")
    for service in ("api", "worker"):
        assert login_of(service) == ("docrail_service", given["SERVICE_PASSWORD"], "postgres", "docrail")
    assert "./deploy/postgres-roles.sh:/docker-entrypoint-initdb.d/roles.sh:ro" in SERVICES["postgres"]["volumes"]


def test_only_what_asks_who_calls_is_published_and_to_this_machine_only() -> None:
    """Temporal and Prometheus ask no one. Temporal's UI can be made to ask; Grafana asks for a password."""
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published.keys() == {"api", "temporal-ui", "grafana"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)
    assert settings_of("api").access == "keys"
    ui = SERVICES["temporal-ui"]
    assert (ui["profiles"], ui["environment"]["TEMPORAL_AUTH_ENABLED"]) == (["ui"], "true")
    assert ui["environment"]["TEMPORAL_AUTH_CALLBACK_URL"].startswith(settings_of("api").temporal_ui_url)
    grafana = SERVICES["grafana"]
    assert (grafana["profiles"], SERVICES["prometheus"]["profiles"]) == (["monitoring"], ["monitoring"])
    assert not [name for name in grafana["environment"] if name.startswith("GF_AUTH_")]  # as they ask by default
    assert "network_mode" not in json.dumps(COMPOSE)


async def test_the_image_makes_logins_that_are_no_superusers(tmp_path: Path) -> None:
    """On a PostgreSQL of its own: the script makes roles and the database as it does in the image."""
    server = await start_postgres(tmp_path, report=print)
    try:
        where = dict(parse_qsl(urlsplit(server.dsn).query))
        await administer(database_at(server.dsn, "postgres"), "DROP DATABASE docrail")  # the image has none yet
        environment = {
            "PATH": f"{find_programs()}:{os.environ['PATH']}",
            "PGHOST": where["host"],
            "PGPASSFILE": where["passfile"],
            "POSTGRES_USER": where["user"],
            "OWNER_PASSWORD": "it's owned",
            "SERVICE_PASSWORD": "served",
        }
        script = await asyncio.create_subprocess_exec("sh", "deploy/postgres-roles.sh", cwd=ROOT, env=environment)
        assert await asyncio.wait_for(script.wait(), 60) == 0

        def login(user: str, password: str) -> str:
            return f"postgresql://{user}:{quote(password)}@/docrail?{urlencode({'host': where['host']})}"

        assert await migrate(login("docrail_owner", "it's owned"))
        pool = await open_pool(login("docrail_service", "served"), min_size=1, max_size=1, rows=rows_of("default"))
        async with pool:
            assert (await create_key(pool, system_principal("default"), "ann", Scope)).key
            supers = await pool.fetch("SELECT rolname FROM pg_roles WHERE rolsuper AND rolname LIKE 'docrail_%'")
            assert supers == []
        service = await asyncpg.connect(login("docrail_service", "served"))
        for statement in ("SELECT * FROM public.api_keys", "SET ROLE docrail_owner", "CREATE TABLE public.mine ()"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await service.execute(statement)
        await service.close()
    finally:
        await server.stop()


def test_images_are_pinned() -> None:
    images = {service["image"] for service in SERVICES.values()} - {"docrail"}
    assert [image for image in images if not re.fullmatch(r"[a-z-]+(/[a-z-]+)?:v?\d+(\.\d+){0,2}", image)] == []


def test_prometheus_reads_the_pages_of_all_processes_with_its_key() -> None:
    prometheus = SERVICES["prometheus"]
    config = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    jobs = {job["job_name"]: job for job in config["scrape_configs"]}
    names = {name: (each["names"], each["port"]) for name, job in jobs.items() for each in job["dns_sd_configs"]}
    api, worker = settings_of("api"), settings_of("worker")
    expected = {"docrail-api": (["api"], api.api_port), "docrail-worker": (["worker"], worker.worker_metrics_port)}
    assert names == expected
    for hosts in (api.own_hosts, worker.worker_hosts):
        assert hosts.accepts("172.18.0.7:8000")  # what Prometheus calls a process by
    assert prometheus["secrets"] == [*COMPOSE["secrets"]] == ["metrics_key"]
    assert jobs["docrail-api"]["authorization"] == {"credentials_file": "/run/secrets/metrics_key"}
    mounted = {volume.split(":")[1] for volume in prometheus["volumes"]}
    assert {f"/etc/prometheus/{file}" for file in ("prometheus.yml", *config["rule_files"])} <= mounted


def test_grafana_reads_that_prometheus_and_finds_its_dashboard() -> None:
    mounts = {volume.split(":")[1]: ROOT / volume.split(":")[0] for volume in SERVICES["grafana"]["volumes"][1:]}
    (source,) = yaml.safe_load(mounts["/etc/grafana/provisioning/datasources/docrail.yml"].read_text())["datasources"]
    (provider,) = yaml.safe_load(mounts["/etc/grafana/provisioning/dashboards/docrail.yml"].read_text())["providers"]
    host, port = urlsplit(source["url"]).hostname, urlsplit(source["url"]).port
    assert (host, port) == ("prometheus", 9090)
    (shown,) = [path for path in mounts if path.endswith(".json")]
    assert Path(shown).parent == Path(provider["options"]["path"])
    dashboard = json.loads(mounts[shown].read_text())
    assert {panel["datasource"]["uid"] for panel in dashboard["panels"] if panel["type"] != "row"} == {source["uid"]}


def test_a_worker_is_not_killed_while_it_drains() -> None:
    grace = float(SERVICES["worker"]["stop_grace_period"].removesuffix("s"))
    assert grace > settings_of("worker").graceful_shutdown_seconds


def test_data_lies_in_the_shared_volume() -> None:
    for service in ("api", "worker"):
        assert f"documents:{settings_of(service).data_dir}" in SERVICES[service]["volumes"]


def test_mounted_files_exist() -> None:
    mounts = [volume for service in SERVICES.values() for volume in service.get("volumes", [])]
    sources = [mount.split(":")[0] for mount in mounts if mount.startswith("./")]
    assert sources
    assert [source for source in sources if not (ROOT / source).is_file()] == []


def test_its_temporal_is_set_up_like_the_embedded_one() -> None:
    script = (ROOT / "deploy" / "temporal-setup.sh").read_text()
    assert set(re.findall(r"--retention (\w+)", script)) == {RETENTION}
    config = yaml.safe_load((ROOT / "deploy" / "temporal-dynamic-config.yaml").read_text())
    of_one_machine = re.compile("MaxPollRPS|CacheMaxSize")
    embedded = dict(entry.split("=", 1) for entry in DYNAMIC_CONFIG if not of_one_machine.search(entry))
    assert {key: entries[0]["value"] for key, entries in config.items()} == {
        key: yaml.safe_load(value) for key, value in embedded.items()
    }


def test_the_image_runs_the_commands_that_exist() -> None:
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text()
    assert 'ENTRYPOINT ["docrail"]' in dockerfile
    commands = {" ".join(service["command"]) for service in OURS.values()}
    assert commands == {"server migrate", "server start", "worker start"}
    assert commands <= {words for words, _ in leaves()}


async def test_the_setup_script_and_migrate_give_a_server_what_docrail_needs(embedded: Servers) -> None:
    environment = {
        "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}",
        "TEMPORAL_ADDRESS": embedded.temporal_address,
        "TEMPORAL_NAMESPACE": "composed",
    }
    for _ in range(2):
        script = await asyncio.create_subprocess_exec("sh", "deploy/temporal-setup.sh", cwd=ROOT, env=environment)
        assert await asyncio.wait_for(script.wait(), 60) == 0
        await prepare_namespace(Connection(embedded.temporal_address, "composed"))
    client = await Client.connect(embedded.temporal_address, namespace="composed")
    found = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace="composed"))
    assert set(SEARCH_ATTRIBUTES) <= set(found.custom_attributes)
