"""What the report says of how it was made, and what to keep in mind."""

import platform
import shlex
from html import escape
from importlib.metadata import version
from typing import Any

from tacit._version import __version__
from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.more_words import more_method
from tacit.explore.report.phrases import Told, minus, percent

__all__ = ["caveats", "command", "method", "times", "versions"]

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")


def caveats(told: Told) -> list[tuple[str, str]]:
    """What to keep in mind, a claim and its reason each."""
    meta, facts = told.meta, told.facts
    out = []
    if meta["n"]:
        kept = facts["map"]["kept"]
        out.append(
            (
                "A map bends distances.",
                f"Of each document's ten closest documents, {percent(kept)} are among the "
                "nearest thirty on the map. Hover a dot to see lines to its true "
                "neighbours.",
            )
        )
    if meta["grouped"]:
        total, unsure = meta["total"], meta["unsure"]
        out += [
            (
                "Groups were found, not given.",
                "Nothing but the words of the documents was used to find them."
                + "".join(agreement(f) for f in meta["fields"] if "agreement" in f),
            ),
            (
                "Every document gets a group.",
                f"{unsure:,} of {total:,} ({percent(unsure / max(total, 1))}) keep theirs in "
                "fewer than half of the repeats. Treat those as unplaced.",
            ),
            (
                "Names are only words.",
                "A group is named after the words that set it apart, which is no summary.",
            ),
        ]
    if facts["ingest"]["partial"]:
        out.append(
            (
                "Some of the input is missing.",
                escape(cut(clean_line(facts["ingest"]["partial"][0]), 200)),
            )
        )
    out.append(
        (
            "Openings are shortened.",
            "This page holds titles and openings only, without control characters and "
            "e-mail addresses; the project folder holds the documents.",
        )
    )
    return out


def agreement(field: dict[str, Any]) -> str:
    """How far the groups agree with a column that came along."""
    name, index = escape(field["name"]), field["agreement"]
    words = ((0.8, "almost wholly"), (0.5, "well"), (0.2, "moderately"), (0.05, "a little"))
    how = next((word for least, word in words if index >= least), "no better than by chance")
    return (
        f" Compared afterwards, they agree with <bdi>{name}</bdi> {how} (adjusted Rand index "
        f"{minus(index)}; 1 is perfect, 0 is chance)."
    )


def method(told: Told) -> list[tuple[str, str]]:
    """What was done, a name and a sentence each."""
    facts, meta = told.facts, told.meta
    rows = [("Effort", told.settings.effort)]
    rows.append(
        (
            "Words",
            "runs of letters and digits with their apostrophes and hyphens, in lower case",
        )
    )
    meaning = facts["meaning"]
    if "skipped" not in meaning:
        rows += [
            (
                "Vocabulary",
                f"{meaning['words']:,} words that are in several documents and not "
                "in more than half",
            ),
            ("Weights", "logarithmic term frequency times inverse document frequency, squared"),
            (
                "Latent space",
                f"LSA, {meaning['directions']} directions, "
                f"{percent(meaning['explained'])} of the variance",
            ),
        ]
    if "skipped" not in facts["groups"]:
        k = facts["groups"]["k"]
        asked = "asked for" if facts["groups"].get("asked") else "chosen"
        rows.append(("Groups", f"spherical k-means, k = {k} ({asked}), ten starts"))
    if meta["grouped"]:
        rows.append(
            (
                "Verdicts",
                "median Jaccard overlap in the repeats: firm from 0.75, "
                "tentative from 0.5, loose below",
            )
        )
    if meta["n"]:
        rows.append(
            (
                "Map",
                "neighbour graph and negative-sampling layout, started from the "
                f"principal axes; {percent(facts['map']['recall'])} of true neighbours "
                "were found",
            )
        )
    copies = facts["duplicates"]
    if "skipped" not in copies:
        least = f"{copies['threshold']:g}"
        rows.append(("Copies", f"Jaccard overlap of runs of four words of at least {least}"))
    return rows + more_method(told)


def versions(told: Told) -> list[tuple[str, str]]:
    """What the result may depend on."""
    rows = [("Tacit", __version__), ("Python", platform.python_version())]
    rows += [(package, version(package)) for package in PACKAGES]
    return [*rows, ("Random seed", str(told.settings.seed))]


def command(told: Told) -> str:
    """What to type to get the same again."""
    settings = told.settings
    source = clean_line(told.facts["ingest"]["source"])
    if source.startswith("the "):  # documents that came from a program
        more = f"k={settings.k}, " if settings.k is not None else ""
        more += f'effort="{settings.effort}", ' if settings.effort != "normal" else ""
        return f"tacit.explore(documents, {more}random_state={settings.seed})"
    source = {"standard input": "-", "--docs": "--docs"}.get(source, shlex.quote(source))
    parts = ["tacit explore", source]
    parts += [f"--k {settings.k}"] if settings.k is not None else []
    parts += [f"--{settings.effort}"] if settings.effort != "normal" else []
    return " ".join([*parts, f"--seed {settings.seed}"])


def times(told: Told) -> str:
    """How long it took, and what took longest."""
    spent = told.meta["timings"]
    if not spent:
        return "Not measured."
    name, most = max(spent, key=lambda item: item[1])
    total = sum(seconds for _, seconds in spent)
    return (
        f"{total:.1f} seconds in all, {percent(most / max(total, 1e-9))} of it on "
        f"&ldquo;{escape(name.lower())}&rdquo;."
    )
