"""Enumerations used by a reading: document types, severities, sources and evidence."""

from enum import StrEnum


class DocumentType(StrEnum):
    """What the document is. The first three are booked; the others are not read as invoices."""

    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"
    RECEIPT = "receipt"
    """An invoice that was paid when it was issued, at a till for example."""
    DUNNING_LETTER = "dunning_letter"
    STATEMENT = "statement"
    PURCHASE_ORDER = "purchase_order"
    QUOTE = "quote"
    DELIVERY_NOTE = "delivery_note"
    REMITTANCE_ADVICE = "remittance_advice"
    CONTRACT = "contract"

    @property
    def is_invoice(self) -> bool:
        """Return whether it is booked: an invoice, a credit note or a receipt."""
        return self in (DocumentType.INVOICE, DocumentType.CREDIT_NOTE, DocumentType.RECEIPT)


class Severity(StrEnum):
    """An error sends the document to a person; a warning lowers the confidence."""

    ERROR = "error"
    WARNING = "warning"


class Source(StrEnum):
    """Where a value came from. It sets the prior confidence, before any evidence."""

    NOWHERE = ""
    XML = "xml"
    QR = "qr"
    GEMINI = "gemini"
    TEXT_LABEL = "text_label"
    TEXT_PATTERN = "text_pattern"
    OCR_LABEL = "ocr_label"
    OCR_PATTERN = "ocr_pattern"
    VENDOR = "vendor"
    """Values corrected or approved earlier on documents of this vendor."""
    HUMAN = "human"


class Evidence(StrEnum):
    """A fact for or against a field's value. The weights are in confidence.py."""

    ON_PAGE = "on_page"
    NOT_ON_PAGE = "not_on_page"
    PAGE_CONTRADICTS = "page_contradicts"
    CHECKSUM_VALID = "checksum_valid"
    CHECKSUM_INVALID = "checksum_invalid"
    TOTALS_AGREE = "totals_agree"
    TOTALS_DISAGREE = "totals_disagree"
    LINES_AGREE = "lines_agree"
    LINES_DISAGREE = "lines_disagree"
    IMPLAUSIBLE_DATE = "implausible_date"
    AMBIGUOUS_DATE = "ambiguous_date"
    FROM_PAYMENT_TERM = "from_payment_term"
    """The date of issue and a printed number of days give it."""
    WITH_TIME = "with_time"
    """A time of day is printed next to the date, as tills print the moment of a sale."""
    NAMED_AGAIN = "named_again"
    SEVERAL_CANDIDATES = "several_candidates"
    VENDOR_UNSURE = "vendor_unsure"
    """Another company may be the vendor, and the page has another VAT id, which may be the vendor's."""
    SEVERAL_SUMS = "several_sums"
    """The page's amounts add up in no way or in several, each with another value of this field."""
    SECOND_SOURCE_AGREES = "second_source_agrees"
    SECOND_SOURCE_DIFFERS = "second_source_differs"
    AS_VENDOR_HISTORY = "as_vendor_history"
    IBAN_CHANGED = "iban_changed"
    POOR_IMAGE = "poor_image"
    """It was read in a picture whose quality is too poor to rely on."""
    NOT_AN_INVOICE = "not_an_invoice"
