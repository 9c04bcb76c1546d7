"""Read the command `EvaluateIfThenElse` as an equivalent step, or report what is wrong with it and where.

A choice between `continue` and `abort` becomes an `abort` with a condition. This is done only in commands in order:
elsewhere the steps that depend on it would be skipped with it. A choice between two branches becomes a `switch`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from docrail.dag.language.step_kinds import StepKind
from docrail.dag.validation.document.suggestions import meant_name
from docrail.dag.values.findings import Findings
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path, is_id
from docrail.dag.values.wording import describe, quote

ROOTS = ("workflow", "document", "previous")
"""Names with which an access path begins."""

_IF, _THEN, _ELSE = _FIELDS = ("if", "then", "else")
_ENDS = _CONTINUE, _ABORT = ("continue", "abort")
_OTHER = {_CONTINUE: _ABORT, _ABORT: _CONTINUE, _THEN: _ELSE, _ELSE: _THEN}

_COMPARISONS = {"equals": "==", "==": "==", "greater_than_or_equal_to": ">=", ">=": ">="}
_SYNONYMS = {
    **dict.fromkeys(("=", "===", "eq", "is", "equal_to"), "equals"),
    **dict.fromkeys(("gte", "at_least", "=>"), "greater_than_or_equal_to"),
}
_ONLY_IN_EXPRESSIONS = {
    **dict.fromkeys(("greater_than", "gt", ">"), ">"),
    **dict.fromkeys(("less_than", "lt", "<"), "<"),
    **dict.fromkeys(("less_than_or_equal_to", "lte", "<=", "=<"), "<="),
    **dict.fromkeys(("not_equals", "not_equal_to", "not_equal", "neq", "ne", "!="), "!="),
}
"""Comparisons that the demo lacks, and their operators in an expression."""

_PARTS = "[ACCESS PATH, COMPARISON, VALUE]"


@dataclass(frozen=True, slots=True)
class Decision:
    """An `EvaluateIfThenElse`. `words`: the author's spelling of misspelt fields."""

    fields: Mapping[str, Json]
    words: Mapping[str, str]
    path: Path
    findings: Findings

    def read(self, *, in_order: bool) -> dict[str, Json] | None:
        """Return the equivalent step kind, with its condition.

        If it cannot be read, which is reported: a switch with the branches that it names, so that steps that depend on
        them are not reported too, or None if it names none.
        """
        expression, ways = self._expression(), self._ways(in_order=in_order)
        if expression is None or ways is None or self.words or self.fields.keys() - {*_FIELDS}:
            return self._branches()
        match ways:
            case (_, end) if end == _ABORT:
                return {"condition": f"not ({expression})", StepKind.ABORT: {"reason": f"{expression} does not hold"}}
            case (end, _) if end == _ABORT:
                return {"condition": expression, StepKind.ABORT: {"reason": f"{expression} holds"}}
        return {StepKind.SWITCH: [{"when": expression, "branch": ways[0]}, {"else": ways[1]}]}

    def _branches(self) -> dict[str, Json] | None:
        found = [way.removeprefix(":") for way in map(self.fields.get, (_THEN, _ELSE)) if isinstance(way, str)]
        names = [name for name in found if is_id(name) and name not in _ENDS]
        # Conditions that pass all checks.
        cases: list[Json] = [{"when": f"inputs == {number}", "branch": name} for number, name in enumerate(names)]
        return {StepKind.SWITCH: cases} if cases else None

    def _refuse(self, place: tuple[str | int, ...], rule: str, meant: str | None = None) -> None:
        """Report that the part at `place` breaks a rule."""
        field, *rest = place
        written = (self.words.get(str(field), field), *rest)
        code = "wrong-value" if field in self.fields else "missing-field"
        self.findings.error(code, (*self.path, *written), rule, meant)

    def _expression(self) -> str | None:
        """Return the expression of its `if`: written as such, or as an access path, a comparison and a value."""
        match self.fields.get(_IF):
            case str() as expression:
                return expression
            case None:
                self._refuse((_IF,), f"an EvaluateIfThenElse needs 'if': {_PARTS}, or an expression")
            case [place, comparison, value]:
                return self._compared(place, comparison, value)
            case list() as parts:
                rule = f"'if' must have three parts, {_PARTS}, found {len(parts)}"
                self._refuse((_IF,), rule, _unflattened(parts))
            case found:
                self._refuse((_IF,), f"'if' must be {_PARTS} or an expression, found {describe(found)}")
        return None

    def _compared(self, place: Json, comparison: Json, value: Json) -> str | None:
        keys, operator = self._access_path(place), self._operator(place, comparison, value)
        if isinstance(value, list | dict):
            rule = f"the third part of 'if' must be a text, a number, true, false or null, found {describe(value)}"
            self._refuse((_IF, 2), rule)
            return None
        return None if keys is None or operator is None else _written(keys, operator, value)

    def _access_path(self, place: Json) -> list[str | int] | None:
        keys = _keys(place)
        if keys is not None and keys[0] in ROOTS:
            return keys
        rule = "the first part of 'if' must be an access path, a list that begins with workflow, document or previous"
        meant = None
        if keys is not None:
            found = f"one that begins with '{quote(str(keys[0]))}'; in an expression any step can be read"
            if near := self.findings.suggestions.closest(str(keys[0]), ROOTS):
                meant = _listed([near, *keys[1:]])
        else:
            found = describe(place)
            parts = place.split(".") if isinstance(place, str) else []
            meant = _listed(parts) if parts and parts[0] in ROOTS and all(map(is_id, parts)) else None
        self._refuse((_IF, 0), f"{rule}, found {found}", meant)
        return None

    def _operator(self, place: Json, comparison: Json, value: Json) -> str | None:
        word = comparison.removeprefix(":") if isinstance(comparison, str) else ""
        if word in _COMPARISONS:
            return _COMPARISONS[word]
        known = ", ".join(_COMPARISONS)
        rule = f"the second part of 'if' must be one of {known}, found {describe(comparison)}"
        if symbol := _ONLY_IN_EXPRESSIONS.get(word):
            keys = _keys(place)
            can_be_written = keys is not None and not isinstance(value, list | dict)
            meant = _written(keys, symbol, value) if keys is not None and can_be_written else None
            self._refuse(
                (_IF,), f"{rule}; '{symbol}' is written in an expression, as in `if: previous.n {symbol} 1`", meant
            )
            return None
        self._refuse((_IF, 1), rule, _SYNONYMS.get(word) or self.findings.suggestions.closest(word, _COMPARISONS))
        return None

    def _ways(self, *, in_order: bool) -> tuple[str, str] | None:
        """Return the branches for a true and a false condition; one may be omitted if the other aborts."""
        then, other = self._way(_THEN), self._way(_ELSE)
        if then is None or other is None:
            return None
        if not in_order and {then, other} & {*_ENDS}:
            end = _THEN if then == _ABORT or other not in _ENDS else _ELSE
            rule = "'continue' and 'abort' are read only in a list of commands in which no step has 'depends_on'; here"
            advice = "write `condition: EXPRESSION` and `abort: {reason: TEXT}` in place of the command, and let what"
            self._refuse((end,), f"{rule} {advice} goes on depend on that step and on the one before it")
            return None
        refused = [
            self._refuses_end(name, way, opposite, in_order=in_order)
            for name, way, opposite in ((_THEN, then, other), (_ELSE, other, then))
        ]
        return None if any(refused) else (then or _CONTINUE, other or _CONTINUE)

    def _refuses_end(self, name: str, way: str, opposite: str, *, in_order: bool) -> bool:
        """Report a branch that does not go with the other one; return whether it was reported."""
        if opposite in _ENDS:
            wanted = _OTHER[opposite]
            if way == wanted or (not way and wanted == _CONTINUE) or (way in _ENDS and name == _THEN):
                return False
            rule = f"'{name}' must be '{wanted}' where '{_OTHER[name]}' is '{opposite}'"
            advice = "" if not way or way in _ENDS else "; a choice between branches is a `switch`"
            self._refuse((name,), f"{rule}{advice}", self.findings.suggestions.closest(way, (wanted,)) or wanted)
            return True
        if not way and name == _ELSE:
            rule = "where 'then' names a branch" if opposite else "and 'then', one of which is `abort`"
            self._refuse((name,), f"an EvaluateIfThenElse needs 'else' {rule}")
            return True
        if not way and opposite:
            self._refuse((name,), "an EvaluateIfThenElse needs 'then' where 'else' names a branch")
            return True
        meant = self.findings.suggestions.closest(way, _ENDS) if in_order and opposite and way not in _ENDS else None
        if meant:
            self._refuse((name,), f"'{name}' must be continue or abort, found '{quote(way)}'", meant)
        return meant is not None

    def _way(self, name: str) -> str | None:
        """Return one branch, '' if it is omitted; None if it is invalid, which is reported."""
        if name not in self.fields:
            return ""
        found = self.fields[name]
        way = found.removeprefix(":") if isinstance(found, str) else ""
        if is_id(way):
            return way
        rule = f"'{name}' must be continue, abort or the name of a branch, found {describe(found)}"
        if isinstance(found, list | dict):
            rule += "; write the steps of a branch separately, with `depends_on: [STEP.NAME]`"
        self._refuse((name,), rule, meant_name(found))
        return None


def decision_in(config: Mapping[str, Json], path: Path, findings: Findings) -> Decision:
    """Return the decision at `path`, with misspelt fields corrected after reporting them."""
    fields: dict[str, Json] = {name: config[name] for name in _FIELDS if name in config}
    words: dict[str, str] = {}
    unknown = [word for word in config if word not in _FIELDS]
    for word in unknown:
        meant = findings.suggestions.closest(word, _FIELDS)
        message = f"an EvaluateIfThenElse has no field '{quote(word)}', only if, then and else"
        findings.error("unknown-field", (*path, word), message, meant, at_key=True)
        name = word if meant is None or meant in fields else meant
        fields[name] = config[word]
        if name != word:
            words[name] = word
    return Decision(fields, words, path, findings)


def _keys(place: Json) -> list[str | int] | None:
    """Return the keys of an access path, whatever its first key; None if it is not an access path."""
    match place:
        case [str() as root, *rest] if is_id(root):
            keys: list[str | int] = [key for key in rest if isinstance(key, str | int) and not isinstance(key, bool)]
            return [root, *keys] if len(keys) == len(rest) else None
    return None


def _written(keys: list[str | int], operator: str, value: Json) -> str:
    """Return a comparison as an expression."""
    root, *rest = keys
    place = f"{root}" + "".join(
        f".{key}" if isinstance(key, str) and is_id(key) else f"[{json.dumps(key)}]" for key in rest
    )
    return f"{place} {operator} {'none' if value is None else json.dumps(value)}"


def _listed(keys: list[str | int] | list[str]) -> str:
    return f"[{', '.join(map(str, keys))}]"


def _unflattened(parts: list[Json]) -> str | None:
    """Return the three parts meant by a longer list, whose access path lacks its own brackets."""
    match parts:
        case [str() as root, *keys, str() as comparison, None | bool() | int() | float() | str() as value] if (
            root in ROOTS and comparison.removeprefix(":") in _COMPARISONS
        ):
            names = [key for key in keys if isinstance(key, str) and is_id(key)]
            whole = f"[{_listed([root, *names])}, {comparison}, {json.dumps(value)}]"
            return whole if len(names) == len(keys) else None
    return None
