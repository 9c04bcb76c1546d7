"""`docrail server fake-gemini`: a Gemini on this machine, to try the model's path without a key or money."""

import asyncio
from typing import Annotated

import typer

from docrail.cli.stop import run_until_stopped
from docrail.cli.terminal import AsJson, complain, print_json, say
from docrail.embedded.claims import claim_port
from docrail.embedded.fake_gemini.scenarios import MEANINGS, Chooser, ScenarioError, parse_mix, parse_script
from docrail.embedded.fake_gemini.server import fake_gemini as serve_fake

SCENARIOS = "\n".join(f"  {name:13}{meaning}" for name, meaning in MEANINGS.items())
HELP = f"""\
Play the Gemini API on this machine.

It answers as its options say. No key, no network, no money.

\b
To let Docrail use it, set for `docrail up` or `docrail worker start`:
  DOCRAIL_GEMINI_BASE_URL=http://127.0.0.1:9200
  DOCRAIL_GEMINI_API_KEY=any

\b
Scenarios:
{SCENARIOS}

\b
A script plays scenarios in turn and stays with the last: 429:2*20,503,ok is a storm of twenty 429s that ask for
2 seconds, one 503, and then it works. A mix draws: --mix 429=0.2,slow:3=0.1 --seed 7 refuses a fifth of all
requests, answers a tenth after 3 seconds, and the others well; the same seed draws the same.

Each request prints a line: its number, the model, its size, and the answer.

Exit codes: 0 stopped by Ctrl-C, 1 the port is taken, 2 wrong usage.

Example: docrail server fake-gemini --scenario "429:1*3,ok"
"""


def fake_gemini(
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port; 0 takes a free one.", metavar="N")] = 9200,
    scenario: Annotated[str, typer.Option(help="A scenario, or a script of several.", metavar="SCRIPT")] = "ok",
    mix: Annotated[str | None, typer.Option(help="Scenarios drawn by chance instead.", metavar="MIX")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the mix.", metavar="N")] = 1,
    says: Annotated[
        str, typer.Option(help="The answer to a question without a document.", metavar="TEXT")
    ] = "The fake Gemini has read it.",
    as_json: AsJson = False,
) -> None:
    """Play the Gemini API; the help that is shown is HELP."""
    try:
        chooser = parse_script(scenario) if mix is None else parse_mix(mix, seed)
    except ScenarioError as error:
        raise typer.BadParameter(str(error), param_hint="--scenario" if mix is None else "--mix") from None
    if port:
        claim_port(port, "--port")
    run_until_stopped(lambda: _serve(chooser, port, says, as_json=as_json))


fake_gemini.__doc__ = HELP


async def _serve(chooser: Chooser, port: int, says: str, *, as_json: bool) -> None:
    async with serve_fake(chooser, port=port, says=says, report=complain if as_json else say) as fake:
        settings = {"DOCRAIL_GEMINI_BASE_URL": fake.url, "DOCRAIL_GEMINI_API_KEY": "any"}
        if as_json:
            print_json(settings)
        else:
            say("\n".join(f"{name}={value}" for name, value in settings.items()))
        await asyncio.Event().wait()
