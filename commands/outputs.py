"""`docrail output`: print what a run, or a step of it, gave, however large."""

from typing import Annotated
from urllib.parse import quote

import typer

from commands.asking import HERE, Api, ask_api, print_json


def output(
    run: Annotated[str, typer.Argument(help="A run's id.", metavar="RUN")],
    step: Annotated[str | None, typer.Argument(help="A step of it.", metavar="[STEP]", show_default=False)] = None,
    api: Api = HERE,
) -> None:
    """Print what a step gave, or a run's outputs, as JSON.

    All of it: a run's report only refers to what is large.

    What a step gave can be read as soon as it completed, and after the run's end; a run's outputs are there at its end.

    Exit codes: 0 printed, 1 there is none, the API refused or is away, 2 wrong usage, 130 stopped by Ctrl-C.

    Example: docrail output invoice.order-4711 extract
    """
    path = f"/v1/runs/{quote(run, safe='')}"
    if step is None:
        print_json(ask_api(api, "GET", f"{path}/outputs")["outputs"])
    else:
        print_json(ask_api(api, "GET", f"{path}/steps/{quote(step, safe='')}/output")["output"])
