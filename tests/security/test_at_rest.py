"""Data at rest: other users of the machine read no file, and do not get into the embedded PostgreSQL."""

import os
import pwd
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from docrail.adapters.postgres.migrate import migrate
from docrail.cli.database import small_pool
from docrail.cli.servers import addresses, addresses_as_json
from docrail.embedded.claims import DataFolderError, hold
from docrail.embedded.postgres import OWNER, SERVICE, PostgresServer, admit_services, start_postgres
from docrail.embedded.stack import Stack, StackOptions, run_stack
from tests.stack import eventually

pytestmark = pytest.mark.server
SAMPLE = Path(__file__).parents[2] / "samples" / "xr_01.01a_ubl.xml"
AS_NOBODY = """
import asyncio, asyncpg, sys
from docrail.embedded.launch import become
async def log_in(dsn):
    try:
        await asyncpg.connect(dsn, timeout=5)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        return f"{type(error).__name__}: {error}"
    return "logged in"
def read(path):
    try:
        open(path).read()
    except OSError as error:
        return type(error).__name__
    return "read"
become(65534, 65534, reach=sys.argv[1] == "connect")
for each in sys.argv[2:]:
    print(asyncio.run(log_in(each)) if sys.argv[1] == "connect" else read(each))
"""
"""With `connect` it may pass every folder, as if they were open: then only PostgreSQL's own authentication is left."""
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def as_nobody(what: str, *subjects: str) -> list[str]:
    command = (sys.executable, "-c", AS_NOBODY, what, *subjects)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return ended.stdout.splitlines()


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    data_dir = tmp_path_factory.mktemp("rest") / "data"
    options = StackOptions(data_dir, api_port=0, temporal_port=0, ui_port=0, makes_webhook_secret=True)
    async with run_stack(options, print) as running:
        yield running


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PostgresServer]:
    server = await start_postgres(tmp_path_factory.mktemp("own"), report=print)
    await migrate(server.dsn)
    yield server
    await server.stop()


def open_places(folder: Path) -> Iterator[str]:
    """Yield what is in the folder, and itself, that has other permissions than folders 0700 and files 0600."""
    for path in (folder, *folder.rglob("*")):
        mode = path.lstat().st_mode
        wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
        if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) != wanted:
            yield f"{path.relative_to(folder)} {stat.S_IMODE(mode):o}"


async def test_after_a_run_every_folder_is_0700_and_every_file_0600(stack: Stack) -> None:
    data_dir = Path(stack.environment["DOCRAIL_DATA_DIR"])
    sent = await stack.http.post("/v1/documents", files={"file": (SAMPLE.name, SAMPLE.read_bytes())})
    assert sent.status_code == 202, sent.text
    definition = {"id": "large", "steps": [{"id": "a", "handler": "echo", "config": {"value": "x" * 200_000}}]}
    assert (await stack.http.post("/v1/runs", json={"definition": definition})).status_code == 202

    def is_written() -> bool:
        made = {path.relative_to(data_dir).parts[0] for path in data_dir.rglob("*") if path.is_file()}
        has_lake = any((data_dir / "lake").rglob("*.parquet"))
        return has_lake and made >= {"blobs", "values", "logs", "secrets", "temporal", "postgres"}

    await eventually(is_written, "files of every kind")
    assert sorted(open_places(data_dir)) == []


def test_a_data_folder_that_was_open_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with hold(tmp_path):
        assert list(open_places(tmp_path)) == []


async def test_the_printed_url_has_no_password_and_is_not_the_owners(stack: Stack) -> None:
    url = stack.environment["DOCRAIL_DATABASE_URL"]
    passwords = [path.read_text().strip().rpartition(":")[2] for path in stack.postgres.passwords.iterdir()]
    assert len(passwords) == 2
    assert not any(password in url or password in stack.postgres.dsn for password in passwords)
    assert f"user={SERVICE}" in url
    data_dir = Path(stack.environment["DOCRAIL_DATA_DIR"])
    assert f"  PostgreSQL   {url}" in addresses(stack, data_dir)
    assert addresses_as_json(stack, data_dir)["database_url"] == url
    connection = await asyncpg.connect(url)
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch("SELECT * FROM public.documents")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(f"SET ROLE {OWNER}")
    finally:
        await connection.close()


async def test_a_database_without_the_roles_is_reported_with_what_to_do(tmp_path: Path) -> None:
    fresh = await start_postgres(tmp_path, report=print)
    try:
        with pytest.raises(SystemExit, match=r'role "docrail_app" does not exist: run `docrail server migrate`'):
            async with small_pool(fresh.dsn, "acme"):
                pass
    finally:
        await fresh.stop()


@only_root
async def test_another_user_who_reaches_the_socket_is_refused(server: PostgresServer) -> None:
    service = await admit_services(server)
    address = server.dsn.partition("&passfile=")[0]
    found = as_nobody(
        "connect",
        address,
        address.replace(f"user={OWNER}", f"user={SERVICE}"),
        address.replace(f"user={OWNER}", "user=postgres"),
        address.replace("postgresql://", f"postgresql://{OWNER}:guessed@").replace(f"user={OWNER}&", ""),
    )
    assert [line.partition(":")[0] for line in found] == ["InvalidPasswordError"] * 4, found
    assert as_nobody("connect", service) == ["logged in"]  # as one who may read the password, it would have got there


@only_root
async def test_postgres_runs_as_a_user_that_no_other_program_has(server: PostgresServer) -> None:
    """A process of its user could read its files, and change who may log in."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    uid = int(status.partition("\nUid:\t")[2].split()[0])
    with pytest.raises(KeyError):
        pwd.getpwuid(uid)
    cluster = server.passwords.parent / "postgres" / "cluster"
    assert {path.lstat().st_uid for path in (cluster, *cluster.rglob("*"))} == {uid}
    files = [cluster / "pg_hba.conf", *server.passwords.iterdir()]
    assert as_nobody("read", *map(str, files)) == ["PermissionError"] * len(files)


async def test_no_way_in_goes_without_a_password(server: PostgresServer) -> None:
    text = (server.passwords.parent / "postgres" / "cluster" / "pg_hba.conf").read_text()
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert {line[-1] for line in lines if line[0] == "local"} == {"scram-sha-256"}
    assert {line[-1] for line in lines if line[0] != "local"} == {"reject"}


def test_a_data_folder_without_passwords_is_refused_plainly(tmp_path: Path) -> None:
    (tmp_path / "format").write_text("1\n")
    with pytest.raises(DataFolderError, match=r"made by an earlier build of Docrail.*--data"), hold(tmp_path):
        pass
