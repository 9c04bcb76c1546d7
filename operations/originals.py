"""What people look at beside a document's fields: the bytes that were sent, and pictures of its pages."""

from activities.reading import ReaderDiedError
from invoices.problems import UnreadableDocument
from operations.app import App
from operations.documents import show_document
from operations.errors import NotFound, Unavailable, WrongState
from operations.principal import Principal
from storage.blobs import BlobDamaged, BlobMissing
from storage.documents import Document
from storage.page_images import image_tag, keep_image, load_image


async def load_original(app: App, principal: Principal, document_id: str) -> tuple[Document, bytes]:
    """Return the tenant's document and its bytes as they were sent. Raises: NotFound, Unavailable, OSError."""
    document = await show_document(app, principal, document_id)
    try:
        return document, await app.blobs.get(document.sha256)
    except BlobMissing:
        raise NotFound("original of the document", document_id) from None
    except BlobDamaged as error:
        raise Unavailable("the store of originals", str(error)) from error


async def page_tag(app: App, principal: Principal, document_id: str, number: int) -> str:
    """Return what tells the picture of a page from any other one, whether there is one or not. Raises: NotFound."""
    return image_tag((await show_document(app, principal, document_id)).sha256, number)


async def draw_page(app: App, principal: Principal, document_id: str, number: int) -> bytes:
    """Return page `number`, from 1, of the tenant's document as a PNG. It is drawn once, in a limited child process.

    Raises: NotFound (also where nothing is printed, as on an e-invoice), WrongState (the document cannot be opened),
    Unavailable, OSError.
    """
    document = await show_document(app, principal, document_id)
    image = await load_image(app.blobs.folder, document.sha256, number)
    if image is None:
        image = await _drawn(app, document, number)
        await keep_image(app.blobs.folder, document.sha256, number, image)
    return image


async def _drawn(app: App, document: Document, number: int) -> bytes:
    try:
        async with app.blobs.at_hand(document.sha256) as path:
            image = await app.reader.draw(path, number)
    except (BlobMissing, FileNotFoundError):
        raise NotFound("original of the document", document.document_id) from None
    except BlobDamaged as error:
        raise Unavailable("the store of originals", str(error)) from error
    except ReaderDiedError as error:
        raise Unavailable("the reading of documents", str(error)) from error
    except UnreadableDocument as error:
        raise WrongState("draw a page", f"unreadable: {error.message}", "document") from error
    if image is None:
        raise NotFound("page", f"{number} of {document.document_id}")
    return image
