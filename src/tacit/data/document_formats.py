"""Documents in the formats of offices, mail and the web, each read by a parser of the field.

    .html .htm         html.parser      title; author and date of <meta>
    .eml .mbox         email            subject, author, date; the plain part, else the HTML one
    .docx .odt         zipfile, expat   title, subject, author, date of the properties
    .pdf               pypdf            title, author, date; the text layer
    .rtf               striprtf         title, author, date
    .md .markdown      here             title: front matter or first heading; author, date

pypdf and striprtf come with the extra ``files``. A file comes from a stranger: members of
archives are read one by one up to a limit, XML that declares entities is refused, whatever a
parser raises becomes a DataError, and the time is proportional to the size: no pattern below
searches the same text again from every place where it might begin.

One file: a format is a page of code, and all use the same limits and record.
"""

import codecs
import email
import email.policy
import html
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from tacit.core.errors import DataError
from tacit.core.time_limit import OutOfTime, call_within

__all__ = [
    "FORMATS", "FIELDS", "Record", "html_text", "mail_fields", "parsed_format", "read_records",
    "without_unseen",
]  # fmt: skip

FORMATS = {
    ".html": "html", ".htm": "html", ".xhtml": "html", ".eml": "eml", ".mbox": "mbox",
    ".docx": "docx", ".odt": "odt", ".pdf": "pdf", ".rtf": "rtf", ".md": "md",
    ".markdown": "md",
}  # fmt: skip
FIELDS = ("title", "subject", "author", "date")
INSTALL = "Install it with: pip install 'tacit-learn[files]'"
MOST = 2**28  # bytes of a file or of a member of an archive: 256 MiB
RATIO = 200  # times its compressed size that a member may have
UNPACKED = 2**24  # bytes that any file may unpack to: 16 MiB
PAGES = 20_000  # of a PDF
PDF_SECONDS = 60  # that reading a PDF may take, and as many for each megabyte
MOST_VALUE = 1000  # characters of a title or an author


class Record(NamedTuple):
    """A document, and what the file says about it."""

    text: str
    fields: dict[str, str]


def parsed_format(name: str) -> str | None:
    """The format that a file is parsed by, by its name; None for plain text and tables.

    >>> parsed_format("letter.docx"), parsed_format("page.HTML.gz"), parsed_format("a.txt")
    ('docx', 'html', None)
    """
    suffixes = [s.lower() for s in Path(name).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst", ".zstd"):
        suffixes.pop()
    return FORMATS.get(suffixes[-1]) if suffixes else None


def read_records(chunks: Iterable[bytes], kind: str, name: str) -> Iterator[Record]:
    """The documents of a file of one of ``FORMATS``: several for .mbox, one for the others.

    >>> page = b"<title>Tea</title><p>Boil &amp; pour.<p>Wait."
    >>> [record] = read_records([page], "html", "tea.html")
    >>> record.text, record.fields
    ('Boil & pour.\\n\\nWait.', {'title': 'Tea'})
    """
    if kind == "mbox":
        for raw in split_mbox(chunks, name):
            yield message_record(raw)
        return
    pieces, size = [], 0
    for chunk in chunks:
        pieces.append(chunk)
        size += len(chunk)
        if size > MOST:
            raise DataError(
                f"it has more than {MOST:,} bytes, too many for a file of the format {kind}. "
                "Split it, or export its text.",
                file=name,
            )
    data = b"".join(pieces)
    try:
        yield READERS[kind](data)
    except DataError as error:
        raise DataError(error.message, file=name) from None
    except Exception as error:  # parsers raise many kinds on hostile files
        raise DataError(
            f"it cannot be read as .{kind} ({type(error).__name__}: {str(error)[:100]}). "
            "Export it as text.",
            file=name,
        ) from None


def fields_of(**values: Any) -> dict[str, str]:
    """Those that say something, on one line."""
    cleaned = {n: " ".join(str(v).split())[:MOST_VALUE] for n, v in values.items() if v}
    return {name: value for name, value in cleaned.items() if value}


# --- HTML ---

HIDDEN = {"script", "style", "template", "noscript", "svg", "math", "head", "iframe", "object"}
BLOCKS = {
    "p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "h1", "h2",
    "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "blockquote", "pre", "form", "figure",
    "fieldset", "hr",
}  # fmt: skip
LINES = {"br", "li", "tr", "dt", "dd", "figcaption", "option", "caption"}
# Encodings of Python that are not of texts, some of which take quadratic time.
NOT_CHARSETS = {"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined"}
META = {
    "author": "author", "dc.creator": "author", "article:author": "author", "date": "date",
    "dc.date": "date", "article:published_time": "date", "dcterms.created": "date",
}  # fmt: skip


class PageText(HTMLParser):
    """Collects the visible text of a page, its title and its meta data."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title: list[str] = []
        self.meta: dict[str, str] = {}
        self.hidden: list[str] = []
        self.depths = Counter[str]()  # of the tags in ``hidden``
        self.in_title = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self.show()  # whatever the head left open
        elif tag == "title":
            self.in_title = not self.title
        elif tag == "meta":
            values = dict(attributes)
            key = (values.get("name") or values.get("property") or "").lower()
            if key in META and values.get("content"):
                self.meta.setdefault(META[key], str(values["content"]))
        elif tag in HIDDEN:
            self.hidden.append(tag)
            self.depths[tag] += 1
        elif tag in BLOCKS:
            if self.hidden == ["head"]:
                self.show()
            self.parts.append("\n\n")
        elif tag in LINES:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append("\t")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self.in_title = False
        elif self.depths[tag]:
            closed = ""
            while closed != tag:
                closed = self.hidden.pop()
                self.depths[closed] -= 1
        elif tag in BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self.in_title:
            self.title.append(data)
        elif not self.hidden:
            self.parts.append(re.sub(r"\s+", " ", data))

    def show(self) -> None:
        self.hidden, self.depths = [], Counter()

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:  # "<![" and nothing that is known
            return self.parse_bogus_comment(i)


def html_text(page: str) -> Record:
    """The visible text of a page."""
    reader = PageText()
    reader.feed(page)
    # The parser waits at a comment or a tag that does not end. ``close`` would search for its
    # end again from every "<" that follows; a page with more than a few is text from there on.
    for _ in range(10):
        if not (tail := reader.rawdata).startswith("<"):
            break
        reader.rawdata = ""
        reader.handle_data("<")
        reader.feed(tail[1:])
    if (tail := reader.rawdata).startswith("<"):
        reader.rawdata = ""
        reader.handle_data(tail)
    reader.close()
    lines = "".join(reader.parts).split("\n")
    text = "\n".join(line.strip(" \t\xa0") for line in lines)
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \xa0]{2,}", " ", text)).strip()
    return Record(text, fields_of(title="".join(reader.title), **reader.meta))


UNSEEN = re.compile(r"<(script|style)\b[^<>]{0,500}>|<(!--)", re.I)
ENDS = {
    "script": re.compile(r"</script\s{0,100}>", re.I),
    "style": re.compile(r"</style\s{0,100}>", re.I),
    "!--": re.compile(r"-->"),
}


def without_unseen(text: str) -> str:
    """A text with a space for every script, style and comment. What does not end stays.

    >>> without_unseen("tea<!-- for two --> or <style>b {}</style>coffee <!-- at")
    'tea  or  coffee <!-- at'
    """
    parts, at, place = list[str](), 0, 0
    endless = set[str]()
    while match := UNSEEN.search(text, place):
        kind, place = (match[1] or match[2]).lower(), match.end()
        end = None if kind in endless else ENDS[kind].search(text, place)
        if end is None:
            endless.add(kind)
            continue
        parts += [text[at : match.start()], " "]
        at = place = end.end()
    return "".join([*parts, text[at:]])


def html_record(data: bytes) -> Record:
    """A page, decoded by its byte order mark, the character set it declares, or as UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return html_text(data.decode("utf-16", "replace"))
    if data.startswith(b"\xef\xbb\xbf"):
        return html_text(data[3:].decode("utf-8", "replace"))
    declared = re.search(rb"charset\s*=\s*[\"']?\s*([\w.:-]+)", data[:4096], re.I)
    return html_text(decoded(data, declared and declared.group(1).decode("latin-1")))


def decoded(data: bytes, charset: str | None = None) -> str:
    """Bytes by the character set that they declare; as UTF-8 where that is not one, and as
    Windows-1252 where they are not UTF-8."""
    with suppress(LookupError, ValueError):
        if charset and codecs.lookup(charset).name not in NOT_CHARSETS:
            return data.decode(charset, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


# --- Mail ---


ENVELOPE = re.compile(rb"From .*\b(?:19|20)\d\d\b")


def split_mbox(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The messages of a mailbox: each begins with a line "From ", with a year in it, after an
    empty line."""
    message: list[bytes] = []
    tail, blank, begun, size = b"", True, False, 0
    for chunk in chunks:
        if size + len(tail) > MOST:
            raise DataError(
                f"one of its messages has more than {MOST:,} bytes. Split it, or export its "
                "text.",
                file=name,
            )
        lines = (tail + chunk).splitlines(keepends=True)
        tail = lines.pop() if lines and not lines[-1].endswith((b"\n", b"\r")) else b""
        for line in lines:
            if blank and ENVELOPE.match(line):
                if begun:
                    yield b"".join(message)
                message, begun, size = [], True, 0
            else:
                message.append(line[1:] if line.startswith(b">From ") else line)
                size += len(line)
            blank = not line.strip()
    if tail:
        message.append(tail)
    if begun or any(part.strip() for part in message):
        yield b"".join(message)


def message_record(data: bytes) -> Record:
    """A message: its plain text, or that of its HTML; subject, author and date. One whose
    structure cannot be read is all that follows its headers."""
    try:
        return parsed_message(data)
    except Exception:  # nested too deeply, parameters that are no text, and many more
        body = data.replace(b"\r\n", b"\n").partition(b"\n\n")[2]
        return Record(decoded(body).strip(), {})


def parsed_message(data: bytes) -> Record:
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    plain: list[str] = []
    pages: list[str] = []
    for part in message.walk():
        if part.is_multipart() or part.get_filename():
            continue
        kind = part.get_content_type()
        if kind in ("text/plain", "text/html"):
            (plain if kind == "text/plain" else pages).append(decoded_part(part))
    text = "\n\n".join(plain).strip()
    if not text:
        text = "\n\n".join(html_text(page).text for page in pages).strip()
    return Record(text.replace("\r\n", "\n"), mail_fields(message))


def decoded_part(part: Any) -> str:
    raw = part.get_payload(decode=True)
    if not isinstance(raw, bytes):
        return str(part.get_payload())
    return decoded(raw, part.get_content_charset())


def mail_fields(message: Any) -> dict[str, str]:
    """Subject, author and date of a message, with encoded words decoded."""
    from email.errors import MessageError
    from email.header import decode_header, make_header
    from email.utils import parseaddr, parsedate_to_datetime

    def header(name: str) -> str:
        value = message.get(name)
        if value is None:
            return ""
        if isinstance(value, str) and "=?" not in value and "\n" not in value:
            return value  # nothing is encoded or folded
        try:
            return str(make_header(decode_header(str(value))))
        except (ValueError, LookupError, MessageError):
            return str(value)

    try:
        name, address = parseaddr(header("From"))
    except RecursionError:  # comments in comments
        name, address = header("From"), ""
    try:
        date = parsedate_to_datetime(header("Date")).isoformat() if header("Date") else ""
    except (ValueError, TypeError, IndexError, OverflowError):
        date = header("Date")
    return fields_of(subject=header("Subject"), author=name or address, date=date)


# --- Office documents ---


def member(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """One file of an archive, up to a limit; None if there is none."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        return None
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DataError(
            f"{name} is compressed by a method that office documents do not use. Open and save "
            "it again, or export its text."
        )
    # The archive says what it likes about the sizes of its members, but it cannot be longer.
    size = min(info.compress_size, archive.start_dir)
    most = min(MOST, max(UNPACKED, RATIO * size))
    with archive.open(info) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise DataError(
            f"{info.compress_size:,} bytes of {name} unpack to more than {most:,}, which looks "
            "like a decompression bomb. If it is not, export the text."
        )
    return data


def parse_xml(data: bytes, start: Any, end: Any, text: Any) -> None:
    """Walk through XML from a stranger: a document type, which may declare entities, is
    refused."""
    from xml.parsers import expat

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def refuse(*_: Any) -> None:
        raise DataError(
            "its XML has a document type, which may expand without limit, so it is not read. "
            "Open and save it again, or export its text."
        )

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DataError(f"its XML is damaged ({error}). Export it as text.") from None


def local(tag: str) -> str:
    return tag.rpartition(" ")[2]


class OfficeText:
    """The text of .docx and .odt: elements that are text, breaks, and those left out."""

    BREAKS = ("br", "cr", "line-break")
    LEFT_OUT = ("tracked-changes", "annotation", "instrText", "delText", "del", "note-citation")

    def __init__(self, holder: str) -> None:
        self.holder = holder  # text counts inside this element only
        self.inside = self.left_out = 0
        self.parts: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = local(tag)
        self.left_out += name in self.LEFT_OUT
        self.inside += name == self.holder
        if name in self.BREAKS:
            self.parts.append("\n")
        elif name == "tab":  # a place for tabs too, in the properties of a paragraph
            self.parts.append("\t" if self.parts and self.parts[-1][-1:] != "\n" else "")
        elif name == "s":  # spaces of OpenDocument
            count = next((v for k, v in attributes.items() if local(k) == "c"), "1")
            few = count.isdecimal() and len(count) < 3
            self.parts.append(" " * (int(count) if few else 100 if count.isdecimal() else 1))

    def end(self, tag: str) -> None:
        name = local(tag)
        self.left_out -= name in self.LEFT_OUT
        self.inside -= name == self.holder
        if name in ("p", "h"):
            self.parts.append("\n\n")

    def text(self, data: str) -> None:
        if self.inside and not self.left_out:
            self.parts.append(data)


def properties(data: bytes | None) -> dict[str, str]:
    """Title, subject, author and date in the properties of an office document."""
    if data is None:
        return {}
    names = {  # the author and date of creation before those of the last change
        "title": "title", "subject": "subject", "initial-creator": "author",
        "creator": "author", "creation-date": "date", "created": "date", "date": "date",
    }  # fmt: skip
    values: dict[str, str] = {}
    path: list[str] = []

    def text(value: str) -> None:
        key = names.get(path[-1]) if path else None
        if key:
            values[path[-1]] = values.get(path[-1], "") + value

    parse_xml(data, lambda tag, _: path.append(local(tag)), lambda _: path.pop(), text)
    first: dict[str, str] = {}
    for key, name in names.items():
        if values.get(key, "").strip():
            first.setdefault(name, values[key])
    return fields_of(**first)


def docx_record(data: bytes) -> Record:
    return office_record(data, "word/document.xml", "t", "docProps/core.xml", "a Word document")


def odt_record(data: bytes) -> Record:
    return office_record(data, "content.xml", "body", "meta.xml", "an OpenDocument text")


def office_record(data: bytes, text: str, holder: str, about: str, what: str) -> Record:
    """The text in the member ``text`` of an archive, and the properties in ``about``."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        body = member(archive, text)
        if body is None:
            raise DataError(f"it has no {text}, so it is not {what}.")
        fields = properties(member(archive, about))
    reader = OfficeText(holder)
    parse_xml(body, reader.start, reader.end, reader.text)
    return Record(re.sub(r"\n{3,}", "\n\n", "".join(reader.parts)).strip(), fields)


# --- PDF and RTF ---


def pdf_record(data: bytes) -> Record:
    """The text layer of a PDF."""
    try:
        import pypdf
    except ImportError:
        raise DataError(f"reading PDF needs the package pypdf. {INSTALL}") from None
    import logging

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it remarks on every odd object
    seconds = PDF_SECONDS * (1 + len(data) / 1e6)

    def read() -> tuple[list[str], dict[str, str]]:
        reader = pypdf.PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError("it is encrypted. Save it without a password.")
        pages = list(pages_of_pdf(reader, max(UNPACKED, RATIO * len(data))))
        meta = reader.metadata
        if not meta:
            return pages, {}
        date = date_of_pdf(str(meta.get("/CreationDate", "")))
        about = {"title": meta.title, "subject": meta.subject, "author": meta.author}
        return pages, fields_of(**about, date=date)

    try:
        pages, fields = call_within(seconds, read)
    except DataError:
        raise
    except OutOfTime:
        raise DataError(
            f"reading it as PDF took more than {seconds:,.0f} s, far more than its "
            f"{len(data):,} bytes explain. Export its text."
        ) from None
    except Exception as error:  # pypdf raises many kinds on hostile files
        raise DataError(
            f"it cannot be read as PDF ({type(error).__name__}: {str(error)[:100]}). "
            "Export its text."
        ) from None
    text = "\n\n".join(page.strip() for page in pages).strip()
    if not text:
        raise DataError(
            f"none of its {len(pages):,} pages has a text layer: it holds pictures of text. "
            "Run optical character recognition first."
        )
    return Record(text, fields)


def pages_of_pdf(reader: Any, most: int) -> Iterator[str]:
    """The text of every page. A thousand pages may be one and the same, so it has a limit."""
    if len(reader.pages) > PAGES:
        raise DataError(f"it has {len(reader.pages):,} pages, more than {PAGES:,}. Split it.")
    size = 0
    for page in reader.pages:
        text = page.extract_text()
        size += len(text)
        if size > most:
            raise DataError(
                f"its pages have more than {most:,} characters, far more than its size "
                "explains, which looks like a decompression bomb. If it is not, export its "
                "text."
            )
        yield text


def date_of_pdf(value: str) -> str:
    """A date as PDF writes it.

    >>> date_of_pdf("D:20190314091500+01'00'")
    '2019-03-14'
    """
    match = re.match(r"D?:?(\d{4})(\d{2})?(\d{2})?", value)
    return "-".join(filter(None, match.groups())) if match else ""


def rtf_record(data: bytes) -> Record:
    """The text of Rich Text."""
    try:
        from striprtf.striprtf import rtf_to_text
    except ImportError:
        raise DataError(f"reading RTF needs the package striprtf. {INSTALL}") from None
    source = data.decode("latin-1")
    if not source.lstrip().startswith("{\\rtf"):
        raise DataError("it is not Rich Text. If it is plain text, rename it to .txt.")
    text = rtf_to_text(source, errors="replace")
    values: dict[str, str] = {}
    for name in ("title", "subject", "author"):
        if match := re.search(rf"\{{\\{name} ([^{{}}]*)\}}", source):
            values[name] = rtf_to_text("{\\rtf1 " + match.group(1) + "}", errors="replace")
    if match := re.search(r"\\creatim\\yr(\d{1,4})\\mo(\d{1,2})\\dy(\d{1,2})", source):
        year, month, day = map(int, match.groups())
        with suppress(ValueError):
            values["date"] = datetime(year, month, day).date().isoformat()
    return Record(text.strip(), fields_of(**values))


# --- Markdown ---


def markdown_record(data: bytes) -> Record:
    """The text of Markdown without its signs; title, author and date of the front matter."""
    text = decoded(data.removeprefix(b"\xef\xbb\xbf")).replace("\r\n", "\n")
    fields: dict[str, str] = {}
    front = re.match(r"---\n(.*?)\n(?:---|\.\.\.)\n", text, re.S)
    if front and len(front.group(1)) < 10_000:
        for line in front.group(1).splitlines():
            key, colon, value = line.partition(":")
            if colon and key.strip().lower() in FIELDS:
                fields[key.strip().lower()] = value.strip().strip("\"'")
        text = text[front.end() :]
    if heading := re.search(r"^#{1,2} +(\S.*)$|^(.+)\n=+$", text, re.M):
        title = (heading.group(1) or "").rstrip().rstrip("#")
        fields.setdefault("title", title or heading.group(2) or "")
    text = re.sub(r"^(```|~~~).*$", "", text, flags=re.M)
    for _ in range(2):  # a picture may be the text of a link
        link = r"!?\[([^\[\]]*)\]\([^)\s\[]*(?: +\"[^\"\[]*\")?\)"
        text = re.sub(link, r"\1", text)
    reference = r"!?\[([^\[\]]*)\]\[[^\[\]]*\]|^\[[^\[\]]+\]: .*$"
    text = re.sub(reference, r"\1", text, flags=re.M)
    signs = r"^ {0,3}(?:#{1,6} +|> ?|[-*+] +)|^(?:=+|-{3,}|\*{3,})$"
    text = re.sub(signs, "", text, flags=re.M)
    text = re.sub(r"(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1", r"\2", text)
    text = re.sub(r"(?<!`)(`{1,3})(?!`)(.{1,300}?)(?<!`)\1(?!`)", r"\2", text)
    text = html.unescape(re.sub(r"</?[A-Za-z][^<>]{0,200}>", "", without_unseen(text)))
    return Record(re.sub(r"\n{3,}", "\n\n", text).strip(), fields_of(**fields))


READERS = {
    "html": html_record, "eml": message_record, "docx": docx_record, "odt": odt_record,
    "pdf": pdf_record, "rtf": rtf_record, "md": markdown_record,
}  # fmt: skip
