"""Check the graph of steps: ids, dependencies, cycles, and trigger rules that need parents."""

from dataclasses import dataclass

from docrail.dag.language.definition import RESERVED_IDS, RESERVED_WORDS, TriggerRule
from docrail.dag.language.step_kinds import StepKind
from docrail.dag.validation.document.outline import Edge, Outline, StepOutline
from docrail.dag.values.findings import Findings
from docrail.dag.values.graph import ancestors, cycles
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path, path_text
from docrail.dag.values.wording import known_names, quote

MAX_CYCLES = 20
"""Cycles reported at once: a dense graph has more cycles than anyone can read."""

LONGEST_CYCLE = 12
"""Steps of a cycle that a message lists."""

NEEDS_PARENTS = frozenset({TriggerRule.ONE_SUCCESS, TriggerRule.ONE_FAILED, TriggerRule.ALL_FAILED})
"""Rules about a parent that completed or failed: a step without parents would never run."""

NEEDS_COMPLETED = frozenset({TriggerRule.NONE_FAILED, TriggerRule.ALL_SUCCESS, TriggerRule.ONE_SUCCESS})
"""Rules that require a completed parent, if there are parents."""


@dataclass(frozen=True, slots=True)
class Ancestors:
    """The ancestors of each step, as bits. One extra bit, above the last step, is for an unknown step."""

    above: tuple[int, ...]

    def may_include(self, ancestor: int, step: int) -> bool:
        """Return whether `ancestor` settles before `step` starts, or may do so because an edge is unknown."""
        any_step = len(self.above) - 1
        return bool(self.above[step] & (1 << ancestor | 1 << any_step))


def check_ids(definition_id: Json, outline: Outline, findings: Findings) -> None:
    """Report ids that are used twice, and ids with another meaning in expressions or in the API's addresses."""
    if isinstance(definition_id, str) and definition_id in RESERVED_IDS:
        message = f"'{definition_id}' is a page of the API's definitions, so it cannot be a definition's id"
        findings.error("reserved-word", ("id",), message, f"{definition_id}_definition")
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
            place = path_text(findings.author_path(("steps", first)))
            where = place + (f" on line {line}" if line is not None else "")
            findings.error("duplicate-id", path, f"the id '{quote(step.id)}' is already used by {where}")


def check_dependencies(outline: Outline, findings: Findings) -> Ancestors:
    """Report wrong dependencies and cycles; return the ancestors of each step.

    A misspelt dependency counts as the step that was probably meant, so that references to that step stay valid.
    """
    any_step = len(outline.steps)
    parents: list[list[int]] = []
    guessed: list[list[int]] = []
    edges: dict[tuple[int, int], Path] = {}
    for step in outline.steps:
        known = _known_parents(step, outline, findings)
        edges |= {(parent, step.number): path for path, parent in reversed(known)}
        parents.append(list(dict.fromkeys(parent for _, parent in known)))
        unknown = [] if step.is_clear else [any_step]
        misspelt = [edge.step for edge in step.depends_on if edge.step not in outline.index]
        meant = [findings.suggestions.closest(name, outline.ids) for name in misspelt]
        unknown += [any_step if name is None else outline.index[name] for name in meant]
        guessed.append(parents[-1] + unknown)
    _check_cycles(outline, parents, edges, findings)
    _check_rules(outline, parents, findings)
    return Ancestors(tuple(ancestors([*guessed, []])))


def _known_parents(step: StepOutline, outline: Outline, findings: Findings) -> list[tuple[Path, int]]:
    """Return the known parents, each with the entries that name it; report all other entries."""
    known: list[tuple[Path, int]] = []
    seen: dict[str, set[str | None]] = {}
    for edge in step.depends_on:
        branches = seen.setdefault(edge.step, set())
        if edge.branch in branches:
            message = f"{step.name} depends on '{quote(edge.text)}' twice"
            findings.error("duplicate-dependency", edge.path, message)
        elif branches and (edge.branch is None or None in branches):
            message = (
                f"{step.name} depends on '{quote(edge.step)}' after any branch and after one branch: keep one of them"
            )
            findings.error("duplicate-dependency", edge.path, message)
        elif outline.index.get(edge.step) == step.number:
            findings.error("self-dependency", edge.path, f"{step.name} depends on itself")
        elif _check_edge(step, edge, outline, findings):
            known.append((edge.path, outline.index[edge.step]))
        branches.add(edge.branch)
    return known


def _check_edge(step: StepOutline, edge: Edge, outline: Outline, findings: Findings) -> bool:
    """Report an edge to an unknown step or branch; return whether the step exists."""
    parent = outline.step(edge.step)
    if parent is None:
        near = findings.suggestions.closest(edge.step, outline.ids)
        meant = outline.branches.get(edge.text) or (near and near + edge.text[len(edge.step) :])
        message = f"{step.name} depends on '{quote(edge.text)}', which is not a step"
        findings.error("unknown-step", edge.path, message, meant)
        return False
    if edge.text == edge.step or parent.branches is None or edge.branch in parent.branches:
        return True
    if not parent.branches:
        message = f"{step.name} depends on a branch of '{quote(edge.step)}', which has none"
        findings.error("unknown-branch", edge.path, message, edge.step)
        return True
    message = f"{step.name} depends on '{quote(edge.text)}', but '{quote(edge.step)}' has no such branch"
    meant = findings.suggestions.closest(edge.branch or "", parent.branches)
    if meant is None:
        message += known_names(f"{edge.step}.{branch}" for branch in parent.branches)
    findings.error("unknown-branch", edge.path, message, meant and f"{edge.step}.{meant}")
    return True


def _check_cycles(
    outline: Outline, parents: list[list[int]], edges: dict[tuple[int, int], Path], findings: Findings
) -> None:
    for cycle in cycles(parents, MAX_CYCLES):
        names = [str(outline.steps[number].id) for number in (*cycle, cycle[0])]
        if len(names) > LONGEST_CYCLE:
            names = [*names[: LONGEST_CYCLE - 2], f"… {len(names) - LONGEST_CYCLE + 1} more …", names[-1]]
        message = f"these steps wait for each other: {' → '.join(names)}"
        findings.error("cycle", edges[cycle[-1], cycle[0]], message)


def _check_rules(outline: Outline, parents: list[list[int]], findings: Findings) -> None:
    """Report steps that could never run, whatever the results of their parents."""
    for step in outline.steps:
        rule = step.fields.get("trigger_rule", TriggerRule.NONE_FAILED)
        if isinstance(rule, str) and rule in NEEDS_PARENTS and not step.fields.get("depends_on"):
            message = f"{step.name} would never run: '{rule}' needs parents, and it has none"
            findings.error("rule-needs-parents", (*step.path, "trigger_rule"), message)
        above = [outline.steps[parent] for parent in parents[step.number]]
        only_aborts = len(above) == len(step.depends_on) > 0 and all(one.kind is StepKind.ABORT for one in above)
        if only_aborts and isinstance(rule, str) and rule in NEEDS_COMPLETED:
            message = (
                f"{step.name} would never run: '{above[0].id}' ends the run or is skipped; let it also depend on a "
                "step before the abort"
            )
            findings.error("never-runs", (*step.path, "depends_on"), message)
