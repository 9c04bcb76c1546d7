"""Who may call without credentials: no one in server mode, the person at this machine in local mode."""

import asyncio
import os
import re
import sys
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from docrail.embedded.claims import claim_port, read_local_key
from docrail.embedded.stack import StackOptions, run_stack
from docrail.settings import Settings
from tests.api.service import settings_for
from tests.commands import docrail
from tests.postgres import migrated_database
from tests.security.callers import Guarded, serve_guarded
from tests.stack import Servers, eventually

pytestmark = pytest.mark.server
FIRST_KEY = re.compile(r"admin key of this installation.*(docrail_\w+)")


async def test_local_mode_knows_the_machines_user_and_the_holders_of_keys(
    embedded: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "Ann")
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path)
        async with serve_guarded(settings.model_copy(update={"access": "local"})) as service:
            local = Guarded(service)
            me = (await local.ask(None, "GET", "/v1/me")).json()
            assert (me["name"], me["tenant"], me["authenticated_by"]) == ("ann", "default", "local")
            assert len(me["scopes"]) == 5
            key = await local.key(name="bob", tenant="acme")
            assert (await local.ask(key, "GET", "/v1/me")).json()["name"] == "bob"
            assert (await local.ask("docrail_0_0", "GET", "/v1/me")).status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "docrail.example"])
async def test_local_mode_serves_loopback_addresses_only(host: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="--require-keys"):
        Settings(access="local", api_host=host)
    refused = await docrail("up", "--data", str(tmp_path / "data"), DOCRAIL_API_HOST=host)
    assert refused.code == 1
    assert "--require-keys" in refused.err
    assert not (tmp_path / "data").exists()


def test_loopback_addresses_are_known() -> None:
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        assert Settings(access="local", api_host=host).access == "local"


async def test_a_server_prints_one_admin_key_on_its_first_start_once_for_the_database(
    embedded: Servers, tmp_path: Path
) -> None:
    async with migrated_database(embedded.dsn) as dsn:
        assert len(await keys_printed(embedded, dsn, tmp_path / "first", starts=2)) == 1
        assert await keys_printed(embedded, dsn, tmp_path / "second", starts=1) == []


async def keys_printed(embedded: Servers, dsn: str, folder: Path, *, starts: int) -> list[str]:
    """Start several API processes at once, and return the keys that they printed; each must work."""
    folder.mkdir()
    ports = [str(claim_port(0, "port")) for _ in range(starts)]
    logs = [folder / port for port in ports]
    processes = [await start_api(embedded, dsn, port, log) for port, log in zip(ports, logs, strict=True)]
    try:
        for port in ports:
            await eventually(lambda port=port: answers(port), "the API to answer")  # type: ignore[misc]
        keys = [key for log in logs for key in FIRST_KEY.findall(log.read_text())]
        for key in keys:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{ports[0]}", trust_env=False) as http:
                me = (await http.get("/v1/me", headers={"Authorization": f"Bearer {key}"})).json()
                assert (me["name"], len(me["scopes"])) == ("admin", 5)
    finally:
        for process in processes:
            process.terminate()
        await asyncio.gather(*(process.wait() for process in processes))
    return [key for log in logs for key in FIRST_KEY.findall(log.read_text())]


async def start_api(embedded: Servers, dsn: str, port: str, log: Path) -> asyncio.subprocess.Process:
    settings = {
        "DOCRAIL_TEMPORAL_ADDRESS": embedded.temporal_address,
        "DOCRAIL_TEMPORAL_ENVCONFIG": "false",
        "DOCRAIL_DATABASE_URL": dsn,
        "DOCRAIL_DATA_DIR": str(log.parent.parent),  # one store for all
        "DOCRAIL_API_PORT": port,
    }
    with log.open("w") as output:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "docrail", "server", "start"),
            env={**os.environ, **settings},
            stdout=output,
            stderr=output,
        )


async def answers(port: str) -> bool:
    """Return whether the API answers, and refuses requests without a key."""
    try:
        async with httpx.AsyncClient(trust_env=False) as http:
            return (await http.get(f"http://127.0.0.1:{port}/v1/me")).status_code == 401
    except httpx.HTTPError:
        return False


async def test_up_with_required_keys_has_one_for_the_commands_of_its_user(tmp_path: Path) -> None:
    options = StackOptions(tmp_path / "data", api_port=0, temporal_port=0, ui_port=0, require_keys=True)
    async with run_stack(options, lambda _: None) as stack:
        assert (await stack.http.get("/v1/me")).status_code == 401
        found = {"DOCRAIL_DATA_DIR": str(options.data_dir), "DOCRAIL_API_URL": stack.api_url}
        assert (await docrail("definition", "list", cwd=None, **found)).code == 0
        elsewhere = {**found, "DOCRAIL_DATA_DIR": str(tmp_path)}
        assert "give a key" in (await docrail("definition", "list", cwd=None, **elsewhere)).err
        first = read_local_key(options.data_dir)
        assert "admin key" not in (options.data_dir / "logs" / "api.log").read_text()
    async with run_stack(options, lambda _: None) as stack:
        second = read_local_key(options.data_dir)
        assert (second.key_id, second.api_url) == (first.key_id, stack.api_url)
        refused = await stack.http.get("/v1/me", headers={"Authorization": f"Bearer {first.key}"})
        assert refused.status_code == 401  # whatever listened at the address meanwhile may have seen it
