"""What to do instead, for words that people bring from elsewhere and that have no word of ours in their place."""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from dag.kinds import Assignees, ForEach, Human, Nested, Wait

_NOTES: Mapping[type[BaseModel], Mapping[str, str]] = {
    Wait: {
        **dict.fromkeys(("url", "path", "callback", "callback_url"), "its URL is {{ run.callbacks.STEP }}"),
        **dict.fromkeys(("until", "at", "date", "cron"), "a timer waits so many 'seconds', which may be a template"),
    },
    Human: {
        **dict.fromkeys(("options", "choices", "buttons", "actions"), "a decision's fields and values stand in 'form'"),
        **dict.fromkeys(("due", "deadline", "sla", "due_at"), "how long people have is 'timeout_seconds'"),
    },
    Assignees: {
        **dict.fromkeys(("user", "users", "people", "names", "emails"), "people are not named, their 'group' is"),
    },
    ForEach: {
        **dict.fromkeys(("as", "var", "variable", "item", "loop_var"), "an element is always called 'item'"),
        **dict.fromkeys(("batch_size", "chunk_size", "batch"), "items run one by one, 'max_concurrency' at a time"),
    },
    Nested: {
        **dict.fromkeys(("alias", "ref", "tag"), "without 'version' it is what new runs get"),
        **dict.fromkeys(("async", "detached", "fire_and_forget"), "the step always waits for the run's end"),
    },
}
"""By the part of a definition in which the word is written."""

_MEANT: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("continue", "ignore", "proceed", "go_on", "skip"), ("collect", "continue")),
    **dict.fromkeys(("stop", "cancel", "terminate", "abort", "fail"), ("fail_fast", "abort")),
    **dict.fromkeys(("wait", "hold", "pause", "manual"), ("park",)),
    **dict.fromkeys(("always", "finished", "settled", "complete"), ("all_done",)),
    **dict.fromkeys(("any", "any_success", "first_success"), ("one_success",)),
    **dict.fromkeys(("any_failed", "on_failure", "on_error", "failure"), ("one_failed",)),
    **dict.fromkeys(("success", "on_success", "all"), ("all_success",)),
    **dict.fromkeys(("event", "message", "answer", "api"), ("signal",)),
    **dict.fromkeys(("http", "callback", "url"), ("webhook",)),
    **dict.fromkeys(("time", "delay", "sleep", "duration"), ("timer",)),
    **dict.fromkeys(("text", "str", "date", "datetime"), ("string",)),
    **dict.fromkeys(("int", "long"), ("integer",)),
    **dict.fromkeys(("float", "double", "decimal", "money"), ("number",)),
    "bool": ("boolean",),
    **dict.fromkeys(("list", "tuple"), ("array",)),
    **dict.fromkeys(("dict", "map", "json"), ("object",)),
}
"""Words that people write where one of a few of ours must stand, and ours that may mean the same."""

_APPROVALS = frozenset({"approve", "approved", "accept", "accepted", "yes", "ok", "pass"})
_ENDS: Mapping[str, str] = {
    **dict.fromkeys(("skip", "ignore", "proceed", "complete", "completed", "go_on"), "continue"),
    **dict.fromkeys(("failed", "error", "raise"), "fail"),
    **dict.fromkeys(("stop", "cancel", "aborted", "terminate", "end"), "abort"),
}


def note_on(model: type[BaseModel] | None, word: str) -> str | None:
    """Return what to do in place of writing `word`, which is no field of `model` and stands for none."""
    return None if model is None else _NOTES.get(model, {}).get(word)


def meant_choice(found: str, choices: Iterable[str]) -> str | None:
    """Return the one of `choices` that `found` means elsewhere."""
    known = set(choices)
    return next((word for word in _MEANT.get(found.lower(), ()) if word in known), None)


def meant_end(found: str, *, is_name: bool) -> tuple[str, str | None]:
    """Return a remark on `found` in the place of `on_timeout`, and what is meant; a name may be a branch's."""
    if found.lower() in _APPROVALS:
        return "; silence is never an approval", None
    return "", _ENDS.get(found.lower()) or (f"{{branch: {found}}}" if is_name else None)
