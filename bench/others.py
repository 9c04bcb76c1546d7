"""Measure other durable engines with the documents of bench/batch.py: five no-op steps each, on an embedded PostgreSQL.

`--python` is the interpreter of an environment made from bench/engines/requirements.txt. Prints a JSON line for each
engine: documents/s, and the CPU milliseconds a document of the engine's process and of PostgreSQL.
"""

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

from bench.cpu import cpu_seconds, since
from docrail.embedded.postgres import PostgresServer, start_postgres

FOLDER = Path(__file__).parent / "engines"
ENGINES = {"dbos": "dbos_documents.py", "celery": "celery_documents.py"}


def url_of(server: PostgresServer) -> str:
    """Return the address of the database as SQLAlchemy writes it."""
    return server.dsn.replace("postgresql://", "postgresql+psycopg://", 1)


async def measure(python: str, engine: str, url: str, count: int) -> None:
    """Run an engine's documents in a process of its own, and print its line."""
    process = await asyncio.create_subprocess_exec(
        python, str(FOLDER / ENGINES[engine]), url, str(count), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readuntil(b"begin\n")  # it has warmed up
    before = cpu_seconds()
    line = await process.stdout.readline()
    of_database = since(before)["postgres"]
    await process.wait()
    found = json.loads(line)
    cpu_ms = {"engine": found["cpu_seconds"] * 1000 / count, "postgres": of_database * 1000 / count}
    result = {
        "bench": "others",
        "engine": engine,
        "documents": count,
        "documents_per_second": round(count / found["seconds"], 1),
        "cpu_ms": {name: round(spent, 2) for name, spent in cpu_ms.items()},
        "cpu_ms_in_all": round(sum(cpu_ms.values()), 2),
    }
    print(json.dumps(result), flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="interpreter of the engines' environment")
    parser.add_argument("--documents", type=int, default=600, help="how many documents are counted")
    options = parser.parse_args()
    for engine in ENGINES:
        with tempfile.TemporaryDirectory() as folder:
            server = await start_postgres(Path(folder), report=lambda _: None)
            try:
                await measure(options.python, engine, url_of(server), options.documents)
            finally:
                await server.stop()


if __name__ == "__main__":
    asyncio.run(main())
