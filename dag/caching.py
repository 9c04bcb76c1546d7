"""What tells equal work of cached steps: the digest under which an output is kept, and looked for.

Of one tenant, work is equal if it is the same handler's, if its config says the same in the definition, and if its
resolved key is the same. So a config that was changed never meets an old output, whatever the key leaves out; and steps
of several definitions that say the same share what they found.
"""

from dataclasses import replace

from dag.fate import resolve
from dag.plan import Step
from dag.scope import RunScope
from dag.values import Json, digest
from dag.work import ExpressionError


def cache_key_of(step: Step, scope: RunScope, config: Json, edited: Json = None) -> str | None:
    """Return the digest (64 hex digits) of the work that a step, or one item of it, is about to do.

    None for steps without `cache`. `config` is as the handler gets it; `edited`, what a person put in the place of the
    definition's. Raises: ExpressionError, if the key cannot be told.
    """
    definition = step.definition
    if definition.cache is None:
        return None
    says = definition.config if edited is None else edited
    try:
        key = config if step.cache_key is None else resolve(step.cache_key, replace(scope, by_reference=False))
        return digest([definition.handler, says, key])
    except ExpressionError as error:
        raise error.within("cache.key") from error
    except ValueError as error:  # a number that Python refuses to write, half a character
        raise ExpressionError(f"cache.key: cannot be written as JSON: {error}") from error
