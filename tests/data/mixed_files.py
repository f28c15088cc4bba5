"""Small files of every format that documents are read from."""

import io
import zipfile
from pathlib import Path

__all__ = ["docx", "eml", "html_page", "markdown", "mbox", "mixed_folder", "odt", "pdf", "rtf"]

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>{title}</dc:title>'
    "<dc:creator>{author}</dc:creator><dcterms:created>2020-05-06T07:08:09Z</dcterms:created>"
    "</cp:coreProperties>"
)


def archive(**members: str | bytes) -> bytes:
    """A zip file; "/" is written "__" and "." "_dot_" in the names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return out.getvalue()


def docx(*paragraphs: str, title: str = "", author: str = "", head: str = "") -> bytes:
    body = "".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in paragraphs)
    document = f'{head}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    core = CORE.format(title=title, author=author)
    return archive(word__document_dot_xml=document, docProps__core_dot_xml=core)


def odt(*paragraphs: str, title: str = "", author: str = "") -> bytes:
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    body = "".join(f"<t:p>{each}</t:p>" for each in paragraphs)
    content = (
        f'<o:document-content xmlns:o="{office}" xmlns:t="{text}"><o:body><o:text>{body}'
        "</o:text></o:body></o:document-content>"
    )
    meta = (
        f'<o:document-meta xmlns:o="{office}" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<o:meta><dc:title>{title}</dc:title><dc:creator>{author}</dc:creator></o:meta>"
        "</o:document-meta>"
    )
    return archive(content_dot_xml=content, meta_dot_xml=meta)


def pdf(text: str, title: str = "", author: str = "") -> bytes:
    """One page with a text layer; no text makes a page without one."""
    drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "0 0 m 9 9 l S"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        "/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(drawn)}>>\nstream\n{drawn}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Title({title})/Author({author})/CreationDate(D:20190314)>>",
    ]
    out, places = "%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{each}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    out += "".join(f"{place:010d} 00000 n \n" for place in places)
    out += f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R/Info 6 0 R>>\n"
    return (out + f"startxref\n{start}\n%%EOF\n").encode("latin-1")


def eml(text: str, subject: str = "", author: str = "", page: str = "") -> bytes:
    from email.message import EmailMessage

    message = EmailMessage()
    message["Subject"], message["From"] = subject, f"{author} <who@example.org>"
    message["Date"] = "Tue, 06 Apr 1993 12:00:00 +0000"
    message.set_content(text, cte="quoted-printable")
    if page:
        message.add_alternative(page, subtype="html")
    return message.as_bytes()


def mbox(*messages: bytes) -> bytes:
    return b"".join(b"From who@example.org Tue Apr  6 1993\n" + m + b"\n\n" for m in messages)


def rtf(text: str, title: str = "", author: str = "") -> bytes:
    info = rf"{{\info{{\title {title}}}{{\author {author}}}{{\creatim\yr2001\mo2\dy3}}}}"
    return (r"{\rtf1\ansi" + info + r"{\fonttbl{\f0 Arial;}}\f0 " + text + r"\par}").encode()


def html_page(body: str, title: str = "", author: str = "") -> bytes:
    head = f'<title>{title}</title><meta name="author" content="{author}">'
    hidden = "<script>var hidden = 1 < 2;</script><style>p {color: red}</style>"
    return f"<!doctype html><html><head>{head}{hidden}</head><body>{body}</body>".encode()


def markdown(text: str, title: str = "", author: str = "") -> bytes:
    return f"---\ntitle: {title}\nauthor: {author}\ndate: 2022-01-02\n---\n\n{text}\n".encode()


def mixed_folder(folder: Path, texts: list[str], author: str = "Ann") -> list[str]:
    """The texts in files of all formats in turn; the names of the files."""
    makers = {
        "txt": lambda text, title: text.encode(),
        "html": lambda text, title: html_page(f"<p>{text}</p>", title, author),
        "eml": lambda text, title: eml(text, title, author),
        "docx": lambda text, title: docx(text, title=title, author=author),
        "odt": lambda text, title: odt(text, title=title, author=author),
        "pdf": lambda text, title: pdf(text, title, author),
        "rtf": lambda text, title: rtf(text, title, author),
        "md": lambda text, title: markdown(f"# {title}\n\n{text}", title, author),
    }
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for i, text in enumerate(texts):
        kind = list(makers)[i % len(makers)]
        names.append(f"{i:03d}.{kind}")
        (folder / names[-1]).write_bytes(makers[kind](text, f"Title {i}"))
    return names
