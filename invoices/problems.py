"""Reasons why a document could not be read, worded for its sender."""

from enum import StrEnum


class Unreadable(StrEnum):
    """Why a document cannot become an invoice. Retrying does not help."""

    EMPTY = "empty"
    UNKNOWN_TYPE = "unknown_type"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    TOO_LARGE = "too_large"
    TOO_MANY_PAGES = "too_many_pages"
    NEEDS_OCR = "needs_ocr"
    NOT_AN_INVOICE = "not_an_invoice"
    UNSAFE = "unsafe"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"


class UnreadableDocument(ValueError):  # noqa: N818  # the name users see in results
    """The document cannot be read. `message` says what was found, what was expected and what to do."""

    def __init__(self, code: Unreadable | str, message: str) -> None:
        super().__init__(message)
        self.code = Unreadable(code)
        self.message = message

    def __reduce__(self) -> tuple[type["UnreadableDocument"], tuple[str, str]]:
        return type(self), (self.code.value, self.message)
