"""Give expressions access to a run: step outputs by id, `steps.<id>`, the inputs and the run's context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from docrail.dag.engine.plan import Plan
from docrail.dag.engine.state import RunState
from docrail.dag.engine.value_transfer import filled
from docrail.dag.language.expressions.expression import Scope
from docrail.dag.language.statuses import StepStatus
from docrail.dag.values.json_values import Json
from docrail.dag.values.problems import Path
from docrail.dag.values.stored import MAX_INLINE_BYTES


@dataclass(slots=True)
class Meter:
    """Work of the expressions evaluated so far, in units of dag/values/cost.py."""

    used: int = 0


@dataclass(slots=True)  # not frozen: one is made for each step, and freezing doubles the time that takes
class RunScope(Scope):
    """The scope of one run. Reads without copying, except where stored values were loaded. Work counts on `meter`."""

    plan: Plan
    run: RunState
    meter: Meter = field(default_factory=Meter)
    item: Mapping[str, Json] = field(default_factory=dict)
    """`item` and `index`, if the step runs over a list."""
    by_reference: bool = False
    """Whether an expression that is only a path gives a stored value's placeholder: handlers receive the value
    itself."""

    keeps_large: bool = False
    """Whether an expression that is only a path keeps a large stored value's placeholder, even if the value is
    loaded."""

    def name(self, name: str) -> Json:
        """Return `inputs`, a name of the run's context, or a completed step's output. Raises KeyError."""
        if name == "inputs":
            return self.run.inputs
        if name in self.run.context:
            return self.run.context[name]
        if name in self.item:
            return self.item[name]
        state = self.run.steps[self.plan.index[name]]
        if state.status is not StepStatus.COMPLETED:
            raise KeyError(name)
        return state.output

    def step(self, step_id: str) -> Mapping[str, Json]:
        """Return what `steps.<id>` shows. Raises KeyError."""
        state = self.run.steps[self.plan.index[step_id]]
        return {
            "status": str(state.status),
            "error": None if state.error is None else state.error.message,
            "attempts": state.attempts,
            "reason": None if state.reason is None else str(state.reason),
            "decided_by": state.decided_by,
            "output": state.output,
            "branch": state.branch,
            "answered_by": None if state.answer is None else state.answer.by,
        }

    def charge(self, steps: int) -> None:
        """Count an evaluation's work."""
        self.meter.used += steps

    def loaded(self, values: dict[str, Json], paths: Sequence[Path], *, alone: bool) -> dict[str, Json]:
        """Return `values` with the loaded parts that `paths` read filled in."""
        if not self.run.transfers.loaded or (alone and self.by_reference):
            return values
        return filled(
            self.run.transfers.loaded, values, paths, MAX_INLINE_BYTES if alone and self.keeps_large else None
        )
