"""Write the example documents that are not plain text from `sources/`: a PDF and a Word file.

Run `python examples/build.py` after changing a text. The same texts give the same bytes, so that a change of
the files in version control always means a change of their content. Needs PyMuPDF.
"""

import sys
import zipfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pymupdf

pdf_library: Any = pymupdf  # Has annotations in part only.
HERE = Path(__file__).parent
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
    '.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONSHIPS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="word/document.xml" Type="http://schemas.openxmlformats.org'
    '/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
NO_RELATIONSHIPS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'
# The earliest moment that a zip archive can name: its members carry no time of their own.
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_pdf(source: str, target: Path) -> None:
    """One A4 page for each section; `---` parts sections, and their first line is the heading."""
    document = pdf_library.open()
    for number, section in enumerate(source.split("\n---\n"), start=1):
        title, _, body = section.strip().partition("\n")
        page = document.new_page(width=595, height=842)
        fill(page, (72, 60, 523, 100), title, fontname="hebo", fontsize=18)
        fill(page, (72, 112, 523, 752), unwrapped(body), fontname="helv", fontsize=11, lineheight=1.35)
        fill(
            page, (72, 782, 523, 806), f"Salinas del Faro Public Library: handbook, page {number}", fontsize=8
        )
    document.set_metadata({"title": "Library handbook", "author": "Acervo"})
    document.save(target, deflate=True, garbage=3, no_new_id=True)


def fill(page: Any, box: tuple[int, int, int, int], text: str, **style: Any) -> None:
    """Set `text` into `box`, in points. Raises ValueError where it does not fit."""
    if page.insert_textbox(box, text, **style) < 0:
        raise ValueError(f"the text does not fit its box: {text[:40]}")


def unwrapped(body: str) -> str:
    """Paragraphs as one line each, since the box breaks them anew. Items, from `- ` on, stay apart."""
    lines = body.strip().replace("\n- ", "\0- ").replace("\n\n", "\0\0").replace("\n", " ")
    return lines.replace("\0", "\n")


def write_docx(source: str, target: Path) -> None:
    """A minimal Word document: `# ` starts a heading, `| ` a row of a table, all else a paragraph."""
    body = "".join(blocks(source.splitlines()))
    parts = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": RELATIONSHIPS,
        "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        "word/_rels/document.xml.rels": NO_RELATIONSHIPS,
    }
    with zipfile.ZipFile(target, "w") as archive:
        for name, xml in parts.items():
            archive.writestr(zipfile.ZipInfo(name, ZIP_EPOCH), DECLARATION + xml, zipfile.ZIP_DEFLATED)


def blocks(lines: Iterable[str]) -> Iterator[str]:
    for is_table, group in groupby(lines, key=lambda line: line.startswith("| ")):
        if is_table:
            yield table(group)
        else:
            yield from map(paragraph, group)


def paragraph(line: str) -> str:
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' if line.startswith("# ") else ""
    return f"<w:p>{style}<w:r><w:t>{escape(line.removeprefix('# '))}</w:t></w:r></w:p>"


def table(lines: Iterable[str]) -> str:
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    cells = ["".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows]
    grid = "<w:gridCol/>" * len(rows[0])
    properties = '<w:tblPr><w:tblW w:w="0" w:type="auto"/></w:tblPr>'
    trs = "".join(f"<w:tr>{row}</w:tr>" for row in cells)
    return f"<w:tbl>{properties}<w:tblGrid>{grid}</w:tblGrid>{trs}</w:tbl>"


def main(folder: Path) -> None:
    sources = HERE / "sources"
    write_pdf((sources / "library-handbook.txt").read_text("utf-8"), folder / "library-handbook.pdf")
    write_docx((sources / "raeume-und-entgelte.txt").read_text("utf-8"), folder / "raeume-und-entgelte.docx")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "documents")
