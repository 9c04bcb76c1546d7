"""Checks how steps stand together: ids, dependencies, cycles, and rules that need parents."""

from dataclasses import dataclass

from dag.checks.findings import Findings
from dag.checks.outline import Outline, StepOutline
from dag.checks.wording import quote
from dag.definition import RESERVED_WORDS, TriggerRule
from dag.graph import ancestors, cycles
from dag.problems import Path

MAX_CYCLES = 20
"""Most cycles named at once: a dense tangle has more cycles than anybody can read."""

LONGEST_CYCLE = 12
"""Most steps of a cycle that are written out."""

NEEDS_PARENTS = frozenset({TriggerRule.ONE_SUCCESS, TriggerRule.ONE_FAILED, TriggerRule.ALL_FAILED})
"""Rules about a parent that completed or failed: a step without parents would never run."""


@dataclass(frozen=True, slots=True)
class Ancestors:
    """Who is above whom. One number more than there are steps stands for "nobody knows which step"."""

    above: tuple[int, ...]

    def may_include(self, ancestor: int, step: int) -> bool:
        """Tell whether `ancestor` settles before `step` starts, or whether that cannot be told."""
        anybody = len(self.above) - 1
        return bool(self.above[step] & (1 << ancestor | 1 << anybody))


def check_ids(outline: Outline, findings: Findings) -> None:
    """Report ids that are used twice or that mean something else in an expression."""
    for step in outline.steps:
        if step.id is None:
            continue
        path = (*step.path, "id")
        if step.id in RESERVED_WORDS:
            message = f"'{step.id}' has a meaning of its own in expressions, so it cannot be a step's id"
            findings.error("reserved-word", path, message, f"{step.id}_step")
        first = outline.index[step.id]
        if first != step.number:
            line = findings.line_of(("steps", first, "id"))
            where = f"steps[{first}]" + (f" on line {line}" if line is not None else "")
            findings.error("duplicate-id", path, f"the id '{quote(step.id)}' is already used by {where}")


def check_dependencies(outline: Outline, findings: Findings) -> Ancestors:
    """Report wrong dependencies and cycles; return who is above whom.

    A dependency whose name is misspelt counts as the step that is probably meant, so that references to it stay right.
    """
    anybody = len(outline.steps)
    parents: list[list[int]] = []
    guessed: list[list[int]] = []
    edges: dict[tuple[int, int], Path] = {}
    for step in outline.steps:
        known = _known_parents(step, outline, findings)
        edges |= {(parent, step.number): path for path, parent in known}
        parents.append([parent for _, parent in known])
        unknown = [] if step.is_clear else [anybody]
        misspelt = [name for _, name in step.depends_on if name not in outline.index]
        meant = [findings.suggestions.closest(name, outline.ids) for name in misspelt]
        unknown += [anybody if name is None else outline.index[name] for name in meant]
        guessed.append(parents[-1] + unknown)
    _check_cycles(outline, parents, edges, findings)
    _check_roots(outline, findings)
    return Ancestors(tuple(ancestors([*guessed, []])))


def _known_parents(step: StepOutline, outline: Outline, findings: Findings) -> list[tuple[Path, int]]:
    known: list[tuple[Path, int]] = []
    seen: set[str] = set()
    for path, name in step.depends_on:
        if name in seen:
            message = f"{step.name} depends on '{quote(name)}' twice"
            findings.error("duplicate-dependency", path, message)
        elif outline.index.get(name) == step.number:
            findings.error("self-dependency", path, f"{step.name} depends on itself")
        elif name not in outline.index:
            meant = findings.suggestions.closest(name, outline.ids)
            message = f"{step.name} depends on '{quote(name)}', which is not a step"
            findings.error("unknown-step", path, message, meant)
        else:
            known.append((path, outline.index[name]))
        seen.add(name)
    return known


def _check_cycles(
    outline: Outline, parents: list[list[int]], edges: dict[tuple[int, int], Path], findings: Findings
) -> None:
    for cycle in cycles(parents, MAX_CYCLES):
        names = [str(outline.steps[number].id) for number in (*cycle, cycle[0])]
        if len(names) > LONGEST_CYCLE:
            names = [*names[: LONGEST_CYCLE - 2], f"… {len(names) - LONGEST_CYCLE + 1} more …", names[-1]]
        message = f"these steps wait for each other: {' → '.join(names)}"
        findings.error("cycle", edges[cycle[-1], cycle[0]], message)


def _check_roots(outline: Outline, findings: Findings) -> None:
    for step in outline.steps:
        rule = step.fields.get("trigger_rule")
        if isinstance(rule, str) and rule in NEEDS_PARENTS and not step.fields.get("depends_on"):
            message = f"{step.name} would never run: '{rule}' is about its parents, and it has none"
            findings.error("rule-needs-parents", (*step.path, "trigger_rule"), message)
