"""JSON that is given by hand on the command line."""

import json

import typer

from dag.values import Json


def parse_json(option: str, text: str) -> Json:
    """Return what `text` says as JSON. Raises typer.BadParameter, naming the option."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        example = """expected JSON such as '{"url": "https://b.example"}'"""
        raise typer.BadParameter(f"{example}, found {text[:60]!r}", param_hint=option) from None


def _refuse(constant: str) -> Json:
    raise ValueError(constant)  # NaN and Infinity, which Python reads, are not JSON
