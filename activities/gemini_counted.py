"""Asks Gemini once and keeps what that cost: of an answer that is lost a guess on the dear side."""

import time
from collections.abc import Callable
from dataclasses import replace

from activities.gemini import Answer, Question, ask, is_lost
from activities.model_costs import keep_use
from activities.tools import Tools
from invoices.prices import Tokens
from storage.model_usage import Use

CHARACTERS_A_TOKEN = 4
"""About how much text the API counts as one token."""
MOST_OUTPUT_TOKENS = 65_536
"""The longest answer of a model that was given no limit."""


async def ask_and_count(tools: Tools, question: Question, lost: Use, outcome_of: Callable[[Answer], str]) -> Answer:
    """Return the model's answer; what it cost is kept whatever it is worth. Raises: as `activities.gemini.ask`.

    `lost` is kept of a call whose answer is lost, with `most_tokens`: else an outage would be free, and without end.
    """
    began = time.monotonic()
    try:
        answer = await ask(tools.outside.gemini, question)
    except BaseException as error:  # cancelled, too
        if is_lost(error):
            await keep_use(tools, lost)
        raise
    tools.metrics.models.record_answer(question.model, time.monotonic() - began)
    await keep_use(tools, replace(lost, model=answer.model, outcome=outcome_of(answer), tokens=answer.tokens))
    return answer


def most_tokens(question: Question, *, document_tokens: int = 0) -> Tokens:
    """Return what the call may have cost at most, by a guess at the prompt."""
    prompt = (len(question.text) + len(question.instructions or "")) // CHARACTERS_A_TOKEN
    return Tokens(prompt + document_tokens, question.max_output_tokens or MOST_OUTPUT_TOKENS)
