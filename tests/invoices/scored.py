"""Scores of labelled documents, each read once, and what the project promises of them."""

import fcntl
import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from bench.extraction import load_truths, read_file
from bench.extraction_scores import Truth, judge
from docrail.invoices.assessment.calibration import expected_error
from docrail.invoices.model import FIELD_NAMES, InvoiceData

LEAST_RIGHT, MOST_WRONG = 0.95, 0.03
"""Of the fields of PDFs with text: what the project promises of layouts it has never seen."""
MOST_ERROR = 0.05
"""Expected calibration error: how far what is claimed of values lies from how many of them are right."""


class Scored:
    """The labelled documents of a folder."""

    shared: Path | None = None
    """Folder of the readings that the workers of pytest-xdist share; None if there is one process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.truths = list(load_truths(folder))

    @cache  # noqa: B019 - as many as there are folders, for as long as the tests run
    def reading(self, file: str) -> InvoiceData | None:
        path = self.folder / file
        return read_file(path) if self.shared is None else _read_for_all(path, self.shared)

    def outcome(self, truth: Truth, name: str) -> str:
        return dict(judge(truth, self.reading(truth.file)))[name]

    def assert_types_are_right(self) -> None:
        """Compare the types of documents where the manifest has one; a wrong type would be confident."""
        entries = json.loads((self.folder / "MANIFEST.json").read_text("utf-8"))["files"]
        readings = {entry["file"]: (self.reading(entry["file"]), entry["document_type"]) for entry in entries}
        assert {
            file: reading and reading.document_type.value
            for file, (reading, labelled) in readings.items()
            if reading is None or reading.document_type.value != labelled
        } == {}

    def assert_fields_are_right_and_hardly_any_is_wrong(self, truths: Sequence[Truth]) -> None:
        outcomes_by_field = [
            (truth.file, name, outcome) for truth in truths for name, outcome in judge(truth, self.reading(truth.file))
        ]
        outcomes = Counter(outcome for *_, outcome in outcomes_by_field)
        others = [entry for entry in outcomes_by_field if entry[2] != "right"]
        assert outcomes["right"] >= LEAST_RIGHT * outcomes.total(), others
        assert outcomes["wrong"] <= MOST_WRONG * outcomes.total(), others

    def calibration_error(self, truths: Sequence[Truth] | None = None) -> float:
        return expected_error(
            [
                (getattr(invoice, name).confidence, outcome == "right")
                for truth in truths or self.truths
                if (invoice := self.reading(truth.file)) is not None
                for name, outcome in judge(truth, invoice)
                if outcome != "missing" and name in FIELD_NAMES
            ]
        )


def _read_for_all(path: Path, shared: Path) -> InvoiceData | None:
    """Return a file's reading. The first process that asks reads the file, while the others wait."""
    kept = shared / f"{sha256(bytes(path)).hexdigest()}.json"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            invoice = read_file(path)
            unfinished = kept.with_suffix(".unfinished")
            unfinished.write_text(invoice.model_dump_json() if invoice else "")
            unfinished.rename(kept)
    text = kept.read_text()
    return InvoiceData.model_validate_json(text) if text else None
