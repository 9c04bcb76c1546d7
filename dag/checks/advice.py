"""What to do instead, for words that people bring from elsewhere and that have no word of ours in their place."""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from dag.definition import Step, is_id
from dag.kinds import Assignees, Case, ForEach, Human, Nested, OnTimeout, Wait
from dag.problems import Path
from dag.values import Json

_A_CHOICE = (
    "a choice is a step of its own, switch: [{when: EXPRESSION, branch: NAME}, {else: NAME}]; "
    "the steps of a branch say depends_on: [STEP.NAME]"
)
_A_WAY = "name the branch here, branch: NAME; its steps stand in the definition's 'steps', with depends_on: [STEP.NAME]"

_NOTES: Mapping[type[BaseModel], Mapping[str, str]] = {
    Step: dict.fromkeys(("branch", "branches", "then", "else", "otherwise", "elif", "cases"), _A_CHOICE),
    Case: dict.fromkeys(("steps", "step", "do", "run", "handler", "id"), _A_WAY),
    OnTimeout: dict.fromkeys(("steps", "run", "handler", "id"), _A_WAY),
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
_SILENCE = "; silence is never an approval"
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
        return _SILENCE, None
    return "", _ENDS.get(found.lower()) or (f"{{branch: {found}}}" if is_name else None)


def remark_on_then(found: Json) -> str:
    """Return a remark on `found` in the place of `on_timeout.then`: whoever writes more than a word means a branch."""
    if isinstance(found, str) and found.lower() in _APPROVALS:
        return _SILENCE
    return "; for other steps to follow, write branch: NAME in its place, and depends_on: [STEP.NAME] in those steps"


def names_branch(path: Path) -> bool:
    """Tell whether what stands at `path` is the name of a branch: of a switch's case, or of a timeout."""
    return path[-2:] == ("on_timeout", "branch") or (path[-3:-2] == ("switch",) and path[-1] in ("branch", "else"))


def meant_name(found: Json) -> str | None:
    """Return the one name that something larger in a name's place has in it."""
    parts = found if isinstance(found, list) else []
    if isinstance(found, dict):
        parts = [found[key] for key in ("branch", "name", "id", "step") if key in found][:1]
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) and is_id(parts[0]) else None
