"""Themes: what documents are about, each of them a mixture, over groups, columns and time."""

from html import escape
from typing import Any

import numpy as np

from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.phrases import joined_names, number, percent, section, verb
from tacit.explore.report.report import Report
from tacit.explore.stages.themes import theme_words

__all__ = ["NAV", "PLACE", "data", "words"]

PLACE, NAV = 45, (("themes", "Themes"),)
MAIN = 3  # themes of a document on the page
MOST_VALUES = 12  # of a column


def data(report: Report) -> None:
    """Themes with their words, and their part in documents, groups, columns and periods."""
    report.meta["themes"] = None
    if not report.ran("themes") or not report.shown.mapped:
        return
    theta = np.asarray(report.context.arrays("themes")["theta"], np.float64)
    lengths = report.context.arrays("counts")["lengths"].astype(np.float64)
    place, k = report.shown.place, theta.shape[1]
    themes = [
        {
            "size": round(theme["size"], 4),
            "stability": round(theme["stability"], 3),
            "lvl": theme["verdict"],
            "coherence": round(theme["coherence"], 3),
            "words": [
                [clean_line(w), rounded(p), rounded(q), round(inside, 3), uses]
                for w, p, q, inside, uses in theme["words"]
            ],
            "typ": [[place[i], round(v, 3)] for i, v in theme["typical"] if i in place],
        }
        for theme in report.facts["themes"]["themes"]
    ]
    main = np.argsort(-theta, axis=1, kind="stable")[:, : min(MAIN, k)]
    shares = np.take_along_axis(theta, main, axis=1)
    on_map = report.shown.on_map
    report.add_array("themes", main[on_map].astype(np.uint8))
    report.add_array("themeShare", np.rint(255 * shares[on_map]).astype(np.uint8))
    out: dict[str, Any] = {"list": themes, "main": min(MAIN, k)}
    if report.labels is not None:
        out["groups"] = means(theta, report.labels, report.meta["K"], lengths)
    out["columns"] = by_columns(report, theta, lengths)
    time = report.facts["time"]
    if "periods" in time:
        period = report.context.arrays("time")["period"].astype(np.int64)
        out["time"] = means(theta, period, len(time["periods"]), lengths)
        out["periods"] = time["periods"]
    report.meta["themes"] = out


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


def means(theta: np.ndarray, labels: np.ndarray, kinds: int, weights: np.ndarray) -> list:
    """(kinds, themes) The mixture of all text with each label; labels of -1 count nowhere."""
    some = (labels >= 0) & theta.any(axis=1)
    sums = np.zeros((kinds, theta.shape[1]))
    np.add.at(sums, labels[some], theta[some] * weights[some, None])
    return np.round(sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-9), 4).tolist()


def by_columns(report: Report, theta: np.ndarray, weights: np.ndarray) -> list[dict[str, Any]]:
    """The mixture of every value of the columns with few values."""
    out = []
    for i, field in enumerate(report.facts["fields"].get("fields", [])):
        if len(field["values"]) > MOST_VALUES:
            continue
        codes = report.context.arrays("fields")[f"field{i}"].astype(np.int64)
        table = means(theta, codes, len(field["values"]), weights)
        out.append({"name": cut(clean_line(field["name"]), 40),
                    "values": [cut(clean_line(v), 40) for v in field["values"]],
                    "table": table})  # fmt: skip
    return out[:3]


def words(report: Report) -> str:
    """The table of themes; its rows are drawn by the script."""
    themes = report.meta["themes"]
    if themes is None:
        return ""
    groups = "A document is in one group only, but it can be about several themes."
    lead = groups if "groups" in themes else "A document can be about several themes."
    lead += " The percentage is how much of all text belongs to the theme."
    if "groups" in themes:
        lead += " A cell is the stronger, the more of the group’s text belongs to the theme."
    heat = '<th class="ht">In each group<div class="hh" id="hh" aria-hidden="true"></div></th>'
    body = TABLE.replace("{heat}", heat if "groups" in themes else "")
    return section("themes", "Themes", heading(report), f"<p>{lead}</p>", body)


def heading(report: Report) -> str:
    themes = report.facts["themes"]["themes"]
    firm, total = sum(theme["verdict"] == "firm" for theme in themes), len(themes)
    first = [f"<em><bdi>{escape(', '.join(theme_words(t, 2)))}</bdi></em>" for t in themes[:2]]
    shares = percent(sum(theme["size"] for theme in themes[:2]))
    every = f"the {number(total)} themes"
    how_many = f"{number(firm).capitalize()} of {every}"
    if firm == total:
        how_many = {1: "The one theme", 2: "Both themes"}.get(total, f"All of {every}")
    elif not firm:
        how_many = {1: "No theme", 2: "Neither theme"}.get(total, f"None of {every}")
    out = f"{how_many} {verb(max(firm, 1), 'comes', 'come')} back in a second run"
    if total < 3:  # all of the text
        return out
    return f"{out}; {shares} of the text is about the largest two, {joined_names(first)}"


TABLE = """<div class="ctl"><span id="lamname">Show words that are</span><span>common</span>\
<input type="range" id="lam" min="0" max="100" value="40" aria-label="Show words that are \
common, or distinctive"><span>distinctive</span></div>
<table class="tt" id="tt"><thead><tr><th class="ex"><span class="vh">Details</span></th>\
<th>Words, with their weight in the theme</th><th class="sh">Share of text</th>\
<th class="ts"><span class="t">In a second run</span></th>{heat}</tr></thead>\
<tbody></tbody></table>
<p class="heatread" id="heatread">Open a theme for its words and documents.</p>"""
