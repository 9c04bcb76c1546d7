"""`docrail calibration fit`: a preview that changes nothing, a fit that is kept, and the way back."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docrail.adapters.postgres.pool import open_pool
from docrail.adapters.postgres.tenants import rows_of
from docrail.dag.values.json_values import Json
from docrail.invoices.assessment.calibration import Calibration, Observation
from docrail.services.access.models import DEFAULT_TENANT
from docrail.services.audit.repository import list_events
from docrail.services.documents.repository.calibrations import load_calibration, save_outcomes
from tests.cli.process import Ended, docrail
from tests.postgres import migrated_database
from tests.stack import Servers

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture
async def dsn(embedded: Servers) -> AsyncIterator[str]:
    async with migrated_database(embedded.dsn) as name:
        yield name


async def calibrate(dsn: str, *arguments: str) -> Ended:
    return await docrail("calibration", *arguments, DOCRAIL_DATABASE_URL=dsn)


async def decide(dsn: str, families: int = 10) -> None:
    """Store what people decided: the readers are right, and too modest."""
    pool = await open_pool(dsn, rows=rows_of(DEFAULT_TENANT))
    for number in range(families):
        seen = [Observation(field, 0.6, right=True, family=f"vat:{number}") for field in ("total", "date", "currency")]
        for document in range(2):
            await save_outcomes(pool, DEFAULT_TENANT, f"doc_{number}_{document}", seen)
    await pool.close()


async def test_labelled_files_give_a_preview_without_any_server(tmp_path: Path) -> None:
    written = tmp_path / "fit.json"
    shown = await calibrate(
        "postgresql://unreachable@127.0.0.1:1/none", "fit", "--labelled", str(SAMPLES), "--write", str(written)
    )
    assert (shown.code, shown.err) == (0, "")
    assert re.search(r"\d\d values of 1\d families", shown.out)
    assert "by this fit, each family judged by the others" in shown.out
    assert "kept" not in shown.out
    assert Calibration.model_validate_json(written.read_text()).observations > 50


async def test_decisions_are_fitted_kept_and_taken_back(dsn: str) -> None:
    await decide(dsn)
    preview = await calibrate(dsn, "fit", "--decisions")
    assert "60 values of 10 families, 0 of them wrong" in preview.out
    assert "kept" not in preview.out
    kept = await calibrate(dsn, "fit", "--decisions", "--keep")
    assert "kept as version 1; it counts from now on" in kept.out
    pool = await open_pool(dsn, rows=rows_of(DEFAULT_TENANT))
    active = await load_calibration(pool, DEFAULT_TENANT)
    assert active
    assert active.apply("total", 0.6) > 0.9
    listed = [line.split() for line in (await calibrate(dsn, "list")).out.splitlines()]
    assert [line[:3] for line in listed if line[:1] == ["1"]] == [["1", "people's", "decisions"]]
    assert listed[-1][-1] == "yes"
    assert (await calibrate(dsn, "set", "shipped")).out == "the shipped calibration counts from now on\n"
    assert await load_calibration(pool, DEFAULT_TENANT) is None
    assert (await calibrate(dsn, "set", "1")).out == "version 1 counts from now on\n"
    assert await load_calibration(pool, DEFAULT_TENANT) == active
    await pool.close()


async def test_the_audit_names_the_person_who_activated_a_calibration(dsn: str) -> None:
    await decide(dsn)
    await calibrate(dsn, "fit", "--decisions", "--keep", "--as", "ann")
    await docrail("calibration", "set", "shipped", "--as", "bob", DOCRAIL_DATABASE_URL=dsn)
    await calibrate(dsn, "set", "9", "--as", "carl")
    pool = await open_pool(dsn, rows=rows_of(DEFAULT_TENANT))
    events = [(event.actor, event.act, event.detail) for event in await list_events(pool, DEFAULT_TENANT)]
    await pool.close()
    fitted = {"counts": "v1", "was": "shipped", "fitted_on": "people's decisions", "values": 60}
    assert events == [
        ("ann", "calibrated", fitted),
        ("bob", "calibrated", {"counts": "shipped", "was": "v1"}),
    ]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ({"expected": {"total": ["x"]}}, "total: expected a text or a number, found ['x']"),
        (
            {"expected": {"total": "1.234,50"}},
            "total: expected a finite decimal such as 1234.56, found '1.234,50'",
        ),
        ({"expected": {"total": "NaN"}}, "total: expected a finite decimal such as 1234.56, found 'NaN'"),
        ({"expected": {"date": "31.12.2026"}}, "date: expected a date such as 2026-11-30, found '31.12.2026'"),
        ({"expected": {"totl": "1"}}, "there is no field 'totl': expected one of document_type, invoice_number"),
        ({"visible": ["totl"]}, "there is no field 'totl': expected one of document_type, invoice_number"),
        ({"file": "../../../etc/passwd"}, "found '../../../etc/passwd', expected the path of a file inside the folder"),
        ({"file": "/etc/passwd"}, "found '/etc/passwd', expected the path of a file inside the folder"),
    ],
)
async def test_a_label_that_can_be_none_is_named(label: Json, message: str, tmp_path: Path) -> None:
    entry = {"file": "a.xml", "expected": {"total": "1"}, **label}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"files": [entry]}))
    refused = await docrail("calibration", "fit", "--labelled", str(tmp_path))
    assert (refused.code, refused.out) == (1, "")
    assert f"{tmp_path / 'MANIFEST.json'}: files.0." in refused.err
    assert message in refused.err


async def test_a_missing_file_of_the_list_is_reported(tmp_path: Path) -> None:
    manifest = {"files": [{"file": "none.xml", "expected": {"total": "1"}}]}
    (tmp_path / "MANIFEST.json").write_text(json.dumps(manifest))
    refused = await docrail("calibration", "fit", "--labelled", str(tmp_path))
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == f"docrail: there is no file {tmp_path / 'none.xml'}, which the folder's list names\n"


async def test_too_little_to_fit_on_is_said_and_nothing_is_kept(dsn: str) -> None:
    await decide(dsn, families=2)
    refused = await calibrate(dsn, "fit", "--decisions", "--keep")
    assert refused.code == 1
    assert "found 12 values of 2 families of documents; a fit needs at least 50 of 3" in refused.err
    assert "1 " not in (await calibrate(dsn, "list")).out.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit", "--keep"], "Invalid value for --labelled or --decisions: expected one of them, or both"),
        (["set", "first"], "found 'first', expected a version's number or `shipped`"),
    ],
)
async def test_wrong_usage_is_said(arguments: list[str], said: str) -> None:
    refused = await docrail("calibration", *arguments)
    assert refused.code == 2
    assert said in " ".join(refused.err.replace("│", "").split())


async def test_a_version_that_is_not_there_and_a_folder_that_is_none_are_named(dsn: str, tmp_path: Path) -> None:
    assert "there is no calibration '9'" in (await calibrate(dsn, "set", "9")).err
    assert str(tmp_path / "MANIFEST.json") in (await calibrate(dsn, "fit", "--labelled", str(tmp_path))).err
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"documents": []}))
    assert "files: Field required; expected" in (await calibrate(dsn, "fit", "--labelled", str(tmp_path))).err
