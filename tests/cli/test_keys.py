"""`docrail key` works on the database itself, before any key exists, and commands send the key that they are given."""

import json
import re
from pathlib import Path

import pytest

from docrail.adapters.postgres.pool import open_pool
from docrail.cli.credentials import key_for
from docrail.embedded.claims import LOCAL_KEY, LocalKey, write_local_key
from docrail.services.access.models import Scope
from docrail.services.access.service import verify_key
from tests.commands import Ended, docrail
from tests.security.callers import Guarded, dsn, guarded

__all__ = ["dsn", "guarded"]


async def key(dsn: str, *words: str) -> Ended:
    return await docrail("key", *words, DOCRAIL_DATABASE_URL=dsn, LOGNAME="ann")


async def test_a_key_is_printed_once_and_works_for_commands(guarded: Guarded, dsn: str) -> None:
    made = await key(dsn, "create", "--name", "Erp", "--scope", "read,submit", "--expires", "90d")
    assert made.code == 0, made.err
    text = made.out.strip()
    assert re.fullmatch(r"docrail_[0-9a-f]{16}_[0-9a-f]{64}", text)
    api = str(guarded.service.http.base_url)
    assert (await docrail("run", "list", DOCRAIL_API_URL=api, DOCRAIL_API_KEY=text)).code == 0
    assert (await docrail("run", "list", "--api-key", text, DOCRAIL_API_URL=api)).code == 0
    refused = await docrail("run", "list", DOCRAIL_API_URL=api)
    assert (refused.code, refused.out) == (1, "")
    assert "give a key with --api-key or DOCRAIL_API_KEY" in refused.err
    listed = await key(dsn, "list")
    assert text.split("_")[1] in listed.out
    assert text.split("_")[2] not in listed.out


async def test_the_first_key_of_a_tenant_publishes_the_shipped_definitions_for_it(guarded: Guarded, dsn: str) -> None:
    made = await key(dsn, "create", "--tenant", "initech", "--name", "bill", "--scope", "read")
    shown = await guarded.ask(made.out.strip(), "GET", "/v1/definitions")
    assert "invoice" in [each["definition_id"] for each in shown.json()["definitions"]]


async def test_a_key_is_rotated_and_revoked(dsn: str) -> None:
    made = json.loads((await key(dsn, "create", "--name", "erp", "--scope", "read", "--json")).out)
    key_id = made["details"]["key_id"]
    rotated = json.loads((await key(dsn, "rotate", key_id, "--overlap", "0h", "--json")).out)
    assert rotated["key"] != made["key"]
    assert rotated["details"]["created_by"] == "ann"
    pool = await open_pool(dsn)
    assert (await verify_key(pool, rotated["key"])).scopes == {Scope.READ}
    await pool.close()
    assert (await key(dsn, "revoke", key_id)).out == f"revoked {key_id} of erp\n"
    assert "revoked" in (await key(dsn, "list")).out
    assert (await key(dsn, "revoke", key_id, "--tenant", "globex")).code == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--name", "erp", "--scope", "raed"), "'raed' is not a scope: did you mean 'read'?"),
        (("--name", "erp", "--scope", "read", "--expires", "soon"), "expected hours, days or weeks"),
        (("--name", "docrail", "--scope", "read"), "'docrail' is reserved for Docrail itself"),
        (("--name", "erp", "--scope", ""), "scopes: must have at least one of submit, read"),
        (("--name", "erp", "--scope", "read", "--tenant", "A/B"), "tenant: must be 1 to 63 lowercase letters"),
    ],
)
async def test_a_wrong_key_is_not_created(dsn: str, words: tuple[str, ...], message: str) -> None:
    refused = await key(dsn, "create", *words)
    assert refused.code != 0
    assert message in " ".join(refused.err.split())


def test_the_local_key_is_sent_to_its_own_address_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    monkeypatch.setenv("DOCRAIL_DATA_DIR", str(tmp_path))
    write_local_key(tmp_path, LocalKey("http://127.0.0.1:8000", "docrail_1_2"))
    assert (tmp_path / LOCAL_KEY).stat().st_mode & 0o777 == 0o600
    assert key_for(httpx.URL("http://127.0.0.1:8000/")) == "docrail_1_2"
    others = ["http://127.0.0.1:8001", "http://127.0.0.2:8000", "https://127.0.0.1:8000", "http://evil.example:8000"]
    assert [key_for(httpx.URL(other)) for other in others] == ["", "", "", ""]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"api_url": 1}', "\xff"])
def test_a_damaged_file_of_the_local_key_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    import httpx

    monkeypatch.setenv("DOCRAIL_DATA_DIR", str(tmp_path))
    (tmp_path / LOCAL_KEY).write_text(text, "latin-1")
    assert key_for(httpx.URL("http://127.0.0.1:8000")) == ""
