"""The scheduler benchmark plays its runs to their end."""

import pytest

from bench.scheduler import SHAPES, Shape, plan_for, play


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_benchmark_run_of_5000_steps_completes(shape: Shape) -> None:
    assert play(plan_for(shape, 5_000, templates=False)) == 5_001
