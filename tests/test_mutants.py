"""Every mutant can be planted: its text is in its file once, and its tests exist."""

from collections import Counter
from pathlib import Path

from tests.mutants.mutants import MUTANTS

ROOT = Path(__file__).parent.parent
ROOMS = (
    *("dag/engine/", "dag/validation/", "dag/language/", "dag/values/", "dag/explain/", "dag/simulation/"),
    *("invoices/readers/", "invoices/assessment/", "invoices/values/", "invoices/llm/"),
    *("adapters/", "workflows/", "activities/", "api/", "cli/", "embedded/", "docrail/", "settings.py", "worker.py"),
    *(f"services/{noun.name}/" for noun in sorted((ROOT / "services").iterdir()) if (noun / "__init__.py").is_file()),
)


def test_the_text_that_a_mutant_replaces_is_in_its_file_once() -> None:
    texts = {mutant.file: (ROOT / mutant.file).read_text("utf-8") for mutant in MUTANTS}
    assert [mutant.name for mutant in MUTANTS if texts[mutant.file].count(mutant.old) != 1] == []


def test_the_tests_of_a_mutant_exist() -> None:
    assert [test for mutant in MUTANTS for test in mutant.tests if not (ROOT / test.partition("::")[0]).is_file()] == []


def test_a_mutant_changes_something_under_a_name_of_its_own() -> None:
    assert [mutant.name for mutant in MUTANTS if mutant.old == mutant.new] == []
    assert [name for name, count in Counter(mutant.name for mutant in MUTANTS).items() if count > 1] == []


def test_every_room_has_mutants() -> None:
    assert len(MUTANTS) >= 64
    assert [room for room in ROOMS if not any(mutant.file.startswith(room) for mutant in MUTANTS)] == []
