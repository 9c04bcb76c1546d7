"""Says of an id that is not found whether it is that of another thing: people paste what they have at hand."""

import re

_SHAPES = {
    "execution": r"exe_[0-9a-f]{26}",
    "document": r"doc_[0-9a-z]{26}",
    "review item": r"rev_[0-9a-f]{26}",
    "run": r"[A-Za-z][A-Za-z0-9_]{0,63}\.[A-Za-z0-9_.:~-]{1,200}",
}
_WHERE = {
    "execution": "GET /v1/workflow/{} tells its run",
    "document": "`docrail run list --document {}` lists its runs",
    "review item": "`docrail review show {}` shows it",
    "run": "`docrail run explain {}` tells of it",
}


def mistaken_for(kind: str, wanted: str) -> str:
    """Return what to do with `wanted`, where a `kind` was to be named by it; empty: it may be one, or is nothing."""
    if kind not in _SHAPES or re.fullmatch(_SHAPES[kind], wanted):
        return ""
    for other, shape in _SHAPES.items():
        if re.fullmatch(shape, wanted):
            return f"that is the id of {'an' if other[0] == 'e' else 'a'} {other}, {_WHERE[other].format(wanted)}"
    return "a run's id is DEFINITION.KEY, `docrail run list` lists them" if kind == "run" else ""
