"""Rules of the language about steps that run once for each element of a list, and its customer example, by name."""

import json

import pytest

from docrail.dag.engine.events import (
    AbortRequested,
    Cancel,
    Finish,
    Item,
    PauseRequested,
    Record,
    ResumeRequested,
    Start,
    StepCancelled,
    TimedOut,
)
from docrail.dag.engine.map_items import MAX_STORED_BYTES, ItemCounts, counts_of
from docrail.dag.engine.saved_state import load, save
from docrail.dag.engine.state import ItemState, StepError
from docrail.dag.explain.report import report_of
from docrail.dag.language.definition import Definition
from docrail.dag.language.statuses import RunStatus, SkipReason, StepStatus
from docrail.dag.language.step_kinds import CHUNK_ITEMS, MAX_ITEMS
from docrail.dag.values.json_values import Json, size_of
from docrail.dag.values.stored import MAX_INLINE_BYTES
from tests.dag.definitions import definition, step
from tests.dag.kinds import answer, begun, broke, done, error_of, mapped, reported, started, statuses, wait
from tests.dag.rewinding import rewind
from tests.dag.world import World

THREE = ["x", "y", "z"]


def rewound(world: World, **ends: Json) -> World:
    again = World(world.definition, **ends)
    again.run = rewind(again.plan, world.run)
    return again


# -- the list --


def test_an_empty_list_completes_at_once_with_a_total_of_zero() -> None:
    world = begun(step("a"), mapped("m", "{{ a }}", "a"), step("b", "m", config={"total": "{{ m.total }}"}))
    assert world.send(done("a", [])) == [Start("b", {"total": 0})]
    assert world.states["m"].output == {"total": 0, "completed": 0, "failed": 0, "items": []}
    assert world.states["m"].started_at == world.states["m"].ended_at == 9.0


def test_each_item_has_its_own_config_and_the_output_has_all_in_the_order_of_the_list() -> None:
    config = {"n": "{{ item.n }}", "at": "{{ index }}", "all": "{{ inputs.all }}"}
    world = begun(
        mapped("m", [{"n": 5}, {"n": 6}], config=config, max_failures=1, key="item.n"),
        inputs={"all": 1},
    )
    assert world.trace[-1][1] == [
        Start("m", {"n": 5, "at": 0, "all": 1}, Item(0)),
        Start("m", {"n": 6, "at": 1, "all": 1}, Item(1)),
    ]
    world.send(broke("m", item=1))
    assert world.send(done("m", {"y": 1}, item=0)) == [Finish(RunStatus.COMPLETED)]
    assert world.states["m"].output == {
        "total": 2,
        "completed": 1,
        "failed": 1,
        "items": [
            {"key": "5", "status": "completed", "output": {"y": 1}},
            {"key": "6", "status": "failed", "error": {"type": "Broken", "message": "it broke"}},
        ],
    }
    assert world.states["m"].attempts == 2


@pytest.mark.parametrize(
    ("items", "fields", "message"),
    [
        ("{{ inputs.word }}", {}, "for_each.items gave the text 'no', expected a list"),
        ("{{ inputs.missing }}", {}, "`inputs.missing`: 'inputs' has no 'missing': it has word"),
        ([0] * (MAX_ITEMS + 1), {}, f"for_each.items gave {MAX_ITEMS + 1} items, more than {MAX_ITEMS}"),
        (["x", "y", "x", "y", "z"], {"key": "item"}, "for_each.key gave the same key for several items: x, y"),
        ([1, "1"], {"key": "item"}, "for_each.key gave the same key for several items: 1"),
        (
            [*"aabbccddeeffgg"],
            {"key": "item"},
            "for_each.key gave the same key for several items: a, b, c, d, e and 2 more",
        ),
        ([*"aabbccddee"], {"key": "item"}, "for_each.key gave the same key for several items: a, b, c, d, e"),
        (["k" * 80] * 2, {"key": "item"}, "for_each.key gave the same key for several items: " + "k" * 64),
        ([{"n": 1}, {}], {"key": "item.n"}, "`item.n`: 'item' has no 'n': it is empty"),
    ],
)
def test_a_list_that_cannot_be_laid_out_fails_the_step(items: Json, fields: Json, message: str) -> None:
    world = begun(mapped("m", items, **fields), inputs={"word": "no"})
    assert world.ledger.finished is RunStatus.FAILED
    assert world.states["m"].error == StepError("TemplateError", message)


def test_a_list_may_be_so_long_without_chunks() -> None:
    world = begun(mapped("m", [0] * CHUNK_ITEMS, max_concurrency=500), max_concurrency=500)
    assert len(reported(world)) == CHUNK_ITEMS


def test_keys_name_the_items_and_by_default_their_places_do() -> None:
    world = begun(mapped("m", THREE), mapped("k", THREE, key="item"), max_concurrency=6).go()
    keys = [[item["key"] for item in world.states[name].output["items"]] for name in ("m", "k")]
    assert keys == [["0", "1", "2"], THREE]


def test_an_item_whose_config_cannot_be_resolved_fails_alone() -> None:
    world = begun(mapped("m", [{"n": 1}, {}, {"n": 3}], config={"n": "{{ item.n }}"}, max_failures=1))
    assert reported(world) == ["m[0]", "m[2]"]
    world.go()
    assert world.ledger.finished is RunStatus.COMPLETED
    item = world.states["m"].output["items"][1]
    assert item == {
        "key": "1",
        "status": "failed",
        "error": {"type": "TemplateError", "message": "`item.n`: 'item' has no 'n': it is empty"},
    }


def test_items_may_all_fail_before_any_has_started() -> None:
    broken = mapped("m", THREE, config={"n": "{{ item.n }}"})
    world = begun(broken, step("a"), step("b", "m", trigger_rule="all_done"))
    assert reported(world) == ["a", "b"]
    message = "3 of 3 items failed: 0, 1, 2; 0: `item.n`: 'item' has no 'n': it is the text 'x'"
    assert world.states["m"].error == StepError("ItemsFailed", message)


# -- the window --


def test_one_slow_item_does_not_hold_the_window() -> None:
    world = begun(mapped("m", [*"abcde"], max_concurrency=2))
    assert reported(world) == ["m[0]", "m[1]"]
    assert [started(world, done("m", item=place)) for place in (1, 2, 3)] == [["m[2]"], ["m[3]"], ["m[4]"]]


def test_items_take_slots_of_the_run_and_leave_them_to_others_beyond_their_window() -> None:
    world = begun(mapped("m", THREE, max_concurrency=2), step("a"), step("b"), max_concurrency=3)
    assert reported(world) == ["m[0]", "m[1]", "a"]
    assert started(world, done("a")) == ["b"]
    assert started(world, done("m", item=0)) == ["m[2]"]


def test_nested_runs_over_a_list_take_no_slots_and_have_their_window() -> None:
    nested = {"id": "other", "inputs": {"n": "{{ item }}"}}
    world = begun(mapped("m", THREE, workflow=nested, max_concurrency=2), step("a"), max_concurrency=1)
    assert world.trace[-1][1] == [Start("m", {"n": "x"}, Item(0)), Start("m", {"n": "y"}, Item(1)), Start("a", {})]
    assert started(world, done("m", item=0)) == ["m[2]"]


def test_a_pause_holds_back_items_too() -> None:
    world = begun(mapped("m", THREE, max_concurrency=1))
    world.send(PauseRequested(2.0))
    assert world.send(done("m", item=0)) == []
    assert world.states["m"].status is StepStatus.RUNNING
    assert started(world, ResumeRequested(3.0)) == ["m[1]"]


# -- failures of items --


def test_collect_runs_every_item_and_then_fails_if_more_than_max_failures_did() -> None:
    world = begun(mapped("m", [*"abcd"], max_concurrency=1, max_failures=1), step("b", "m"))
    for place in range(3):
        assert started(world, broke("m", item=place)) == [f"m[{place + 1}]"]
    assert world.send(done("m", item=3)) == [Record("m"), Finish(RunStatus.FAILED)]
    message = "3 of 4 items failed (max_failures: 1): 0, 1, 2; 0: it broke"
    assert world.states["m"].error == StepError("ItemsFailed", message)
    assert world.states["m"].output["completed"] == 1
    assert world.states["b"].reason is SkipReason.UPSTREAM_FAILED


def test_fail_fast_stops_what_runs_and_starts_nothing_more() -> None:
    world = begun(mapped("m", [*"abcd"], max_concurrency=3, on_item_error="fail_fast"))
    assert world.send(broke("m", item=1)) == [Cancel("m", Item(0)), Cancel("m", Item(2))]
    assert world.send(done("m", item=2)) == []
    assert world.send(StepCancelled("m", 5.0, Item(0))) == [Record("m"), Finish(RunStatus.FAILED)]
    statuses = [item["status"] for item in world.states["m"].output["items"]]
    assert statuses == ["cancelled", "failed", "completed", "skipped"]
    message = "1 of 4 items failed: 1; 1: it broke"
    assert world.states["m"].error == StepError("ItemsFailed", message)


def test_fail_fast_bears_as_many_failures_as_max_failures_says() -> None:
    world = begun(mapped("m", [*"abcd"], max_concurrency=1, max_failures=1, on_item_error="fail_fast"))
    assert started(world, broke("m", item=0)) == ["m[1]"]
    assert world.send(broke("m", item=1)) == [Record("m"), Finish(RunStatus.FAILED)]


def test_a_broken_item_of_a_hasty_list_leaves_the_other_steps_their_turn() -> None:
    """Its offer was once taken back twice, and with it the next step's: an IndexError, or a run that stood still."""
    hasty = mapped("m", [{"n": 1}, {}, {"n": 3}], config={"n": "{{ item.n }}"}, on_item_error="fail_fast")
    world = begun(hasty, step("a"), step("b"))
    assert world.trace[-1][1] == [Start("m", {"n": 1}, Item(0)), Cancel("m", Item(0)), Start("a", {}), Start("b", {})]
    assert world.go().ledger.finished is RunStatus.FAILED


def test_an_item_cancelled_behind_our_back_has_failed() -> None:
    world = begun(mapped("m", ["x"]))
    world.send(StepCancelled("m", 9.0, Item(0)))
    message = "1 of 1 items failed: 0; 0: cancelled from outside the run"
    assert world.states["m"].error == StepError("ItemsFailed", message)


def test_outputs_that_are_too_large_together_fail_the_step() -> None:
    world = begun(mapped("m", ["x", "y"]))
    for place in (0, 1):
        world.send(done("m", "x" * (MAX_STORED_BYTES // 2), item=place))
    assert error_of(world.states["m"]).type == "OutputTooLargeError"
    assert world.states["m"].output is None


def test_outputs_may_be_as_large_as_is_allowed() -> None:
    world = begun(mapped("m", ["x"]))
    around = {"total": 1, "completed": 1, "failed": 0, "items": [{"key": "0", "status": "completed", "output": ""}]}
    assert world.send(done("m", "x" * (MAX_INLINE_BYTES - size_of(around)), item=0)) == [Finish(RunStatus.COMPLETED)]
    assert size_of(world.states["m"].output) == MAX_INLINE_BYTES


def test_a_failed_list_fails_a_fast_run_once_its_items_have_ended() -> None:
    world = begun(mapped("m", ["x", "y"], on_item_error="fail_fast"), step("a"), on_failure="fail_fast")
    assert world.send(broke("m", item=0)) == [Cancel("m", Item(1))]
    assert world.send(StepCancelled("m", 3.0, Item(1))) == [Cancel("a"), Record("m")]
    assert world.send(StepCancelled("a", 4.0)) == [Finish(RunStatus.FAILED)]


# -- stops --


def test_an_abort_stops_every_item_that_runs_and_says_what_had_been_done() -> None:
    world = begun(mapped("m", [*"abcd"], max_concurrency=2))
    world.send(done("m", item=0))
    assert world.send(AbortRequested("", 3.0)) == [Cancel("m", Item(1)), Cancel("m", Item(2))]
    world.send(broke("m", item=1))
    assert world.send(StepCancelled("m", 4.0, Item(2))) == [Finish(RunStatus.ABORTED)]
    assert (world.states["m"].status, world.states["m"].decided_by) == (StepStatus.CANCELLED, "abort")
    statuses = [item["status"] for item in world.states["m"].output["items"]]
    assert statuses == ["completed", "failed", "cancelled", "skipped"]
    fan = world.states["m"].fan
    assert fan is not None
    assert counts_of(fan) == ItemCounts(total=4, completed=1, failed=1, running=0, cancelled=1)


def test_items_that_have_been_asked_to_stop_are_not_asked_again_by_an_abort() -> None:
    world = begun(mapped("m", THREE, on_item_error="fail_fast"), step("a"))
    assert world.send(broke("m", item=0)) == [Cancel("m", Item(1)), Cancel("m", Item(2))]
    assert world.send(AbortRequested("", 3.0)) == [Cancel("a")]
    assert world.go().ledger.finished is RunStatus.ABORTED
    assert world.states["m"].status is StepStatus.CANCELLED


def test_a_list_with_nothing_running_is_stopped_at_once() -> None:
    world = begun(mapped("m", THREE, max_concurrency=1))
    world.send(PauseRequested(2.0))
    world.send(done("m", item=0))
    assert world.send(AbortRequested("", 3.0)) == [Finish(RunStatus.ABORTED)]
    assert world.states["m"].status is StepStatus.CANCELLED


def test_a_list_whose_last_items_end_well_while_the_run_is_stopped_has_completed() -> None:
    world = begun(mapped("m", ["x", "y"]))
    world.send(AbortRequested("", 3.0))
    world.send(done("m", item=0))
    assert world.send(done("m", item=1)) == [Finish(RunStatus.ABORTED)]
    assert world.states["m"].status is StepStatus.COMPLETED


# -- retries --


def test_a_retry_runs_only_the_items_that_failed_or_never_ran() -> None:
    first = begun(mapped("m", [*"abcde"], max_concurrency=1, max_failures=1, on_item_error="fail_fast"))
    for event in (done("m", "A", item=0), broke("m", item=1), done("m", "C", item=2), broke("m", item=3)):
        first.send(event)
    second = rewound(first)
    second.start()
    assert reported(second) == ["m[1]"]
    second.go()
    assert second.ledger.started == {"m[1]", "m[3]", "m[4]"}
    assert second.ledger.finished is RunStatus.COMPLETED
    assert [item["status"] for item in second.states["m"].output["items"]] == ["completed"] * 5
    assert [item["output"] for item in second.states["m"].output["items"]][:3:2] == ["A", "C"]
    assert second.states["m"].attempts == 3


def test_a_retry_of_what_the_list_came_from_makes_a_new_list() -> None:
    first = World(definition(step("a"), mapped("m", "{{ a }}", "a"), step("b")), failing={"b", "m[1]"})
    first.start()
    first.send(done("a", ["x", "y"]))
    first.go()
    kept = rewound(first)
    kept.start()
    assert reported(kept) == ["b", "m[1]"]
    first.states["a"].status = StepStatus.CANCELLED
    again = rewound(first)
    again.start()
    assert reported(again) == ["a", "b"]
    assert started(again, done("a", ["z"])) == ["m[0]"]


def test_a_retry_of_a_retry_counts_failures_anew() -> None:
    world = begun(mapped("m", ["x", "y"], max_failures=1, on_item_error="fail_fast"))
    world.send(broke("m", item=0))
    world.send(broke("m", item=1))
    second = rewound(world, failing={"m[1]"}).go()
    assert second.ledger.finished is RunStatus.COMPLETED
    assert second.states["m"].output["failed"] == 1


def test_a_list_half_done_survives_json() -> None:
    world = begun(
        mapped("m", [{"n": 1}, {}, {"n": 3}], config={"n": "{{ item.n }}"}, max_concurrency=1, max_failures=1)
    )
    world.send(done("m", {"y": 1}, item=0))
    saved = json.loads(json.dumps(save(world.plan, world.run)))
    world.run = load(world.plan, saved)
    fan = world.states["m"].fan
    assert fan is not None
    assert fan.items[0] == ItemState("0", {"n": 1}, StepStatus.COMPLETED, {"y": 1}, None, 1)
    assert fan.items[2] == ItemState("2", {"n": 3}, StepStatus.RUNNING, None, None, 0)
    assert (fan.next, fan.running, fan.failed) == (3, 1, 1)
    assert world.send(done("m", {"y": 3}, item=2)) == [Finish(RunStatus.COMPLETED)]


def test_a_report_counts_items_and_says_who_answered() -> None:
    world = begun(mapped("m", THREE, max_concurrency=2), wait("w"), step("r", switch=[{"else": "only"}]))
    world.send(broke("m", item=0))
    world.send(done("m", item=1))
    world.send(answer("w", "yes", by="ann"))
    steps = report_of(world.plan, world.run, run_id="r", tenant_id="t", version=1, digest="d").steps
    counts = steps["m"].items
    assert counts is not None
    assert (counts.total, counts.completed, counts.failed, counts.running) == (3, 1, 1, 1)
    assert (steps["w"].kind, steps["w"].answered_by, steps["r"].branch) == ("wait", "ann", "only")
    assert (steps["m"].answered_by, steps["w"].items, steps["w"].handler) == (None, None, None)


# -- the customer example of the language reference --

CUSTOMER = Definition.model_validate(
    {
        "id": "customer_approval",
        "inputs": {"document_id": {"type": "string"}},
        "steps": [
            {"id": "ask_customer", "handler": "send_webhook"},
            {
                "id": "customer_reply",
                "depends_on": ["ask_customer"],
                "wait": {"for": "webhook", "timeout_seconds": 259200, "on_timeout": "abort"},
            },
            {
                "id": "rejected",
                "depends_on": ["customer_reply"],
                "condition": 'customer_reply.decision != "process"',
                "abort": {"reason": "customer said {{ customer_reply.decision }}"},
            },
            {"id": "parse", "handler": "extract_invoice", "depends_on": ["customer_reply", "rejected"]},
            {
                "id": "large_amount",
                "depends_on": ["parse"],
                "condition": "parse.total >= 1000",
                "workflow": {"id": "payment_approval", "inputs": {"amount": "{{ parse.total }}"}},
            },
            {
                "id": "pay",
                "handler": "send_webhook",
                "depends_on": ["parse", "large_amount"],
                "condition": 'steps.large_amount.status == "skipped" or large_amount.approved',
            },
        ],
        "outputs": {"paid": '{{ steps.pay.status == "completed" }}'},
    }
)


def replied(decision: str) -> World:
    world = World(CUSTOMER)
    world.start()
    world.send(done("ask_customer"))
    world.send(answer("customer_reply", {"decision": decision}))
    return world


def test_the_invoice_is_parsed_after_the_rejection_was_skipped() -> None:
    world = replied("process")
    assert reported(world) == ["parse"]
    assert world.states["rejected"].reason is SkipReason.CONDITION_FALSE
    assert started(world, done("parse", {"total": 12})) == ["pay"]
    assert world.send(done("pay")) == [Finish(RunStatus.COMPLETED)]
    assert world.run.outputs == {"paid": True}


def test_a_customer_who_rejects_ends_the_run_as_aborted() -> None:
    world = replied("reject")
    assert world.ledger.finished is RunStatus.ABORTED
    assert world.run.stop_reason == "customer said reject"
    assert statuses(world)["parse"] == "skipped"


def test_a_customer_who_does_not_answer_in_three_days_ends_the_run_as_aborted() -> None:
    world = World(CUSTOMER)
    world.start()
    world.send(done("ask_customer"))
    assert world.send(TimedOut("customer_reply", 259300.0)) == [Finish(RunStatus.ABORTED)]
    assert world.run.stop_reason == "customer_reply: no one answered within 259200 s"


@pytest.mark.parametrize(("approved", "paid"), [(True, True), (False, False)])
def test_a_large_amount_is_paid_if_it_is_approved(approved: bool, paid: bool) -> None:
    world = replied("process")
    assert started(world, done("parse", {"total": 1000})) == ["large_amount"]
    world.send(done("large_amount", {"approved": approved}))
    world.go()
    assert world.run.outputs == {"paid": paid}
