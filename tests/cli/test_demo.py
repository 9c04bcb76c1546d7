"""`docrail demo`: the whole system read the samples, and nothing is left running."""

import datetime as dt
import json
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from docrail.cli.demo import Shown, print_samples
from docrail.dag.values.json_values import Json
from docrail.samples.desk import draw_desk
from tests.cli.process import Ended, docrail, running

pytestmark = pytest.mark.server

SAMPLES: Mapping[str, Json] = {
    sample["file"]: sample
    for sample in json.loads((Path(__file__).parents[2] / "samples" / "EXPECTED.json").read_text())["files"]
}
READABLE = [
    name
    for name, sample in SAMPLES.items()
    if "expected" in sample and (sample["reader"] != "ocr" or find_spec("rapidocr"))
]
LAST_LINE = "Ctrl-C stops it."


@dataclass(frozen=True)
class Demo:
    """A demo that has ended, and the folder for temporary files that it was given."""

    ended: Ended
    folder: Path

    def row(self, file: str) -> list[str]:
        """Return the cells of a sample's line in the table."""
        (line,) = [line for line in self.ended.out.splitlines() if line.startswith(f"{file} ")]
        return re.split(r" {2,}", line.strip())


@pytest.fixture(scope="module")
async def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    return Demo(await docrail("demo", TMPDIR=str(folder)), folder)


def test_it_ends_well_though_one_sample_is_broken(demo: Demo) -> None:
    assert (demo.ended.code, demo.ended.err) == (0, "")


@pytest.mark.parametrize("file", READABLE)
def test_the_table_shows_what_is_on_each_invoice(demo: Demo, file: str) -> None:
    printed = SAMPLES[file]["expected"]
    _, vendor, number, date, total, confidence, status, priority = demo.row(file)
    assert (vendor, number, date) == (printed["vendor_name"], printed["invoice_number"], printed["date"])
    assert total == f"{printed['total']} {printed['currency']}"
    assert 0 < float(confidence) <= 1
    assert status == "completed"
    assert 0 <= int(priority) <= 100


def test_the_broken_sample_failed_for_a_reason(demo: Demo) -> None:
    assert demo.row("broken.pdf") == ["broken.pdf", "failed"]
    assert "  broken.pdf: extract: The file begins like a PDF but is damaged" in demo.ended.out


def test_it_removes_its_folder_and_says_how_to_keep_it(demo: Demo) -> None:
    assert list(demo.folder.iterdir()) == []
    assert "docrail demo --keep" in demo.ended.out


async def test_ctrl_c_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    async with running("demo", TMPDIR=str(tmp_path)) as command:
        await command.wait_for("starting the API")
        assert await command.end(signal.SIGINT) == 130
    await command.check_nothing_left()
    assert command.said.splitlines()[-1] == "docrail: the demo was stopped; nothing is left of it"
    assert "Traceback" not in command.said
    assert list(tmp_path.iterdir()) == []


async def test_with_keep_sixty_invoices_wait_until_ctrl_c_and_the_data_is_kept(tmp_path: Path) -> None:
    async with running("demo", "--keep", TMPDIR=str(tmp_path)) as command:
        await command.wait_for(LAST_LINE)
        addresses = dict(re.findall(r"^  (Console|API|Temporal UI) +(http\S+)", command.said, re.MULTILINE))
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(addresses["Console"] + "/readyz")).status_code == 200
            assert (await client.get(addresses["API"] + "/definitions")).status_code == 200
            assert (await client.get(addresses["Temporal UI"])).status_code == 200
            counts = (await client.get(addresses["API"] + "/documents/counts")).json()["counts"]
        assert await command.end(signal.SIGINT) == 0
    await command.check_nothing_left()
    readable = [each for each in draw_desk(dt.datetime.now(dt.UTC).date()) if each.bill]
    assert (counts["attention"], counts["failed"], counts["reading"]) == (len(READABLE) + len(readable), 2, 0)
    lake = Path(re.findall(r"^Parquet and JSON +(.+)$", command.said, re.MULTILINE)[0])
    assert tmp_path in lake.parents
    for kind in ("parquet", "json"):
        assert len([path for path in lake.rglob("*") if path.suffix == f".{kind}"]) == counts["attention"]
    numbers = {json.loads(path.read_text())["invoice_number"]["value"] for path in lake.rglob("*.json")}
    assert numbers >= {SAMPLES[name]["expected"]["invoice_number"] for name in READABLE}


async def test_an_unknown_option_is_refused_before_anything_starts(tmp_path: Path) -> None:
    refused = await docrail("demo", "--nonsense", TMPDIR=str(tmp_path))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.splitlines()[-1] == "Error: No such option: --nonsense"
    assert list(tmp_path.iterdir()) == []


def sample(file: str, vendor: str) -> Shown:
    printed = {"vendor": vendor, "number": "4711", "date": "2026-01-31", "total": "11.90", "currency": "EUR"}
    review = {"summary": {**printed, "confidence": 0.996}, "priority": 11.0}
    return Shown(file, {}, {"status": "completed", "reason": ""}, review)


def test_a_narrow_terminal_gets_two_lines_and_loses_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    failed = Shown("b.pdf", {}, {"status": "failed", "reason": "extract: damaged"}, None)
    print_samples([sample("a.pdf", "A GmbH"), failed])
    assert capsys.readouterr().out == (
        "\n"
        "a.pdf  completed  confidence 0.99, priority 11\n"
        "    A GmbH, 4711, 2026-01-31, 11.90 EUR\n"
        "b.pdf  failed\n"
        "\nFailed, with the reasons:\n"
        "  b.pdf: extract: damaged\n"
    )


def test_a_vendor_is_text_and_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_samples([sample("a.pdf", "[red]A[/b] :smile:")])
    assert " [red]A[/b] :smile: " in capsys.readouterr().out
