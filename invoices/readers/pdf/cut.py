"""Cut pages out of a PDF into a file of their own."""

import io

import pikepdf

from docrail.invoices.problems import Unreadable, UnreadableDocument

MOST_BYTES = 12_000_000
"""Size of the pages: a child's answer is limited."""


def cut_pdf(data: bytes, first: int, last: int) -> bytes:
    """Return the pages from `first` to `last`, counted from 1, as a PDF: the same bytes for the same file and pages.

    Attachments, bookmarks and scripts of the file stay behind. Run it only in a limited child process. Raises:
    UnreadableDocument.
    """
    try:
        with pikepdf.open(io.BytesIO(data)) as whole, pikepdf.new() as part:
            part.pages.extend(whole.pages[first - 1 : last])
            part.remove_unreferenced_resources()
            written = io.BytesIO()
            part.save(written, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    except pikepdf.PdfError as error:
        message = f"The pages {first} to {last} cannot be cut out of the file ({str(error)[:200]}). Upload them alone."
        raise UnreadableDocument(Unreadable.DAMAGED, message) from error
    if written.tell() > MOST_BYTES:
        raise UnreadableDocument(
            Unreadable.TOO_LARGE,
            f"The pages {first} to {last} take more than {MOST_BYTES // 1_000_000} MB. Upload them alone.",
        )
    return written.getvalue()
