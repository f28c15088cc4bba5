"""What is no part of a document's text: decoded or set aside before anything is counted.

    title               a column of titles is read as the beginning of the text, without the
                        name of a site that many titles end with
    e-mail headers      set aside; subject, author and date become columns
    signatures          after the line "--", at the end of a message
    quoted-printable    decoded
    entities, tags      &amp; and what is left of it (#39;) decoded, tags of HTML set aside
    repeated passages   lines, sentences and runs of words that many documents share
                        (``passages``)

Two passes: the first finds headers and repeated passages, the second gives the texts. A
document is never emptied: where nothing would be left, it stays as it was.
"""

import html
import quopri
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from email.parser import HeaderParser
from typing import Any

from tacit.core.wording import count
from tacit.data.document_formats import html_text, mail_fields, without_unseen
from tacit.data.document_names import title_of_name
from tacit.explore.stages.passages import Passages, PassagesFound

__all__ = [
    "SAME_TITLE", "Cleaned", "Found", "clean_markup", "reply_to", "split_header",
    "split_signature", "without_site",
]  # fmt: skip

TITLED = ("title", "subject", "headline", "heading")  # columns that are read with the text
KEPT = 2**26  # characters of cleaned text that are kept from the first pass to the second
OPENING = 500  # characters of a document that its title is looked for in
SAMPLE = 5000  # documents that repeated passages are found in
REPEATS, REPEATED = 10, 0.01  # documents, and fraction of them, that share a line or a site
SAME_TITLE = 0.05  # of the documents: a title that more of them share says nothing
MOST_HEADER, MOST_SIGNATURE = 8000, 1500  # characters
NAMES = ("from", "subject", "date", "message-id", "newsgroups", "organization", "to", "sender")
HEADER_LINE = re.compile(r"([A-Za-z][A-Za-z0-9.-]{1,40}):(?:[ \t]|$)")
SIGNATURE = re.compile(r"^--[ \t]*$", re.M)
STRICT_SIGNATURE = re.compile(r"^-- $", re.M)
ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,8}|#\d{1,6}|#[xX][0-9A-Fa-f]{1,5});")
REMAINS = re.compile(r"(?<!&)#(\d{2,5});|(?<![&\w])(lt|gt|amp|quot|nbsp|apos);")
REMAINING = ("#", "lt;", "gt;", "amp;", "quot;", "nbsp;", "apos;")
TAG = re.compile(
    r"</?(?:a|abbr|article|b|base|big|blockquote|body|br|button|center|cite|code|dd|div|dl|dt|em|"
    r"embed|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|label|li|link|"
    r"main|meta|nav|ol|option|p|pre|q|s|script|section|select|small|span|strong|style|sub|sup|"
    r"table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|video)(?:\s[^<>]{0,500})?/?>",
    re.I,
)
SITE = re.compile(r"(\S.*?)\s+[-–—|·]\s+([^-–—|·]{2,60})$")
QUOTED = re.compile(r"=(?:[0-9A-F]{2})")
SOFT_BREAK = re.compile(r"=[ \t]*\r?\n")
ENCODED = 0.9  # of the signs of equality in quoted-printable text


@dataclass
class Found:
    """How many documents something was done to."""

    titles: int = 0
    headers: int = 0
    signatures: int = 0
    quoted: int = 0
    entities: int = 0
    tags: int = 0
    repeated: int = 0
    passages: list[str] = field(default_factory=list)  # the repeated ones, most common first
    columns: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """What was done, for people."""
        made = f"; the columns {', '.join(self.columns)} keep them" if self.columns else ""
        said = {
            "titles": "Titles were read as the beginning of the text of {}",
            "headers": f"E-mail headers of {{}} were set aside{made}",
            "signatures": "Signatures of {} were set aside",
            "quoted": "Quoted-printable text of {} was decoded",
            "entities": "HTML entities of {} were decoded",
            "tags": "HTML tags of {} were set aside",
            "repeated": (
                f"{count(len(self.passages), 'passage')} that many documents repeat "
                f"{'was' if len(self.passages) == 1 else 'were'} set aside in {{}}"
            ),
        }
        counts = {f.name: getattr(self, f.name) for f in fields(self)}
        return [
            sentence.format(count(counts[name], "document")) + "."
            for name, sentence in said.items()
            if counts[name]
        ]


class Cleaned:
    """Documents as they are explored: ``texts``, and ``columns`` that were found in them.

    >>> from tacit.data.documents import Documents
    >>> cleaned = Cleaned(Documents.of(["AT&amp;T <b>rose</b>", "plain"]))
    >>> list(cleaned.texts()), cleaned.found.sentences()[0]
    (['AT&T rose', 'plain'], 'HTML entities of 1 document were decoded.')
    """

    def __init__(self, documents: Any, on: bool = True) -> None:
        self.documents, self.on, self.found = documents, on, Found()
        self.first = Found()  # of the first pass
        self.columns: dict[str, list[str | None]] = {}
        self.titles: list[str | None] | None = None
        self.passages: Passages | None = None
        self.kept: list[str] = []  # all documents, cleaned, where they are short enough
        named = [name for name in documents.columns if str(name).lower() == "subject"]
        self.subjects = documents.column(named[0]) if named else None
        if on:
            self._scan()

    def texts(self) -> Iterator[str]:
        """The texts, cleaned, in order; ``found`` then holds what was done."""
        if not self.on:
            yield from self.documents.texts()
            return
        found = replace(self.first) if self.kept else Found()
        assert self.passages is not None  # the first pass found them
        found.columns = self.found.columns
        self.passages.seen.clear()
        for i, text in enumerate(self.kept or self._messages(found)):
            left = self.passages.without(text)
            found.repeated += left != text
            text = left
            title = self.titles[i] if self.titles else None
            if title and not text.lstrip()[: 4 * len(title) + 200].startswith(title):
                found.titles += 1
                text = f"{title}\n\n{text}"
            yield text
        found.passages = self.passages.all_shown()
        self.found = found

    def _messages(self, found: Found) -> Iterator[str]:
        for i, raw in enumerate(self.documents.texts()):
            yield clean_message(raw, found, about=False, mail=self._is_mail(i))[0]

    # --- The first pass ---

    def _scan(self) -> None:
        headers: list[dict[str, str]] = []
        openings: list[list[str]] = []
        n, size, seen = len(self.documents), 0, set[int]()
        passages = PassagesFound(min(n, SAMPLE))
        every = max(1, -(-n // SAMPLE))
        for i, raw in enumerate(self.documents.texts()):
            text, header = clean_message(raw, self.first, mail=self._is_mail(i))
            size += len(text)
            if size <= KEPT:
                self.kept.append(text)
            headers.append(header)
            openings.append(lines_of(text[:OPENING]))
            if i % every == 0 and (number := hash(text)) not in seen:
                seen.add(number)
                passages.add(text)
        if size > KEPT:
            self.kept = []
        self.passages = passages.of_many()
        self._add_columns(headers)
        self._find_titles()
        self._name_documents(openings)

    def _add_columns(self, headers: list[dict[str, str]]) -> None:
        taken = {str(name).lower() for name in self.documents.columns}
        for name in ("subject", "author", "date"):
            values = [header.get(name) for header in headers]
            if name not in taken and sum(v is not None for v in values) > 0.5 * len(values):
                self.columns[name] = values
                self.found.columns.append(name)

    def _find_titles(self) -> None:
        columns = {str(name).lower(): name for name in self.documents.columns}
        given = [self.documents.column(columns[each]) for each in TITLED if each in columns]
        given += [values for name, values in self.columns.items() if name == "subject"]
        if not given:
            return
        titles = without_site([
            reply_to(" ".join(clean_markup(str(value)).split())) if value == value else ""
            for value in (next(filter(None, row), "") for row in zip(*given, strict=True))
        ])  # fmt: skip
        often = Counter(titles)
        most = max(3, SAME_TITLE * len(titles))
        self.titles = [
            t if t and often[t] <= most and not t.isdigit() else None for t in titles
        ]

    def _name_documents(self, openings: list[list[str]]) -> None:
        """Titles of documents that begin with the line of others: the name of the file, or
        the first line that is not as common. A greeting is no title."""
        if "title" in {str(name).lower() for name in self.documents.columns}:
            return
        often = Counter(lines[0] for lines in openings if lines)
        files = self.documents.report.files_read > 1
        most = 1 if files else max(3, REPEATED * len(openings))
        ids, titles = list(self.documents.ids), self.titles or [None] * len(openings)
        names = [
            None if title or not lines or often[lines[0]] <= most
            else title_of_name(str(i)) if files
            else next((line for line in lines if often[line] <= most), None)
            for i, title, lines in zip(ids, titles, openings, strict=True)
        ]  # fmt: skip
        if any(names):
            self.columns["title"] = names

    def _is_mail(self, row: int) -> bool:
        """Whether a document has a subject, so that it is a message without its header."""
        return self.subjects is not None and bool(self.subjects[row])


# --- One document ---


def clean_message(
    text: str, found: Found, *, about: bool = True, mail: bool = False
) -> tuple[str, dict[str, str]]:
    """A text without header, signature, encoding and markup; the fields of the header, if
    that is asked. ``mail`` where it is known to be the body of a message."""
    header, body = split_header(text)
    headed = bool(header and body.strip())
    found.headers += headed
    body = body if headed else text
    header_fields = mail_fields(HeaderParser().parsestr(header)) if headed and about else {}
    unsigned, signature = split_signature(body, mail=mail or headed)
    if signature and unsigned.strip():
        found.signatures += 1
        body = unsigned
    cleaned = clean_markup(body, found)
    return (cleaned if cleaned.strip() or not body.strip() else body), header_fields


def lines_of(text: str) -> list[str]:
    """The lines of a text that are not blank."""
    return [line for line in map(str.strip, text.split("\n")) if line]


def split_header(text: str) -> tuple[str, str]:
    r"""The header of a message and its body; no header where there are no two lines of one.

    >>> split_header("From: ann@x.org\nSubject: tea\n\nBoil it.")
    ('From: ann@x.org\nSubject: tea', 'Boil it.')
    >>> split_header("Note: all is well.\n\nReally.")[0]
    ''
    """
    if not HEADER_LINE.match(text):
        return "", text
    end = text.find("\n\n", 0, MOST_HEADER)
    head = text[:end] if end >= 0 else ""
    names: list[str] = []
    for line in head.split("\n"):
        if line[:1] in " \t" and names:
            continue
        found = HEADER_LINE.match(line)
        if not found:
            return "", text
        names.append(found.group(1).lower())
    if len(names) < 2 or not set(names) & set(NAMES):
        return "", text
    return head, text[end + 2 :]


def split_signature(text: str, *, mail: bool) -> tuple[str, str]:
    r"""A text and the signature at its end, after a line of two dashes (and, except in mail,
    a space).

    >>> split_signature("See you.\n-- \nAnn Lee\nHarbor 1", mail=False)
    ('See you.\n', '\nAnn Lee\nHarbor 1')
    """
    if "--" not in text:
        return text, ""
    pattern = SIGNATURE if mail else STRICT_SIGNATURE
    last = None
    for found in pattern.finditer(text, max(0, len(text) - MOST_SIGNATURE)):
        last = last or found
    return (text, "") if last is None else (text[: last.start()], text[last.end() :])


def clean_markup(text: str, found: Found | None = None) -> str:
    """Text without entities, tags and quoted-printable codes.

    >>> clean_markup("Dow falls #39;again&lt;br&gt; AT&amp;T <b>up</b>")
    "Dow falls 'again\\n AT&T up"
    """
    found = found or Found()
    if is_quoted_printable(text):
        found.quoted += 1
        raw = quopri.decodestring(text.encode("utf-8"))
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            text = raw.decode("cp1252", "replace")
    if ";" in text:
        plain = text
        for _ in range(2):  # &amp;lt; is decoded twice
            if "&" in plain and ENTITY.search(plain):
                plain = html.unescape(plain)
        if any(sign in plain for sign in REMAINING):
            plain = REMAINS.sub(decode_remains, plain)
        found.entities += plain != text
        text = plain.replace("\xa0", " ")
    if "<" in text and TAG.search(text):
        found.tags += 1
        if re.search(r"<(?:html|body)\b", text, re.I):
            return html_text(text).text
        text = without_unseen(text)
        text = re.sub(r"</?(?:br|p|div|li|tr|h[1-6])\b[^<>]{0,500}>", "\n", text, flags=re.I)
        text = TAG.sub("", text)
    return text


def is_quoted_printable(text: str) -> bool:
    """Whether a text is ASCII in which signs of equality are codes or end a line, as in none
    that was not encoded.

    >>> [is_quoted_printable(t) for t in ("Sch=C3=B6n, l=\\nang =3D gut", "a=10, b=20,=\\n3")]
    [True, False]
    """
    if "=" not in text or not text.isascii():
        return False
    codes, ends = len(QUOTED.findall(text)), len(SOFT_BREAK.findall(text))
    return codes >= 3 and ends > 0 and codes + ends >= ENCODED * text.count("=")


def decode_remains(found: re.Match) -> str:
    number, name = found.groups()
    return html.unescape(f"&#{number};" if number else f"&{name};")


def reply_to(subject: str) -> str:
    """A subject without the signs of replies.

    >>> reply_to("Re: FW: tea")
    'tea'
    """
    return re.sub(
        r"^(?:(?:re|fwd?|aw|wg|sv|antw)\s*(?:\[\d+\])?:\s*)+", "", subject, flags=re.I
    )


def without_site(titles: list[str]) -> list[str]:
    """Titles without the name of a site, which many of them end with.

    >>> without_site([f"Story {i} - The Paper" for i in range(20)] + ["Rain - or sun"])[19:]
    ['Story 19', 'Rain - or sun']
    """
    parts = {title: found for title in titles if (found := SITE.match(title))}
    ends, least = Counter(found[2] for found in parts.values()), REPEATED * len(titles)
    often = {end for end, size in ends.items() if size >= max(REPEATS, least)}
    return [parts[t][1] if t in parts and parts[t][2] in often else t for t in titles]
