"""Map: every document as a dot, close to the documents that use the same words."""

from html import escape
from typing import Any

import numpy as np

from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.colors import assign_slots
from tacit.explore.report.map_view import scaled
from tacit.explore.report.phrases import percent, section, the_groups, verb
from tacit.explore.report.report import Report
from tacit.explore.report.sections.summary import spoken
from tacit.explore.stages.fields import inspect_column
from tacit.explore.stages.ingest import RESERVED
from tacit.explore.stages.languages import UNKNOWN

__all__ = ["NAV", "PLACE", "data", "words"]

PLACE, NAV = 20, (("map", "Map"),)
ALIKE = "Documents that use the same words are close together"
NEAR = 31  # documents: of so few, the thirty nearest to one are all others
Field = tuple[str, list[str], np.ndarray, dict[str, Any]]  # name, values, codes, facts
NEAREST = 6  # documents most like each
CELLS = 256  # of the density, along each side
FIELDS, MOST_KINDS = 6, 24  # columns to color the map by, and their values


def data(report: Report) -> None:
    """Places in the unit square, true neighbors, lengths, and columns to color by."""
    meta, shown = report.meta, report.shown
    meta |= {"near": 0, "lengths": [0, 0], "fields": []}
    meta["slots"]["fields"] = []
    report.add_array("xy", np.rint(np.clip(report.points, 0, 1) * 65535).astype(np.uint16))
    report.add_array("length", np.zeros(0, np.int64))
    if not shown.mapped:
        return
    arrays, some = report.context.arrays("map"), shown.on_map
    inside = ~report.context.arrays("meaning")["blank"]
    if np.count_nonzero(inside) > len(some):
        middle, width = report.square
        every = (arrays["points"][inside].astype(np.float64) - middle) / width + 0.5
        report.add_array("density", density(every))
        meta["density"] = CELLS
    if shown.titled is not None:
        report.add_array("titled", shown.titled)
        report.add_array("row", shown.documents)
        meta["worded"] = len(shown.worded)
    near_of, worded = min(NEAREST, arrays["neighbors"].shape[1]), shown.worded
    places = np.full(arrays["points"].shape[0], -1, np.int64)
    places[some] = np.arange(len(some))
    near = places[arrays["neighbors"][worded, :near_of]]
    near = np.where(near < 0, places[worded][:, None], near)  # not on the page: itself
    alike = np.clip(1 - arrays["squares"][worded, :near_of] / 2, 0, 1)
    report.add_array("near", near)
    report.add_array("nearSim", np.rint(255 * alike).astype(np.uint8))
    lengths = report.context.arrays("counts")["lengths"][some]
    meta |= {"near": near_of, "lengths": [int(np.quantile(lengths, q)) for q in (0.02, 0.98)]}
    if shown.titled is not None:  # the page of a large collection has two bytes for a length
        lengths = np.minimum(lengths, 2**16 - 1)
    report.add_array("length", lengths)
    for name, kinds, codes, facts in color_fields(report):
        report.add_array(f"field{len(meta['fields'])}", codes[some])
        meta["fields"].append({"name": name, "values": kinds, **facts})
        meta["slots"]["fields"].append(assign_slots(report.points, codes[some], len(kinds)))


def density(points: np.ndarray) -> np.ndarray:
    """How many points are in each cell of the map, row by row from below, 65,535 at most."""
    at = np.clip((points * CELLS).astype(np.int64), 0, CELLS - 1)
    counts = np.bincount(at[:, 1] * CELLS + at[:, 0], minlength=CELLS * CELLS)
    return np.minimum(counts, 2**16 - 1)


def color_fields(report: Report) -> list[Field]:
    """Columns with few enough values to color by: name, values, the value of every document,
    and the agreement with the groups. The guess of the language comes last."""
    from tacit.measure import adjusted_rand_score

    documents = report.context.documents()
    fields: list[Field] = []
    for name in documents.columns:
        if name in RESERVED or len(fields) == FIELDS:
            continue
        column = inspect_column(str(name), documents.column(name))
        if column.codes is None or len(column.kinds) > MOST_KINDS:
            continue
        facts = {}
        if report.labels is not None:
            both = report.labels >= 0
            agreed = adjusted_rand_score(column.codes[both], report.labels[both])
            facts["agreement"] = round(float(agreed), 3)
        fields.append((cut(clean_line(str(name)), 40), list(column.kinds), column.codes, facts))
    return [*fields, *guessed_languages(report)]


def guessed_languages(report: Report) -> list[Field]:
    """The guessed language as a field to color by, where there is more than one."""
    facts = report.facts["language_guess"]
    if "skipped" in facts or len(listed := spoken(facts)) < 2:
        return []
    names = [name for _, name, _ in listed]
    place = np.full(UNKNOWN + 1, len(names), np.int64)
    for i, (code, *_) in enumerate(listed):
        place[facts["codes"].index(code)] = i
    every = place[report.context.arrays("language_guess")["language"]]
    names += ["unknown"] if (every == len(names)).any() else []
    return [("Language (guessed)", names, every, {"guessed": True})]


def words(report: Report) -> str:
    """The map, its heading and its tools."""
    meta = report.meta
    if not meta["n"]:
        return ""
    lead, head = "Each dot is a document.", heading(report)
    if head != ALIKE:
        lead = f"Each dot is a document. {ALIKE}."
    if report.grouped:
        lead += (
            " Faint dots are less certain of their group; loose groups have names in italics."
        )
    if (preserved := report.facts["map"].get("kept")) is not None and meta["n"] > NEAR:
        near = percent(preserved)
        lead += f" Of the ten documents most like a document, {near} are near it on the map."
    body = MAP.replace("{fade}", FADE if report.grouped else "")
    body = body.replace("{levels}", LEVELS if meta["levels"] else "")
    body = body.replace("{still}", still_map(report))
    body = body.replace("{options}", color_options(report)).replace("{n}", f"{meta['n']:,}")
    return section("map", "The map", head, f"<p>{lead}</p>",
                   body.replace("{caption}", caption(meta)))  # fmt: skip


def heading(report: Report) -> str:
    apart = sorted(report.groups("firm"), key=lambda item: -item[1]["inside"])[:3]
    blend = sorted(report.groups("loose"), key=lambda item: item[1]["inside"])[:2]
    if not 0 < len(apart) < report.meta["K"]:
        return ALIKE
    named = the_groups([group for _, group in apart])
    out = f"{named[0].upper()}{named[1:]} {verb(len(apart), 'stands', 'stand')} apart"
    if blend:
        its = verb(len(blend), "overlaps with its", "overlap with their")
        out += f"; {the_groups([group for _, group in blend])} {its} neighbors"
    return out


STILL_DOTS, STILL = 4000, (1000, 640)  # dots of the map without scripts, and its size


def still_map(report: Report) -> str:
    """The map for readers without scripts: dots in the color of their group, and names."""
    (width, height), points = STILL, report.points
    labels = report.labels
    group = np.zeros(len(points), np.int64) if labels is None else labels[report.shown.on_map]
    places = np.column_stack(scaled(points, width, height))
    some = np.linspace(0, len(points) - 1, min(len(points), STILL_DOTS)).astype(int)
    dots, names = [], []
    taken: list[tuple[float, float, float]] = []
    for g in np.argsort(-np.bincount(group), kind="stable").tolist():
        inside = places[group == g]
        mine = places[some[group[some] == g]]
        marks = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in mine)
        dots.append(f'<path class="g{g}" d="{marks}"/>')
        if not report.grouped:
            continue
        name = ", ".join(report.meta["groups"][g]["name"][:2])[:30]
        x, y = np.median(inside, axis=0)
        half = 4.2 * len(name) + 6
        x = float(np.clip(x, half, width - half))
        for place in (float(y) + away for away in (0, -21, 21, -42, 42)):
            if all(abs(x - a) > half + b or abs(place - c) > 20 for a, b, c in taken):
                taken.append((x, half, place))
                names.append(
                    f'<text class="g{g}" x="{x:.0f}" y="{place + 5:.0f}">{escape(name)}</text>'
                )
                break
    about = f"Map of {len(points):,} documents"
    return (
        f'<noscript><svg class="still" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{about}">{"".join(dots)}{"".join(names)}</svg></noscript>'
    )


def caption(meta: dict[str, Any]) -> str:
    out = "Near means similar. Island sizes and the gaps between islands mean little."
    if meta["n"] < meta["total"]:
        out = (
            f"{meta['n']:,} of {meta['total']:,} documents, drawn evenly from every group, "
            f"over the density of all. {out}"
        )
    if meta["redacted"]:
        out = f"Texts, titles and ids of the documents were left out of this page. {out}"
    elif "worded" in meta:
        out = (
            f"All {meta['n']:,} documents. Titles, openings and words are here for "
            f"{meta['worded']:,}, drawn evenly from every group. {out}"
        )
    return out


def color_options(report: Report) -> str:
    options = [("group", "Group")] if report.grouped else []
    for i, field in enumerate(report.meta["fields"]):
        supplied = "" if field.get("guessed") else " (supplied)"
        options.append((f"f{i}", f"{field['name']}{supplied}"))
    options += [("confidence", "Certainty")] if report.grouped else []
    options += [("length", "Length")]
    out = "".join(f'<option value="{a}">{escape(text)}</option>' for a, text in options)
    out += '<option value="k" id="kopt" hidden disabled>What if</option>'
    if report.live:
        out += (
            '<option value="label" id="labopt" hidden disabled>Label</option>'
            '<option value="spread" id="spreadopt" hidden disabled>Label, spread to the rest'
            "</option>"
        )
    return out


def icon(path: str) -> str:
    return f'<svg viewBox="0 0 20 20" aria-hidden="true">{path}</svg>'


def icon_button(id: str, label: str, path: str, more: str = "") -> str:
    drawn = icon(f'<path d="{path}"/>')
    return f'<button class="iconbtn" id="{id}" aria-label="{label}"{more}>{drawn}</button>'


LENS = icon('<circle cx="8.5" cy="8.5" r="5.2"/><path d="M12.6 12.6L17 17"/>')
LASSO = icon(
    '<path d="M10 3.5c4.1 0 7.2 2 7.2 4.7S14 13 10 13s-7.2-2-7.2-4.8S6 3.5 10 3.5zM6 12.2c-.8 '
    '1.3-.3 2.3.7 2.5 1.2.3 1.6 1.2.8 2.3"/>'
)
ZOOMS = (
    icon_button("zin", "Zoom in", "M10 5v10M5 10h10")
    + icon_button("zout", "Zoom out", "M5 10h10")
    + icon_button("zhome", "Show everything", "M4 9l6-5 6 5v7H4z")
    + icon_button("zmax", "Fill the window", "M4 8V4h4M16 8V4h-4M4 12v4h4M16 12v4h-4")
)
LEVELS = (
    '<div class="grp" id="levels"><label class="lbl" for="lv">Level</label><input type="range" '
    'id="lv" min="0" max="1" step="1" value="0"><output class="lbl" id="lvo" for="lv"></output>'
    "</div>"
)
FADE = '<label class="grp lbl"><input type="checkbox" id="fade" checked> Fade uncertain</label>'
MAP = f"""<div id="guide" class="noprint" role="group" aria-label="Three things to try" \
hidden></div>
<div class="tools" role="toolbar" aria-label="Map tools">
<div class="search">{LENS}<input class="field" id="q" type="search" autocomplete="off" \
spellcheck="false" placeholder="Find documents by word" aria-label="Find documents by word" \
aria-keyshortcuts="/">{icon_button("qx", "Clear search", "M6 6l8 8M14 6l-8 8", " hidden")}</div>
<div class="grp"><label class="lbl" for="color">Color by</label><select class="field" \
id="color">{{options}}</select></div>
{{levels}}
{{fade}}
<span class="sp"></span>
<div class="grp"><button class="btn" id="lasso" aria-pressed="false">{LASSO}Draw \
selection</button><button class="btn" id="inview">Select view</button><button \
class="btn" id="picture" title="The map, the names and five findings as a \
picture">Copy as picture</button></div>
</div>
{{still}}<div class="mapgrid">
<div class="stage" id="stage">
<canvas id="bg" aria-hidden="true"></canvas>
<canvas id="gl" tabindex="0" role="application" aria-label="Map of {{n}} documents" \
aria-describedby="maphelp"></canvas>
<canvas id="ov" aria-hidden="true"></canvas>
<img id="printmap" alt="Map of the documents">
<p class="mapcap">{{caption}}</p>
<div class="card" id="card" hidden></div>
<div class="hint" id="hint">Click the map first, or hold Ctrl, to zoom with the wheel</div>
<div class="zoomer">{ZOOMS}</div>
</div>
<aside class="side" id="side" aria-label="Legend and selection" tabindex="-1"></aside>
</div>
<p class="vh" id="maphelp">Arrow keys move, plus and minus zoom, zero shows everything, Enter \
opens the document under the crosshair, V selects what is in view, Escape clears. The list \
beside the map offers every kind of document as a button.</p>
<p class="note noprint gest"><span class="fc">Drag to move. Click the map, then use the wheel \
to zoom. Hold Shift and drag to draw a selection. Press / to search.</span><span \
class="tc">Two fingers move and zoom the map. Tap a dot to open it.</span></p>"""
