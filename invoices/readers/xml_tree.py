"""Parses XML that a stranger wrote: no entities, no DTD, no network; and finds elements by local name."""

from collections.abc import Iterator
from typing import TypeAlias

from lxml import etree

from invoices.problems import Unreadable, UnreadableDocument

Element: TypeAlias = etree._Element  # noqa: SLF001  # lxml publishes the class under no other name


def parse_xml(data: bytes) -> Element:
    """Return the root element. Raises: UnreadableDocument if it is no XML, or has a DTD, which could be a bomb."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        if "entity amplification" in error.msg:
            raise _unsafe() from error
        raise UnreadableDocument(
            Unreadable.DAMAGED,
            f"The XML is damaged ({error.msg}). Ask the sender to export the e-invoice again.",
        ) from error
    if root.getroottree().docinfo.doctype:
        raise _unsafe()
    return root


def _unsafe() -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.UNSAFE,
        "The XML declares its own entities (a DOCTYPE), which no e-invoice needs and attacks use. "
        "Ask the sender for a plain UBL or CII invoice.",
    )


def local_name(element: Element) -> str:
    """Return the element's name without its namespace; "" for comments and processing instructions."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def find_all(parent: Element | None, path: str) -> Iterator[Element]:
    """Yield the elements at `path`: local names separated by `/`, alternatives of one step by `|`."""
    if parent is None:
        return
    step, _, rest = path.partition("/")
    names = step.split("|")
    for child in parent:
        if local_name(child) in names:
            if rest:
                yield from find_all(child, rest)
            else:
                yield child


def find(parent: Element | None, path: str) -> Element | None:
    """Return the first element at `path`, None if there is none."""
    return next(find_all(parent, path), None)


def text(parent: Element | None, path: str) -> str | None:
    """Return the first non-empty text at `path`, with runs of white space made one space."""
    found = (" ".join("".join(element.itertext()).split()) for element in find_all(parent, path))
    return next((words for words in found if words), None)
