"""A group of calls is made by one call of its handler where that can, and one by one where it cannot."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any, cast

import pytest
from pydantic import BaseModel
from temporalio.testing import ActivityEnvironment

from docrail.activities.handlers import create_review, record_metrics, save_json, save_parquet
from docrail.activities.internal.groups import group_activity
from docrail.activities.wrapper import Attempts
from docrail.adapters.postgres.pool import NotStored
from docrail.adapters.redaction import record
from docrail.dag.values.json_values import Json
from docrail.handlers import Handler, StepCall
from docrail.services.tools import Tools
from docrail.workflows.contract.messages import AttemptRequest, CallEnd, GroupCall, GroupReport, HandlerCalls
from tests.activities.test_handlers import RUN_ID, call, extracted, sample
from tests.postgres import TENANT


class Config(BaseModel, extra="forbid"):
    text: str


class Output(BaseModel):
    text: str


class Recorded:
    """A handler that records how its calls are made. It cannot make `bad` with others, and `worse` not at all."""

    def __init__(self) -> None:
        self.alone: list[str] = []
        self.together: list[list[str]] = []
        self.stopped, self.made = False, asyncio.Event()
        self.handler = Handler("recorded", Config, Output, self.run, is_light=True, run_all=self.run_all)

    async def run(self, call: StepCall[Config], _: Tools) -> Output:
        self.alone.append(call.config.text)
        if call.config.text == "worse":
            raise ValueError("it is worse")
        return Output(text=call.config.text.upper())

    async def run_all(self, calls: Sequence[StepCall[Config]], _: Tools) -> list[Output]:
        texts = [call.config.text for call in calls]
        self.together.append(texts)
        self.made.set()
        if "slow" in texts:
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped = True
        if {"bad", "worse"} & {*texts}:
            raise RuntimeError("one of them is bad")
        if "lost" in texts:
            texts.remove("lost")
        if "secret" in texts:
            record("s3cr3t-of-the-handler")
            texts = [f"{text} s3cr3t-of-the-handler" for text in texts]
        return [Output(text=text.upper()) for text in texts]

    async def group(self, *configs: Json, seconds: float = 10) -> list[CallEnd]:
        calls = tuple(
            AttemptRequest(tenant_id="t", run_id=f"r.{number}", step_id="s", config=config, jitter=0)
            for number, config in enumerate(configs)
        )
        made = group_activity({"recorded": Attempts(self.handler, cast("Tools", None))})
        part = HandlerCalls(handler="recorded", calls=calls, seconds=seconds)
        asked = GroupCall(tenant_id="t", parts=(part,))
        report = cast("GroupReport", await ActivityEnvironment().run(made, asked))
        return list(report.ends)


def said(end: CallEnd) -> Json:
    """Return the text of an outcome, or the type of a failure."""
    if end.outcome is not None:
        return cast("dict[str, Any]", end.outcome.output)["text"]
    return end.failure.type if end.failure is not None else None


async def test_the_calls_of_a_group_are_made_at_once_each_with_its_own_outcome() -> None:
    recorded = Recorded()
    ends = await recorded.group(*({"text": text} for text in "abc"))
    assert [said(end) for end in ends] == ["A", "B", "C"]
    assert (recorded.together, recorded.alone) == ([["a", "b", "c"]], [])


async def test_calls_that_cannot_be_made_at_once_are_made_alone_and_only_the_bad_one_fails() -> None:
    recorded = Recorded()
    ends = await recorded.group(*({"text": text} for text in ("a", "bad", "worse")))
    assert [said(end) for end in ends] == ["A", "BAD", "ValueError"]
    assert (recorded.together, sorted(recorded.alone)) == ([["a", "bad", "worse"]], ["a", "bad", "worse"])


async def test_a_handler_that_forgets_a_call_is_given_each_alone() -> None:
    recorded = Recorded()
    ends = await recorded.group(*({"text": text} for text in ("a", "lost")))
    assert [said(end) for end in ends] == ["A", "LOST"]


async def test_a_call_with_a_wrong_config_fails_and_does_not_hold_up_the_others() -> None:
    recorded = Recorded()
    ends = await recorded.group({"text": "a"}, {"wrong": 1}, {"text": "c"})
    assert [said(end) for end in ends] == ["A", "ValidationError", "C"]
    assert (recorded.together, recorded.alone) == ([["a", "c"]], [])


async def test_a_secret_that_the_handler_is_given_is_in_no_outcome() -> None:
    recorded = Recorded()
    ends = await recorded.group(*({"text": text} for text in ("a", "secret", "c")))
    assert recorded.together
    assert not any("S3CR3T" in str(said(end)).upper() for end in ends)


async def test_a_call_that_is_late_is_made_alone_and_the_others_do_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded = Recorded()

    async def whole_config(call: AttemptRequest, _: Tools) -> Json:
        if call.config["text"] == "late":
            await recorded.made.wait()
        return call.config

    monkeypatch.setattr("docrail.activities.wrapper._whole_config", whole_config)
    monkeypatch.setattr("docrail.activities.internal.groups.PATIENCE_SECONDS", 0.01)
    ends = await recorded.group({"text": "a"}, {"text": "late"})
    assert [said(end) for end in ends] == ["A", "LATE"]
    assert (recorded.together, recorded.alone) == ([["a"]], ["late"])


class OneByOne(Recorded):
    """A handler that makes each call alone: the first waits for the last, one is given a secret, and one repeats it."""

    def __init__(self) -> None:
        super().__init__()
        self.handler = Handler("recorded", Config, Output, self.run, is_light=True)

    async def run(self, call: StepCall[Config], _: Tools) -> Output:
        match call.config.text:
            case "first":
                await self.made.wait()
            case "secret":
                record("s3cr3t-of-the-handler")
            case "last":
                self.made.set()
            case "worse":
                raise ValueError("it is worse")
            case "slow":
                await asyncio.Event().wait()
        return Output(text=f"{call.config.text} s3cr3t-of-the-handler")


async def test_a_call_that_waits_does_not_hold_up_the_others() -> None:
    ends = await OneByOne().group(*({"text": text} for text in ("first", *"abcdef", "worse", "last")))
    assert [(said(end) or "").split()[0] for end in ends] == ["first", *"abcdef", "ValueError", "last"]


async def test_only_the_outcome_of_the_call_that_was_given_a_secret_is_redacted() -> None:
    ends = await OneByOne().group(*({"text": text} for text in ("a", "secret", "c")))
    assert [said(end) for end in ends] == ["a s3cr3t-of-the-handler", "secret [secret]", "c s3cr3t-of-the-handler"]


async def test_calls_that_were_made_before_the_time_was_over_count() -> None:
    ends = await OneByOne().group(*({"text": text} for text in ("a", "slow", "c")), seconds=0.05)
    assert [end.outcome is not None for end in ends] == [True, False, True]
    assert ends[1] == CallEnd()


async def test_a_group_that_takes_too_long_is_stopped_and_its_calls_are_not_made() -> None:
    recorded = Recorded()
    ends = await recorded.group({"text": "slow"}, {"text": "b"}, seconds=0.05)
    assert ends == [CallEnd(), CallEnd()]
    assert recorded.stopped
    assert recorded.alone == []


@pytest.mark.parametrize("handler", [save_json.HANDLER, save_parquet.HANDLER])
async def test_documents_that_are_saved_at_once_are_saved_as_alone(keyless: Tools, handler: Handler) -> None:
    references = [(await extracted(keyless))[1]["invoice_ref"] for _ in range(3)]
    together = await made_at_once(handler, keyless, *({"invoice": each} for each in references))
    assert together == [await call(handler, keyless, invoice=each) for each in references]
    assert len({each["path"] for each in together}) == 3


async def test_documents_that_are_counted_at_once_count_once_each(keyless: Tools) -> None:
    ids = [(await extracted(keyless))[0].document_id for _ in range(3)]
    await call(record_metrics.HANDLER, keyless, document_id=ids[0], status="completed")
    configs = [{"document_id": each, "status": "completed"} for each in ids]
    together = await made_at_once(record_metrics.HANDLER, keyless, *configs)
    assert [each["recorded"] for each in together] == [False, True, True]
    assert sample(keyless.metrics, "docrail_documents_processed_total", {"status": "success"}) == 3


@pytest.mark.parametrize("handler", [record_metrics.HANDLER, create_review.HANDLER])
async def test_a_document_named_twice_is_for_each_call_alone(keyless: Tools, handler: Handler) -> None:
    config: Json = {"document_id": (await extracted(keyless))[0].document_id}
    config |= {"status": "completed"} if handler is record_metrics.HANDLER else {"sla_hours": 24}
    with pytest.raises(ValueError, match="named twice"):
        await made_at_once(handler, keyless, config, config)


async def test_documents_are_counted_together_or_not_at_all(keyless: Tools) -> None:
    document_id = (await extracted(keyless))[0].document_id
    configs: list[Json] = [{"document_id": each, "status": "completed"} for each in (document_id, "doc_missing")]
    with pytest.raises(NotStored, match="doc_missing"):
        await made_at_once(record_metrics.HANDLER, keyless, *configs)
    assert await call(record_metrics.HANDLER, keyless, document_id=document_id, status="completed") == {
        "recorded": True
    }


async def test_reviews_that_are_created_at_once_are_those_that_are_created_alone(keyless: Tools) -> None:
    ids = [(await extracted(keyless))[0].document_id for _ in range(3)]
    configs: list[dict[str, Json]] = [{"document_id": each, "sla_hours": 24 + n} for n, each in enumerate(ids)]
    first = await call(create_review.HANDLER, keyless, **configs[0])
    together = await made_at_once(create_review.HANDLER, keyless, *configs)
    assert together[0]["review_id"] == first["review_id"]
    again = [await call(create_review.HANDLER, keyless, **config) for config in configs]
    for one, alone in zip(together, again, strict=True):
        assert one | {"priority": 0, "parts": {}} == alone | {"priority": 0, "parts": {}}  # they rise with time


async def made_at_once(handler: Handler, tools: Tools, *configs: Json) -> list[dict[str, Any]]:
    assert handler.run_all is not None
    calls = [
        StepCall(TENANT, f"{RUN_ID}.{number}", handler.name, 1, handler.config.model_validate(config))
        for number, config in enumerate(configs)
    ]
    return [json.loads(output.model_dump_json()) for output in await handler.run_all(calls, tools)]
