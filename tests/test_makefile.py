"""What `make` refuses, and when."""

import shutil
import subprocess
from pathlib import Path

from tests.conftest import SLOW, TESTS
from tests.test_layout import ROOT


def test_a_folder_without_labelled_documents_is_refused_before_anything_is_installed(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    command = ("make", "calibration", "LABELLED=nowhere")
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert refused.returncode == 2
    assert refused.stderr.startswith("no nowhere/MANIFEST.json: expected a folder of labelled documents")
    assert [file.name for file in tmp_path.iterdir()] == ["Makefile"]


def test_what_make_test_leaves_to_ci_exists() -> None:
    """A file that was renamed would come back unseen."""
    assert [place for place in SLOW if not (TESTS / place).exists()] == []
