"""Warn about texts that look like secrets and are never resolved: names made by templates, inputs of nested runs."""

import re

from docrail.dag.language.secret_names import SECRET_REFERENCE
from docrail.dag.validation.document.outline import Outline, Part, parts_of, texts_in
from docrail.dag.values.findings import Findings

_MADE_NAME = re.compile(r"secret://[A-Za-z0-9_-]*\{\{")


def check_secrets(outline: Outline, findings: Findings) -> None:
    """Warn about texts that would be refused, or sent unresolved, when the step runs."""
    for step in outline.steps:
        for part in parts_of(step.fields):
            for path, text in texts_in((*step.path, *part.path), part.value):
                if problem := _problem(part, text):
                    findings.warning("secret-not-resolved", path, f"{step.name}: {problem}")


def _problem(part: Part, text: str) -> str | None:
    if part.is_expression or "secret://" not in text:
        return None
    if part.path[-1] == "config" and _MADE_NAME.search(text):
        return "a template cannot build the name of a secret: write the whole name, as in secret://erp"
    if part.path == ("workflow", "inputs") and SECRET_REFERENCE.search(text):
        return "a nested run gets this as plain text: name the secret in the config of the step that uses it"
    return None
