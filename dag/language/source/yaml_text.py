"""Read YAML as JSON with comments: no yes/no, dates, octals or other implicit types, and no anchors."""

import re
from typing import Any

import yaml

from docrail.dag.language.source.tree import SourceError, TreeBuilder, number
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Place

_Loader: Any = getattr(yaml, "CLoader", yaml.Loader)
"""libyaml's reader is thirty times as fast; only its events are used, so no objects are constructed."""

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""JSON's numbers: `007`, `0x1F`, `1_000` and `12:30` are texts."""

WORDS: dict[str, Json] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
"""Plain words that are not texts, as in YAML 1.2; `yes`, `no`, `on` and `off` are texts."""

_ADVICE = (
    ("expected '-' indicator", "is this line indented like those around it?"),
    ("expected key", "is this line indented like those around it?"),
    ("mapping values are not allowed", "a text with `: ` in it needs quotes, or a line is indented wrongly"),
    ("cannot start any token", "a text that begins like this needs quotes; tabs cannot indent"),
    ("expected ',' or", "a bracket is not closed, or a text in it needs quotes"),
)
"""Advice for the author, by libyaml's message."""

_TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")


def read_yaml(text: str, tree: TreeBuilder) -> None:
    """Read `text` into `tree`. Raises SourceError where it cannot be read any further."""
    loader = _Loader(text)
    documents = 0
    try:
        while (event := loader.get_event()) is not None:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
            if documents > 1:
                message = "a file contains one definition, and a second document begins here"
                raise SourceError("several-documents", message, _place(event))
            _take(event, tree)
    except yaml.YAMLError as error:
        raise _syntax_error(error) from error
    finally:
        loader.dispose()
    if not documents:
        raise SourceError("empty", "there is no definition in this text", (1, 1))


def _take(event: yaml.Event, tree: TreeBuilder) -> None:
    place = _place(event)
    match event:
        case yaml.AliasEvent():
            _take_alias(str(event.anchor), place, tree)
        case yaml.ScalarEvent():
            _take_scalar(event, place, tree)
        case yaml.MappingStartEvent():
            _check_tag(event.tag, ("tag:yaml.org,2002:map",), tree, place)
            tree.begin({}, place)
        case yaml.SequenceStartEvent():
            _check_tag(event.tag, ("tag:yaml.org,2002:seq",), tree, place)
            tree.begin([], place)
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            tree.end()


def _take_alias(name: str, place: Place, tree: TreeBuilder) -> None:
    is_key = tree.expects_key
    if is_key:
        tree.key(f"*{name}", place)
    tree.report("alias", f"anchors are not allowed: write out what '*{name}' means", tree.path, place)
    if not is_key:
        tree.add(None, place)


def _take_scalar(event: yaml.ScalarEvent, place: Place, tree: TreeBuilder) -> None:
    _check_tag(event.tag, (), tree, place)
    value = scalar(event.value) if event.implicit[0] and event.tag is None else event.value
    if not tree.expects_key:
        tree.add(value, place)
        return
    tree.key(event.value, place)
    if not isinstance(value, str):
        message = f"a field's name must be a text; {event.value or 'nothing'} is not one without quotes"
        tree.report("key-not-text", message, tree.path, place, f'"{event.value}"')


def scalar(text: str) -> Json:
    """Return the JSON value of unquoted `text`."""
    if text in WORDS:
        return WORDS[text]
    return number(text) if NUMBER.fullmatch(text) else text


def _check_tag(tag: str | None, allowed: tuple[str, ...], tree: TreeBuilder, place: Place) -> None:
    if tag not in (*_TEXT_TAGS, *allowed):
        written = str(tag).replace("tag:yaml.org,2002:", "!!")
        tree.report("tag", f"the tag '{written}' is not allowed: a definition is plain data", tree.path, place)


def _place(event: yaml.Event) -> Place:
    mark: Any = event.start_mark  # never None: the event was read from a text
    return (mark.line + 1, mark.column + 1)


def _syntax_error(error: yaml.YAMLError) -> SourceError:
    if not isinstance(error, yaml.MarkedYAMLError):
        return SourceError("syntax", f"not YAML: {error}", None)
    mark = error.problem_mark or error.context_mark
    context = f" {error.context}" if error.context else ""
    advice = next((f"; {advice}" for found, advice in _ADVICE if found in str(error.problem)), "")
    message = f"not YAML: {error.problem or 'cannot be read'}{context}{advice}"
    return SourceError("syntax", message, (mark.line + 1, mark.column + 1) if mark else None)
