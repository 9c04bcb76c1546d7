"""Everything in S3: an upload goes through the whole invoice pipeline, and the lake is compacted and asked there."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docrail.adapters.temporal.connection import Connection
from docrail.dag.values.json_values import Json
from docrail.services.lake.files import Lake
from docrail.services.maintenance.service import run_maintenance
from tests.api.invoices import e_invoice
from tests.api.service import Service, is_ready, serve_with_worker, settings_for
from tests.api.test_documents import upload
from tests.cli.process import docrail
from tests.postgres import migrated_database
from tests.s3 import Bucket, bucket, s3_server
from tests.services.lakes import ask
from tests.stack import Servers, eventually

__all__ = ["bucket", "s3_server"]

LARGE = {
    "id": "large",
    "steps": [
        {"id": "make", "handler": "echo", "config": {"value": ["x" * 100] * 1000}},
        {"id": "use", "handler": "echo", "depends_on": ["make"], "config": {"value": "{{ make.value }}"}},
    ],
}


@pytest.fixture
async def in_s3(embedded: Servers, bucket: Bucket, tmp_path: Path) -> AsyncIterator[Service]:
    """An API and a worker with a database of their own: all that is filed there is theirs."""
    async with migrated_database(embedded.dsn) as dsn:
        settings = settings_for(embedded.temporal_address, dsn, tmp_path).model_copy(
            update={"store": bucket.location, "store_endpoint": bucket.endpoint}
        )
        async with serve_with_worker(settings) as served:
            await eventually(lambda: is_ready(served), "the API to be ready")
            yield served


async def test_the_invoice_pipeline(in_s3: Service, bucket: Bucket, tmp_path: Path) -> None:
    number = f"R-{uuid.uuid4().hex}"
    document: Json = (await upload(in_s3.http, e_invoice(number))).json()
    run = await in_s3.ended(document["run_id"])
    assert run["status"] == "completed", run
    document_id, folder = document["document_id"], bucket.folder
    assert folder.read(f"blobs/{document['sha256'][:2]}/{document['sha256']}") == e_invoice(number)
    kept = {f"lake/default/{kind}/{document_id}.v1.{kind}" for kind in ("json", "parquet")}
    assert kept == {info.path for info in folder.files("lake")}
    lake = Lake(folder.sub("lake"))
    sql = "SELECT document_id, invoice_number, total::text AS total FROM invoices"
    expected = [(document_id, number, "119.0000")]
    assert ask(lake, sql) == expected
    report = await run_maintenance(Connection(in_s3.settings.temporal_address or ""), in_s3.settings.task_queue)
    assert (report.compacted.files, report.failed) == (1, ())
    assert ask(lake, sql) == expected
    asked = await docrail("lake", "query", sql, "--csv", cwd=None, **bucket.environment)
    assert (asked.code, asked.out) == (
        0,
        f"document_id,invoice_number,total\n{','.join(expected[0])}\n",
    )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_large_values(in_s3: Service, bucket: Bucket) -> None:
    response = await in_s3.http.post("/v1/runs", json={"definition": LARGE})
    run_id = response.json()["run_id"]
    assert (await in_s3.ended(run_id))["status"] == "completed"
    output = (await in_s3.http.get(f"/v1/runs/{run_id}/steps/use/output")).json()["output"]
    assert output == {"value": ["x" * 100] * 1000}
    assert len(list(bucket.folder.files("values/default"))) == 1
