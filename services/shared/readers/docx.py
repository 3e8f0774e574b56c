"""Word documents, straight from their XML: everything that a reader of the printed page would see, in its order.

Headers come first and footers last, each text once; then the body with its tables and text boxes; then notes and
comments. What tracked changes deleted or moved away is dropped, what they inserted is kept.
"""

from collections.abc import Iterable, Iterator

from lxml import etree

from services.shared.readers.packages import Package
from services.shared.readers.result import Limits, Page, Parsed

CELL_SEPARATOR = " | "
_PARAGRAPH_BREAK = "\n\n"
_LITERALS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_SKIPPED = frozenset(
    {"del", "moveFrom", "delText", "instrText", "delInstrText", "pPr", "rPr", "tblPr", "tcPr", "sectPr", "rt"}
)
_NOTES = (("footnotes", "footnote"), ("endnotes", "endnote"), ("comments", "comment"))
_SEPARATORS = frozenset({"separator", "continuationSeparator", "continuationNotice"})


def read(data: bytes, limits: Limits) -> Parsed:
    """Read a docx.

    Raises:
        ReadError: FILE_ENCRYPTED, FILE_CORRUPT or DECOMPRESSION_BOMB.
    """
    with Package(data, limits) as package:
        main = package.main_part()
        parts: dict[str, list[str]] = {}
        for kind, part in package.related(main):
            parts.setdefault(kind, []).append(part)
        blocks = [
            *_margins(package, parts.get("header", [])),
            *_blocks(package.elements(main, depth=2)),
            *_notes(package, parts),
            *_margins(package, parts.get("footer", [])),
        ]
    return Parsed((Page(0, _PARAGRAPH_BREAK.join(blocks)),))


def _margins(package: Package, parts: Iterable[str]) -> list[str]:
    """Headers or footers, each text once: first, even and odd pages mostly repeat one another."""
    texts = ("\n".join(_blocks(package.elements(part, depth=1))) for part in parts)
    return list(dict.fromkeys(text for text in texts if text))


def _notes(package: Package, parts: dict[str, list[str]]) -> Iterator[str]:
    for kind, name in _NOTES:
        for part in parts.get(kind, []):
            for element in package.elements(part, depth=1):
                text = " ".join(_blocks(element))
                if _name(element) == name and text and _attribute(element, "type") not in _SEPARATORS:
                    yield f"[{name} {_attribute(element, 'id')}] {text}"


def _blocks(elements: Iterable[etree._Element]) -> Iterator[str]:
    """The paragraphs and tables among `elements`, and within what merely wraps them, that hold text."""
    for element in elements:
        name = _name(element)
        if name == "p":
            yield from _paragraph(element)
        elif name == "tbl":
            if table := "\n".join(_rows(element)):
                yield table
        elif name not in _SKIPPED and name != "Fallback":
            yield from _blocks(element)


def _paragraph(element: etree._Element) -> Iterator[str]:
    """The text of a paragraph, then that of the text boxes anchored in it."""
    boxes: list[etree._Element] = []
    text = "".join(_inline(element, boxes)).strip()
    if text:
        yield text
    for box in boxes:
        yield from _blocks(box)


def _inline(element: etree._Element, boxes: list[etree._Element]) -> Iterator[str]:
    """The pieces of text inside a paragraph; text boxes are put into `boxes` instead.

    Of alternatives only the first is taken: the others say the same for older programs.
    """
    for child in element:
        name = _name(child)
        if name == "t":
            yield child.text or ""
        elif name in _LITERALS:
            yield _LITERALS[name]
        elif name == "txbxContent":
            boxes.append(child)
        elif name in {"footnoteReference", "endnoteReference"}:
            yield f"[{name.removesuffix('Reference')} {_attribute(child, 'id')}]"
        elif name == "AlternateContent":
            yield from _inline(child[0], boxes) if len(child) else ()
        elif name not in _SKIPPED:
            yield from _inline(child, boxes)


def _rows(table: etree._Element) -> Iterator[str]:
    """One line a row, cells apart. A table inside a cell, and a cell's paragraphs, are run together."""
    for row in _inside(table, "tr"):
        if any(_name(mark) == "del" for properties in _inside(row, "trPr") for mark in properties):
            continue
        cells = [" ".join(" ".join(_blocks(cell)).split()) for cell in _inside(row, "tc")]
        if any(cells):
            yield CELL_SEPARATOR.join(cells)


def _inside(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """The children so named, also inside what merely wraps them (content controls, custom XML, insertions)."""
    for child in element:
        found = _name(child)
        if found == name:
            yield child
        elif found in {"sdt", "sdtContent", "customXml", "ins", "moveTo"}:
            yield from _inside(child, name)


def _name(element: etree._Element) -> str:
    """The local name: transitional, strict and drawing namespaces share their names for what is read here."""
    return str(element.tag).rpartition("}")[2]


def _attribute(element: etree._Element, name: str) -> str:
    return next((str(value) for key, value in element.items() if str(key).rpartition("}")[2] == name), "")
