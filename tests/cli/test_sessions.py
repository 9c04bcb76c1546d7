"""`docrail session`: an admin sees who is signed in with a browser, and ends a session."""

from tests.commands import docrail
from tests.security.callers import Guarded, dsn, guarded

__all__ = ["dsn", "guarded"]


async def test_an_admin_lists_sessions_and_ends_one(guarded: Guarded) -> None:
    http = guarded.service.http
    admin, key = await guarded.key(tenant="desk", name="ann"), await guarded.key(tenant="desk", name="bob")
    assert (await http.post("/v1/session", json={"key": key})).status_code == 201
    api = str(http.base_url)
    listed = await docrail("session", "list", DOCRAIL_API_URL=api, DOCRAIL_API_KEY=admin)
    assert listed.code == 0, listed.err
    [line] = [line for line in listed.out.splitlines() if "ses_" in line]
    assert "bob" in line
    assert f"key {key.split('_')[1]}" in line
    assert (await http.get("/v1/me")).json()["name"] == "bob"
    ended = await docrail("session", "revoke", line.split()[0], DOCRAIL_API_URL=api, DOCRAIL_API_KEY=admin)
    assert (ended.code, ended.out) == (0, f"ended {line.split()[0]} of bob\n")
    assert (await http.get("/v1/me")).status_code == 401
    assert "ses_" not in (await docrail("session", "list", DOCRAIL_API_URL=api, DOCRAIL_API_KEY=admin)).out
    unknown = await docrail(
        "session", "revoke", "ses_0000000000000000/../keys", DOCRAIL_API_URL=api, DOCRAIL_API_KEY=admin
    )
    assert (unknown.code, unknown.out) == (1, "")
