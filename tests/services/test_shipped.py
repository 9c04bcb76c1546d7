from pathlib import Path

import pytest

from docrail.activities.registry import load_catalogue
from docrail.dag.validation.validate import check_definition
from docrail.services.definitions.service import shipped_files


@pytest.mark.parametrize("path", shipped_files(), ids=lambda path: path.stem)
def test_a_shipped_definition_has_no_problem_and_is_named_like_its_file(path: Path) -> None:
    definition, problems = check_definition(path.read_text(), load_catalogue())
    assert problems == []
    assert definition is not None
    assert definition.id == path.stem


def test_the_invoice_pipeline_is_shipped() -> None:
    assert "invoice" in [path.stem for path in shipped_files()]
