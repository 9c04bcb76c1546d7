"""A noun of `services` reads and writes its own tables only: import-linter does not read SQL."""

import importlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docrail.adapters.postgres import migrate

ROOT = Path(__file__).parent.parent

OWNERS = {
    "access": {"api_keys", "people", "sessions"},
    "audit": {"audit_events", "audit_heads"},
    "batches": {"batch_documents", "batch_duplicates", "batches"},
    "definitions": {"alias_moves", "definition_aliases", "definitions", "routing_rules"},
    "documents": {
        *("calibrations", "corrections", "document_counts", "documents", "field_outcomes", "processed_documents"),
        *("seen_invoices", "vendor_keys", "vendors"),
    },
    "events": {"event_seals", "events"},
    "exports": {"export_documents", "exports"},
    "extraction": {"reading_leases"},
    "failures": {"dead_letters"},
    "fleet": {"store_identity"},
    "lake": {"lake_versions"},
    "quotas": {"quota_days", "quotas"},
    "reviews": {"review_counts", "reviews", "sla_events"},
    "runs": {
        *("chunked_runs", "ended_runs", "executions", "operator_actions", "overdue_runs", "recent_starts"),
        *("run_explanations", "step_cache"),
    },
    "triggers": {"watched_files"},
    "usage": {"model_days", "model_totals", "model_usage"},
}
"""Each table has one noun, whose repository writes it."""

NAME = r"(?:public\.)?([a-z_]+)"
WRITTEN = re.compile(
    rf"\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE(?:\s+TABLE)?)\s+(?:ONLY\s+)?{NAME}"
)
FROM = re.compile(
    r"\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+)?([a-z_.]+(?:\s+(?:AS\s+)?[a-z_]+)?(?:\s*,\s*[a-z_.]+(?:\s+(?:AS\s+)?[a-z_]+)?)*)"
)
NOT_SQL = re.compile(r"'[^']*'|--[^\n]*")


def tables() -> set[str]:
    schema = (Path(migrate.__file__).parent / "schema.sql").read_text()
    return set(re.findall(rf"CREATE TABLE {NAME}", schema)) - {"migrations"}


def texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for each in value.values() for text in texts(each))
        case list() | tuple() | set() | frozenset():
            yield from (text for each in value for text in texts(each))


def statements(noun: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every constant of the noun's modules."""
    for path in sorted((ROOT / "services" / noun).rglob("*.py")):
        parts = path.relative_to(ROOT / "services").with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        for name, value in vars(importlib.import_module(f"docrail.services.{module}")).items():
            if not name.startswith("__"):
                yield from ((f"{module}.{name}", text) for text in texts(value))


def written(sql: str) -> set[str]:
    return set(WRITTEN.findall(NOT_SQL.sub("''", sql)))


def named(sql: str) -> set[str]:
    """Return the tables that a statement reads or writes, with some names that are none."""
    found = {each.split()[0] for some in FROM.findall(NOT_SQL.sub("''", sql)) for each in some.split(",")}
    return written(sql) | {name.removeprefix("public.") for name in found}


def nouns() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "services").glob("*/__init__.py"))


def foreign(of: Callable[[str], set[str]]) -> dict[str, set[str]]:
    """Return the statements that name tables of other nouns, as `of` finds them, and which."""
    found: dict[str, set[str]] = defaultdict(set)
    for noun in nouns():
        for name, sql in statements(noun):
            found[name] |= of(sql) & tables() - OWNERS.get(noun, set())
    return {name: some for name, some in found.items() if some}


@pytest.mark.parametrize(
    ("sql", "read", "changed"),
    [
        ("SELECT 1 FROM a, LATERAL (SELECT 2)", {"a"}, set()),
        ("SELECT 1 FROM a AS x, b y JOIN public.c USING (id)", {"a", "b", "c"}, set()),
        ("WITH x AS (DELETE FROM a RETURNING id) INSERT INTO b SELECT id FROM x", {"a", "b", "x"}, {"a", "b"}),
        ("UPDATE a SET b = 1 FROM c WHERE c.d = 'FROM e' -- FROM f", {"a", "c"}, {"a"}),
        ("INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 1", {"a"}, {"a"}),
        ("SELECT extract(epoch FROM now()) FROM a WHERE b IS DISTINCT FROM $1 FOR UPDATE OF a", {"a", "now"}, set()),
    ],
)
def test_the_tables_of_a_statement_are_found(sql: str, read: set[str], changed: set[str]) -> None:
    assert (named(sql), written(sql)) == (read, changed)


def test_every_table_has_one_owner() -> None:
    owned = [table for some in OWNERS.values() for table in some]
    assert sorted(owned) == sorted(tables())


def test_every_owner_writes_its_tables() -> None:
    for noun, owned in OWNERS.items():
        assert owned - {table for _, sql in statements(noun) for table in written(sql)} == set(), noun


def test_no_noun_writes_a_table_of_another() -> None:
    assert foreign(written) == {}


def test_no_noun_reads_a_table_of_another() -> None:
    assert foreign(named) == {}


@pytest.mark.parametrize("room", ["activities", "adapters", "api", "cli", "embedded", "workflows"])
def test_only_services_name_the_tables(room: str) -> None:
    """Elsewhere a statement is not a constant either: the source is searched."""
    for path in (ROOT / room).rglob("*.py"):
        text = path.read_text()
        assert not re.search(rf"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:{'|'.join(sorted(tables()))})\b", text), path


def test_statements_are_constants() -> None:
    """A statement that a function writes is not seen by the tests above."""
    for path in (ROOT / "services").rglob("*.py"):
        assert not re.search(
            r"\.(?:execute|fetch|fetchrow|fetchval)\(\s*(?:f?r?[\"'])(?!CREATE VIEW|SET )", path.read_text()
        ), path
