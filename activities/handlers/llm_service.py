"""Handler `llm_service`: ask a Gemini model for text."""

from pydantic import BaseModel, Field

from docrail.handlers import Handler, StepCall
from docrail.services.tools import Tools
from docrail.services.usage.models import Use
from docrail.services.usage.service import check_budget


class Config(BaseModel, extra="forbid", frozen=True):
    """The prompt and the model's options."""

    prompt: str = Field(min_length=1, max_length=200_000, description="the question, with its context")
    system: str | None = Field(default=None, max_length=50_000, description="system instructions")
    model: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$",
        description="the model's name; default: DOCRAIL_GEMINI_MODEL",
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="0 is the most deterministic; default: the model's"
    )
    max_output_tokens: int | None = Field(
        default=None, ge=1, le=65_536, description="limit of the answer, in tokens; default: the model's"
    )
    timeout_seconds: float = Field(
        default=120.0, gt=0, le=600, allow_inf_nan=False, description="timeout of the request"
    )


class Output(BaseModel):
    """The model's text, and the tokens used."""

    result: str = Field(description="the text")
    cut: bool = Field(description="whether the text was cut off at `max_output_tokens`")
    model: str = Field(description="the model that answered")
    input_tokens: int = Field(description="tokens of the prompt")
    output_tokens: int = Field(description="tokens of the text")
    thinking_tokens: int = Field(description="tokens of the model's reasoning, which are billed too")


async def run(call: StepCall[Config], tools: Tools) -> Output:
    """Return the model's text. Another attempt asks again, and pays again.

    Raises: RequestRefusedError, AnswerUnusableError if the model refuses to answer (never retried);
    TryAgainLaterError, UnreachableError, OutgoingTimeoutError, BudgetUsedError (retried); NotConfiguredError without a
    key (left to another worker).
    """
    # The SDK: the API also loads this file, and does not need it.
    from docrail.adapters.gemini.ask import Question, text_of, text_outcome  # noqa: PLC0415
    from docrail.services.extraction.gemini import ask_and_count, most_tokens  # noqa: PLC0415

    config, access = call.config, tools.outside.gemini
    await check_budget(tools, call.tenant_id, call.key_id)
    question = Question(
        text=config.prompt,
        model=config.model or access.default_model,
        instructions=config.system,
        temperature=config.temperature,
        max_output_tokens=config.max_output_tokens,
        timeout_seconds=config.timeout_seconds,
    )
    step = (call.tenant_id, call.run_id, call.step_id, call.attempt)
    lost = Use(*step, question.model, "lost", most_tokens(question), key_id=call.key_id)
    answer = await ask_and_count(tools, question, lost, text_outcome)
    return Output(
        result=text_of(answer),
        cut=answer.cut,
        model=answer.model,
        input_tokens=answer.tokens.input,
        output_tokens=answer.tokens.output,
        thinking_tokens=answer.tokens.thinking,
    )


HANDLER = Handler("llm_service", Config, Output, run)
