"""Report pages in a script of which the readers know no word, such as Japanese, Arabic or Greek."""

from docrail.invoices.model import InvoiceProblem

LATIN_ENDS = "\u036f"
"""The Latin letters and their accents come before this character, but for the two ranges below."""
MORE_LATIN = (("\u1e00", "\u1eff"), ("\uff21", "\uff5a"))
MOST = 0.5
"""Share of letters of other scripts from which a document is in another script; bilingual ones stay below it."""


def unsupported_script(text: str) -> tuple[InvoiceProblem, ...]:
    """Return a problem if most letters of a document belong to a script that no vocabulary covers."""
    foreign = {character for character in set(text) if character.isalpha() and _is_foreign(character)}
    if not foreign or sum(character in foreign for character in text) <= MOST * sum(map(str.isalpha, text)):
        return ()
    message = "Most of the text is in a script that Docrail does not read. Check every value against the page."
    return (InvoiceProblem.error("language_unsupported", message),)


def _is_foreign(letter: str) -> bool:
    return letter > LATIN_ENDS and not any(first <= letter <= last for first, last in MORE_LATIN)
