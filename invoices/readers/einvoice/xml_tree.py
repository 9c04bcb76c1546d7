"""Parse untrusted XML without entities, DTD or network access, and find elements by local name."""

import codecs
import re
from collections.abc import Iterator
from typing import TypeAlias

from lxml import etree

from docrail.invoices.problems import Unreadable, UnreadableDocument

Element: TypeAlias = etree._Element  # noqa: SLF001  # lxml has no public name for the class

MAX_ELEMENTS = 1_000_000
"""Fifty for each of the most lines that are read (read_xml.py)."""
MAX_TEXT = 2000
"""Longest value in characters. The longest ones the readers use are descriptions of lines."""
ENCODING = re.compile(
    rb"""(?P<before>(?:\xef\xbb\xbf)?\s*<\?xml\s[^>]{0,100}?)\s*encoding\s*=\s*["'](?P<name>[^"'>]{0,40})["']"""
)


def parse_xml(data: bytes) -> Element:
    """Return the root element.

    Raises: UnreadableDocument if it is not XML, has a DTD, which may be an attack, or more than MAX_ELEMENTS.
    """
    _refuse_countless(data)
    try:
        root = _parse(data)
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


def _refuse_countless(data: bytes) -> None:
    """Count start tags before there is a tree, in which an element takes fifty times its bytes.

    Exact for UTF-8 and its like; UTF-16 counts end tags too.
    """
    count = data.count(b"<") - data.count(b"</")
    if count > MAX_ELEMENTS:
        raise UnreadableDocument(
            Unreadable.TOO_LARGE,
            f"The XML has {count} elements; at most {MAX_ELEMENTS} are read. Ask the sender to split the e-invoice.",
        )


def _parse(data: bytes) -> Element:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    return etree.fromstring(_with_known_encoding(data), parser)


def _with_known_encoding(data: bytes) -> bytes:
    """Remove the declaration of an unknown encoding ("UTF-8-W/O-BOM"); XML without one is UTF-8."""
    declared = ENCODING.match(data)
    try:
        codecs.lookup(declared["name"].decode("ascii", "replace") if declared else "utf-8")
    except (LookupError, ValueError):  # ValueError: the name contains a zero byte
        return ENCODING.sub(rb"\g<before>", data, count=1)
    return data


def _unsafe() -> UnreadableDocument:
    return UnreadableDocument(
        Unreadable.UNSAFE,
        "The XML declares its own entities (a DOCTYPE), which no e-invoice needs and attacks use. "
        "Ask the sender for a plain UBL or CII invoice.",
    )


def local_name(element: Element) -> str:
    """Return the element's name without its namespace; "" if it is not an element."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


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
    """Return the first element at `path`; None if there is none."""
    return next(find_all(parent, path), None)


def text(parent: Element | None, path: str) -> str | None:
    """Return the first non-empty text at `path`; None if there is none."""
    return next((words for element in find_all(parent, path) if (words := words_of(element))), None)


def words_of(element: Element) -> str:
    """Return the element's text with whitespace collapsed, cut to MAX_TEXT characters."""
    return " ".join("".join(element.itertext())[: 2 * MAX_TEXT].split())[:MAX_TEXT]
