"""Fixtures that every room's tests may use."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.stack import embedded

__all__ = ["embedded"]

for _size in ("COLUMNS", "LINES"):
    # pytest imports readline, which sets them to 80 and 24 for the workers of pytest-xdist: tables would be folded.
    os.environ.pop(_size, None)

TESTS = Path(__file__).parent
SLOW = (
    "chaos/",
    "console/",
    "activities/test_gemini_pictures.py",
    "activities/test_hostile_files.py",
    "activities/test_reading_pictures.py",
    "api/test_cut_short.py",
    "api/test_filing.py",
    "api/test_frozen.py",
    "api/test_gemini_pipeline.py",
    "api/test_grouped_batches.py",
    "api/test_mailboxes.py",
    "api/test_monitoring.py",
    "api/test_oidc.py",
    "api/test_outages.py",
    "api/test_own_handlers.py",
    "api/test_rate_limits.py",
    "api/test_run_views.py",
    "api/test_several_apis.py",
    "api/test_stuck_runs.py",
    "api/test_tls.py",
    "api/test_unanswered_runs.py",
    "api/test_undoing.py",
    "api/test_workers.py",
    "cli/test_batches.py",
    "cli/test_calibrate.py",
    "cli/test_demo.py",
    "cli/test_extract.py",
    "cli/test_published.py",
    "cli/test_query.py",
    "cli/test_run.py",
    "cli/test_run_control.py",
    "invoices/test_finds.py",
    "invoices/test_hostile_set.py",
    "invoices/test_long_documents.py",
    "invoices/test_page_image.py",
    "invoices/test_picture_pdf.py",
    "invoices/test_tampering.py",
    "security/test_connections.py",
    "security/test_encryption.py",
    "security/test_hostile_texts.py",
    "security/test_large_requests.py",
    "security/test_logs.py",
    "security/test_methods.py",
    "security/test_modes.py",
    "security/test_oidc.py",
    "security/test_printed_commands.py",
    "security/test_secrets.py",
    "security/test_shared_machine.py",
    "security/test_tls.py",
    "services/test_compaction.py",
    "services/test_deployments.py",
    "simulation/test_server.py",
    "workflows/test_attempts.py",
    "workflows/test_cache.py",
    "workflows/test_chunks.py",
    "workflows/test_document_chunk_laws.py",
    "workflows/test_inner_outputs.py",
    "workflows/test_lost_workers.py",
    "workflows/test_shapes.py",
    "workflows/test_stored.py",
    "workflows/test_turns.py",
    "workflows/test_unfit_workers.py",
    "workflows/test_waits.py",
    "test_backup.py",
    "test_cli_up.py",
    "test_embedded.py",
    "test_examples_commands.py",
    "test_wheel.py",
)
"""Folders and files whose tests drive a browser, start servers of their own, run OCR, thousands of steps or hundreds of
attacks: each takes seconds of a core. `make test` leaves them out, as it does single tests marked `slow`; CI has all.
"""

DRAWN = 40
"""Definitions that each run of the suite draws: about half a minute on two cores."""

settings.register_profile("quick", max_examples=20, deadline=None)  # make test
settings.register_profile("thorough", max_examples=50, deadline=None)  # make test-all
settings.register_profile("fuzz", max_examples=500, deadline=None)  # make fuzz
settings.register_profile(  # make mutants: the same examples each time, and none is made smaller
    "mutants", max_examples=100, deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("thorough")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-histories", action="store_true", help="keep new histories in tests/histories")
    parser.addoption("--drawn", type=int, default=DRAWN, help=f"definitions drawn for the real server ({DRAWN})")
    parser.addoption("--drawn-seed", type=int, default=1, help="seed of the drawing; a failure shows it")


@pytest.fixture(scope="module", autouse=True)
def settled_memory() -> None:
    """Take what is loaded by now out of the garbage collector's rounds, as a worker does.

    The suite's process grows until a round takes so long that a turn with a few of them is over its two seconds.
    """
    gc.collect()
    gc.freeze()


def pytest_configure() -> None:
    """Do without the garbage collector until all tests are collected: it takes a third of that time, in each worker."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test its tier: the one it is marked with, `server` if it uses the session's servers, else `unit`."""
    for item in items:
        if item.path.relative_to(TESTS).as_posix().startswith(SLOW):
            item.add_marker("slow")
        if not any(item.get_closest_marker(tier) for tier in ("slow", "server")):
            item.add_marker("server" if "embedded" in getattr(item, "fixturenames", ()) else "unit")
