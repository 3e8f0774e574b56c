"""Word documents: all that a reader of the page sees, in its order, and nothing that a hostile package wants."""

import io
import zipfile

import pytest

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.readers import Limits, ReadError, read
from tests.fixtures.files.build import docx, paragraph, part, relationships, zipped

LIMITS = Limits()


def text_of(body: str, parts: dict[str, tuple[str, str]] | None = None) -> str:
    return read("docx", docx(body, parts), LIMITS).text


def reason_of(data: bytes, limits: Limits = LIMITS) -> int:
    with pytest.raises(ReadError) as refusal:
        read("docx", data, limits)
    return refusal.value.reason


def cell(content: str) -> str:
    return f"<w:tc>{content}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr>{properties}{''.join(cell(paragraph(text)) for text in cells)}</w:tr>"


def test_paragraphs_and_tables_come_in_the_order_of_the_body() -> None:
    body = paragraph("before") + f"<w:tbl>{row('a', 'b')}{row('c', 'd')}</w:tbl>" + paragraph("after")
    assert text_of(body) == "before\n\na | b\nc | d\n\nafter"


def test_a_table_in_a_cell_is_part_of_the_cell() -> None:
    inner = f"<w:tbl>{row('x', 'y')}</w:tbl>"
    body = f"<w:tbl><w:tr>{cell(paragraph('outer') + inner)}{cell(paragraph('last'))}</w:tr></w:tbl>"
    assert text_of(body) == "outer x | y | last"


def test_headers_come_first_and_footers_last_each_once() -> None:
    header, footer = part("hdr", paragraph("Head")), part("ftr", paragraph("Foot"))
    parts = {"h1.xml": ("header", header), "h2.xml": ("header", header), "f1.xml": ("footer", footer)}
    assert text_of(paragraph("body"), parts) == "Head\n\nbody\n\nFoot"


def test_notes_and_comments_follow_the_body_and_separators_do_not() -> None:
    reference = '<w:p><w:r><w:t>claim</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    footnotes = part(
        "footnotes",
        f'<w:footnote w:type="separator" w:id="0">{paragraph("rule")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("proof")}</w:footnote>',
    )
    endnotes = part("endnotes", f'<w:endnote w:id="3">{paragraph("source")}</w:endnote>')
    comments = part("comments", f'<w:comment w:id="4">{paragraph("really?")}</w:comment>')
    parts = {
        "footnotes.xml": ("footnotes", footnotes),
        "endnotes.xml": ("endnotes", endnotes),
        "comments.xml": ("comments", comments),
    }
    expected = "claim[footnote 2]\n\n[footnote 2] proof\n\n[endnote 3] source\n\n[comment 4] really?"
    assert text_of(reference, parts) == expected


def test_a_text_box_follows_its_paragraph_and_is_read_once() -> None:
    box = f"<w:txbxContent>{paragraph('in the box')}</w:txbxContent>"
    choices = f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    run = f"<w:t>anchor</w:t><mc:AlternateContent>{choices}</mc:AlternateContent>"
    assert text_of(f"<w:p><w:r>{run}</w:r></w:p>") == "anchor\n\nin the box"


def test_deletions_are_dropped_and_insertions_kept() -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    body = (
        "<w:p>"
        f"<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins>{run.format('new')}</w:ins>"
        f"<w:moveFrom>{run.format(' gone')}</w:moveFrom><w:moveTo>{run.format(' here')}</w:moveTo>"
        "</w:p>"
        f"<w:tbl>{row('kept')}{row('dropped', properties='<w:trPr><w:del/></w:trPr>')}</w:tbl>"
    )
    assert text_of(body) == "new here\n\nkept"


def test_tabs_breaks_and_content_controls_are_read_and_field_codes_are_not() -> None:
    body = (
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/>"
        "<w:instrText>PAGE</w:instrText></w:r></w:p></w:sdtContent></w:sdt>"
    )
    assert text_of(body) == "a\tb\nc-"


def test_the_strict_namespace_is_read_alike() -> None:
    strict = '<document xmlns="http://purl.oclc.org/ooxml/wordprocessingml/main"><body><p><r><t>hi</t></r></p></body></document>'
    data = zipped({"_rels/.rels": relationships({"/word/d.xml": "officeDocument"}), "word/d.xml": strict})
    assert read("docx", data, LIMITS).text == "hi"


def test_a_document_type_is_refused_and_no_entity_is_fetched() -> None:
    evil = '<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]>'
    assert reason_of(docx(paragraph("&file;"), before=evil)) == pb.ERROR_REASON_FILE_CORRUPT


def test_entities_that_multiply_are_refused() -> None:
    laughs = "".join(f'<!ENTITY l{n} "' + 10 * f"&l{n - 1};" + '">' for n in range(1, 12))
    evil = f'<!DOCTYPE x [<!ENTITY l0 "lol">{laughs}]>'
    assert reason_of(docx(paragraph("&l11;"), before=evil)) == pb.ERROR_REASON_FILE_CORRUPT


def test_inflated_bytes_are_counted_over_all_parts() -> None:
    parts = {f"h{n}.xml": ("header", part("hdr", paragraph("x" * 50_000))) for n in range(5)}
    data = docx(paragraph("body"), parts)
    assert reason_of(data, Limits(inflated=200_000)) == pb.ERROR_REASON_DECOMPRESSION_BOMB
    assert read("docx", data, Limits(inflated=400_000)).text.endswith("body")


def test_a_part_that_is_one_giant_blank_is_a_bomb() -> None:
    data = docx(" " * 40_000_000)
    assert reason_of(data, Limits(inflated=20_000_000)) == pb.ERROR_REASON_DECOMPRESSION_BOMB


def test_a_zip_that_lies_about_its_sizes_is_refused() -> None:
    data = docx(paragraph("x" * 100_000))
    size = zipfile.ZipFile(io.BytesIO(data)).getinfo("word/document.xml").file_size
    lying = data.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert lying != data
    assert reason_of(lying) == pb.ERROR_REASON_FILE_CORRUPT


def test_more_members_than_the_limit_are_refused() -> None:
    assert reason_of(docx(paragraph("a")), Limits(members=3)) == pb.ERROR_REASON_DECOMPRESSION_BOMB


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04",
        b"no zip",
        docx(paragraph("text"))[:-200],
        docx("<w:p><w:r>"),
        zipped({"word/document.xml": "<x/>"}),
        zipped({"_rels/.rels": relationships({"word/missing.xml": "officeDocument"})}),
        zipped({"_rels/.rels": relationships({"../../../etc/passwd": "officeDocument"})}),
        zipped({"_rels/.rels": "not xml"}),
    ],
)
def test_a_damaged_package_is_corrupt(data: bytes) -> None:
    assert reason_of(data) == pb.ERROR_REASON_FILE_CORRUPT


def test_an_encrypted_member_is_refused_by_name() -> None:
    data = bytearray(docx(paragraph("text")))
    entry = data.find(b"PK\x01\x02")
    while entry >= 0:
        data[entry + 8] |= 1
        entry = data.find(b"PK\x01\x02", entry + 4)
    assert reason_of(bytes(data)) == pb.ERROR_REASON_FILE_ENCRYPTED


def test_a_document_without_text_has_no_text() -> None:
    assert reason_of(docx("<w:p/>")) == pb.ERROR_REASON_NO_TEXT


def test_every_byte_of_a_docx_may_be_wrong() -> None:
    whole = docx(paragraph("text") * 5)
    for position in range(0, len(whole), 7):
        damaged = whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :]
        try:
            read("docx", damaged, LIMITS)
        except ReadError:
            continue
