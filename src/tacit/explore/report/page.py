"""The report as one file that asks nothing of the network, and the same page for a server.

Documents come from strangers. Their text is packed, or in JSON in which no tag can end, and
enters the page through textContent; what is written into the HTML itself is escaped. The
security policy allows the one script and the one style sheet, by their hashes, and nothing
else. The live page has the sections between ``<!--live-->`` marks and the scripts ``live_*``
besides, and may call the server it came from.
"""

import base64
import hashlib
import json
import re
import zlib
from importlib.resources import files
from pathlib import Path
from typing import Any

from tacit._version import __version__
from tacit.core.atomic import atomic_write
from tacit.core.engines import Serial
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import result_hash, stage_titles
from tacit.explore.project.settings import Settings
from tacit.explore.report.page_colors import colors_css
from tacit.explore.report.phrases import count
from tacit.explore.report.report_data import collect_report
from tacit.explore.report.report_text import write_sentences
from tacit.explore.report.shown import packed
from tacit.explore.stages.stage import Context

__all__ = ["REPORT", "make_page", "write_report"]

REPORT = "report.html"
MOST_BYTES = 14_000_000  # of texts and arrays, in a page under 15 MB
FEWER = (10_000, 4_000, 1_500)  # titles, where all of them are too much
SCRIPTS = (
    "dom", "data", "colors", "scatter", "paint", "map", "panel", "drawer", "groups", "charts",
    "howmany", "words", "reading", "fields", "time", "oddities", "method", "frame",
)  # fmt: skip
LIVE_SCRIPTS = (
    "live_api", "live_jobs", "live_find", "live_context", "live_compare", "live_labels",
    "live_label_edit", "live_spread", "live_drawer", "live_words", "live_language",
    "live_divide", "live_frame",
)  # fmt: skip
LIVE_FOOT = (
    f"Made by Tacit {__version__}. This page asks the server it came from and nothing else. "
    "The report in the project folder is the same without the server."
)
LIVE_SECTIONS = {"live", "find", "compare", "labels"}
NAV = (
    ("top", "Summary"), ("map", "Map"), ("find", "Find"), ("compare", "Compare"),
    ("labels", "Labels"), ("groups", "Groups"), ("howmany", "How many?"),
    ("words", "Words"), ("reading", "Reading"), ("fields", "Fields"), ("time", "Time"),
    ("oddities", "Oddities"), ("method", "Method"),
)  # fmt: skip
SECTION = re.compile(r"<!--(\w+)-->(.*?)<!--/\1-->", re.DOTALL)
PLACE = re.compile(r"\{\{(\w+)\}\}")


def write_report(folder: ProjectFolder, path: str | Path | None = None) -> Path:
    """Write the report of a project, into its folder or elsewhere; where it is."""
    target = folder.path / REPORT if path is None else Path(path)
    page = make_page(folder).encode("utf-8", "replace")
    with atomic_write(target) as file:
        file.write(page)
    return target


def make_page(folder: ProjectFolder, *, live: bool = False) -> str:
    """The report of a project as HTML; ``live`` for the page that a server answers."""
    settings = Settings.of(folder.record["settings"])
    context = Context(folder, settings, Serial(), ())
    for titles in (None, *FEWER):  # until the page is small enough
        data = collect_report(context, titles)
        text = packed_json(data.texts)
        if len(text) + sum(len(coded) for _, coded in data.arrays.values()) < MOST_BYTES:
            break
    spent = folder.timings
    data.meta["timings"] = [[t, spent[n]] for n, t in stage_titles().items() if n in spent]
    words = write_sentences(name_of(folder), data, settings, result_hash(folder))
    groups = data.meta["groups"]
    style = colors_css(data.meta["slots"]["group"], [group["n"] for group in groups])
    style += piece("page.css") + piece("sections.css")
    scripts: tuple[str, ...] = SCRIPTS
    there = words.sections
    if live and data.facts["ingest"]["documents"]:
        data.arrays["row"] = packed(data.rows)
        data.meta.update(effort=settings.effort, run=result_hash(folder))
        style += piece("live.css")
        scripts = (*SCRIPTS[:-1], *LIVE_SCRIPTS, SCRIPTS[-1])
        there = there | LIVE_SECTIONS
        words.places["foot"] = LIVE_FOOT
        words.places["read"] = count(data.facts["ingest"]["documents"], "document")
    script = "\n".join(piece(f"{name}.js") for name in scripts)
    shown = [(id, text) for id, text in NAV if id in there or id in ("top", "method")]
    places = words.places | {
        "nav": "".join(f'<li><a href="#{id}">{text}</a></li>' for id, text in shown),
        "skip_to": shown[1][0],
        "skip_name": "the map" if "map" in there else shown[1][1].lower(),
        "csp": policy(script, style, live=live),
        "style": style,
        "script": script,
        "core": as_json({"meta": data.meta, "arrays": data.arrays}),
        "text": text,
    }
    return PLACE.sub(lambda found: places[found[1]], keep_sections(piece("page.html"), there))


def keep_sections(template: str, there: set[str]) -> str:
    """The template without the sections that have nothing to show."""

    def part(found: re.Match) -> str:
        return keep_sections(found[2], there) if found[1] in there else ""

    return SECTION.sub(part, template)


def name_of(folder: ProjectFolder) -> str:
    name = folder.path.resolve().name
    return name.removesuffix(".tacit") or "Report"


def piece(name: str) -> str:
    """A file of the page."""
    return files("tacit.explore").joinpath("web", name).read_text(encoding="utf-8")


def as_json(value: Any) -> str:
    """JSON in which nothing can end a script element or break a line of script."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace").decode()


def packed_json(value: Any) -> str:
    """JSON packed to half its size, in base64: most of the page is titles and openings."""
    return base64.b64encode(zlib.compress(as_json(value).encode(), 9)).decode()


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
