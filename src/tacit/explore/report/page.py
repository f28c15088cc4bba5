"""The report as one file that asks nothing of the network, and the same page for a server.

Documents are untrusted. Their text is packed, or in JSON in which no tag can end, and
enters the page through textContent; what is written into the HTML itself is escaped. The
security policy allows the one script and the one style sheet, by their hashes, and nothing
else. The live page also has the scripts ``live_*``, and may call the server it came from.
"""

import base64
import hashlib
import json
import re
import zlib
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from tacit._version import __version__
from tacit.core.atomic import atomic_write
from tacit.explore.project.folder import REPORT, ProjectFolder
from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.colors import colors_css
from tacit.explore.report.redact import redact_facts, redact_words
from tacit.explore.report.report import Report, texts_of
from tacit.explore.report.search_index import NOTHING, search_index
from tacit.explore.report.sections import page_sections
from tacit.explore.stages.stage import Context

__all__ = ["REPORT", "make_page", "write_report"]

REDACTED = "report_redacted.html"
MOST_BYTES = 14_000_000  # of texts and arrays, in a page under 15 MB
FEWER = (10_000, 4_000, 1_500)  # titles, where all of them are too much
SCRIPTS = (
    "dom", "data", "colors", "scatter", "paint", "search", "panel", "filters", "drawer",
    "charts", "poster", "guide",
)  # fmt: skip
LIVE_SCRIPTS = (
    "live_api", "live_jobs", "live_find", "live_context", "live_compare", "live_labels",
    "live_label_edit", "live_spread", "live_drawer", "live_words", "live_language",
    "live_divide", "live_group_edit", "live_frame",
)  # fmt: skip
FOOT = "This page is one file, loads nothing from the network and sends nothing."
LIVE_FOOT = (
    "This page asks the server it came from and nothing else. The report in the project folder "
    "is the same without the server."
)
EXPORT = (
    '<details class="menu" id="exports"><summary class="btn">Export</summary>'
    '<div class="pop" id="exportlist"></div></details>'
)
PLACE = re.compile(r"\{\{(\w+)\}\}")


def write_report(
    folder: ProjectFolder, path: str | Path | None = None, *, redact: bool = False
) -> Path:
    """Write the report of a project, into its folder or elsewhere; where it is. ``redact``
    leaves out the texts."""
    target = folder.path / (REDACTED if redact else REPORT) if path is None else Path(path)
    page = make_page(folder, redact=redact).encode("utf-8", "replace")
    with atomic_write(target) as file:
        file.write(page)
    return target


def make_page(folder: ProjectFolder, *, live: bool = False, redact: bool = False) -> str:
    """The report of a project as HTML; ``live`` for the page that a server answers, ``redact``
    for one without the texts."""
    context = Context.of(folder)
    sections = page_sections()
    for titles in (None, *FEWER):  # until the page is small enough
        report = Report(context, live=live, titles=titles)
        if redact:
            redact_facts(report)
        for section in sections:
            section.data(report)
        if redact:
            redact_words(report)
        text = packed_json(texts_of(context, report.shown))
        size = len(text) + sum(len(coded) for _, coded in report.arrays.values())
        if size < MOST_BYTES:
            break
    index = NOTHING if redact else search_index(report, MOST_BYTES - size)
    cleaned = report.facts["ingest"].get("cleaned", {})
    aside = any(cleaned.get(what) for what in ("headers", "signatures", "tags", "repeated"))
    report.meta |= {"search": {"kind": index.kind}, "suggested": index.spelled, "aside": aside}
    written = [(section, section.words(report)) for section in sections]
    nav = [entry for section, html in written if html for entry in section.NAV]
    style = colors_css(report.meta["slots"]["group"], [g["n"] for g in report.meta["groups"]])
    style += piece("page.css") + piece("sections.css")
    style += piece("live.css") if report.live else ""
    script = "\n".join(piece(f"{name}.js") for name in scripts(report.live))
    places = {
        "name": escape(cut(clean_line(report.name), 60)),
        "nav": "".join(f'<li><a href="#{id}">{text}</a></li>' for id, text in nav),
        "export": EXPORT if report.live else "",
        "skip_to": nav[1][0],
        "skip_name": "the map" if nav[1][0] == "map" else nav[1][1].lower(),
        "sections": "".join(html for _, html in written),
        "foot": f"Made by Tacit {__version__}. {LIVE_FOOT if report.live else FOOT}",
        "csp": policy(script, style, live=live),
        "style": style,
        "script": script,
        "core": as_json({"meta": report.meta, "arrays": report.arrays}),
        "text": text,
        "index_words": packed_json([clean_line(word) for word in index.words]),
        "index": index.data,
    }
    return PLACE.sub(lambda match: places[match[1]], piece("page.html"))


def scripts(live: bool) -> list[str]:
    """The names of the scripts: shared ones, one for each section that has one, the frame."""
    names = [section.__name__.rpartition(".")[2] for section in page_sections()]
    names = [name for name in names if web(f"{name}.js").is_file()]
    return [*SCRIPTS, *names, *(LIVE_SCRIPTS if live else ()), "address", "frame"]


def web(name: str) -> Any:
    return files("tacit.explore").joinpath("web", name)


def piece(name: str) -> str:
    return web(name).read_text(encoding="utf-8")


def as_json(value: Any) -> str:
    """JSON in which nothing can end a script element or break a line of script."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace").decode()


def packed_json(value: Any) -> str:
    """JSON packed to half its size, in base64: most of the page is titles and openings."""
    return base64.b64encode(zlib.compress(as_json(value).encode(), 6)).decode()


def policy(script: str, style: str, *, live: bool = False) -> str:
    """A Content-Security-Policy that lets nothing in and nothing out; a live page may call the
    server it came from."""
    asks = " connect-src 'self';" if live else ""
    return (
        f"default-src 'none'; script-src {sha256(script)}; style-src {sha256(style)};{asks} "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
