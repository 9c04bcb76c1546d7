"""How a command connects to the database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import asyncpg
import typer

from docrail.adapters.postgres.pool import DATABASE_ERRORS, open_pool
from docrail.adapters.postgres.tenants import rows_of

Url = Annotated[
    str, typer.Option(help="The database's URL.", envvar="DOCRAIL_DATABASE_URL", show_envvar=False, metavar="URL")
]
LOCAL = "postgresql://docrail@127.0.0.1:5432/docrail"


@asynccontextmanager
async def small_pool(url: str, tenant_id: str) -> AsyncIterator[asyncpg.Pool]:
    """Yield a pool of one connection, for one tenant. Raises: SystemExit if the database cannot be reached."""
    try:
        pool = await open_pool(url, min_size=1, max_size=1, rows=rows_of(tenant_id))
    except ValueError as error:
        raise SystemExit(f"--tenant: {error}") from None
    except (OSError, *DATABASE_ERRORS) as error:
        raise SystemExit(unreachable(error)) from None
    try:
        yield pool
    finally:
        await pool.close()


def unreachable(error: Exception) -> str:
    """Return the message for a database that cannot be reached."""
    match error:
        case OSError():
            hint = "; is it running? `docrail up` prints the URL of its own"
        case asyncpg.InvalidParameterValueError():  # its sessions begin with a role that the migration creates
            hint = ": run `docrail server migrate`"
        case _:
            hint = ""
    return f"cannot reach the database of DOCRAIL_DATABASE_URL: {error}{hint}"
