"""Ids by which runs, the runs inside them and the chunks of their lists find each other."""

import pytest

from docrail.workflows.contract.names import child_run_id, chunk_workflow_id, outer_run_id, run_id_of, workflow_id

RUN = "invoice.order-4711"


@pytest.mark.parametrize("run_id", [RUN, child_run_id(RUN, "pay"), child_run_id(RUN, "pay", "page 1/2")])
def test_a_run_is_found_from_its_workflow_and_from_a_chunk_of_its_list(run_id: str) -> None:
    assert run_id_of(workflow_id("acme", run_id)) == run_id
    assert outer_run_id(workflow_id("acme", run_id)) == run_id
    assert outer_run_id(chunk_workflow_id("acme", run_id, "lines", 250)) == run_id


def test_no_item_is_taken_for_a_chunk() -> None:
    chunk = chunk_workflow_id("acme", RUN, "lines", 0)
    for key in ("0", "~0", "", "a~~0", "x" * 400):
        assert workflow_id("acme", child_run_id(RUN, "lines", key)) != chunk
        assert outer_run_id(workflow_id("acme", child_run_id(RUN, "lines", key))) == child_run_id(RUN, "lines", key)
