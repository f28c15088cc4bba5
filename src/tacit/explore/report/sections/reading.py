"""Reading: how long, varied and easy to read documents are, over all of them and by group."""

from tacit.explore.report.phrases import (
    UNSPACED,
    count,
    joined,
    section,
    the_groups,
    verb,
    whole,
)
from tacit.explore.report.report import Report
from tacit.explore.stages.reading import MEASURES, quartiles

__all__ = ["NAV", "PLACE", "data", "words"]

PLACE, NAV = 70, (("reading", "Reading"),)
FEWEST, MUCH = 10, 1.5  # documents of a group that is mentioned; times as long, or as short
EASE = (  # what Flesch (1948) calls it, from there on
    (90, "very easy"), (80, "easy"), (70, "fairly easy"), (60, "standard"),
    (50, "fairly difficult"), (30, "difficult"), (-1e9, "very difficult"),
)  # fmt: skip


def data(report: Report) -> None:
    """Quantiles of every measure over all documents, and by group."""
    rows = {}
    measures = report.facts["reading"]["measures"] if report.ran("reading") else {}
    for name in MEASURES:
        if (every := measures.get(name)) is None:
            continue
        by = []
        if report.labels is not None:
            values = report.context.arrays("reading")[name]
            parts = [quartiles(values[report.labels == g]) for g in range(report.meta["K"])]
            by = [part and part["at"] for part in parts]
        rows[name] = {"n": every["documents"], "at": every["at"], "groups": by}
    report.meta["reading"] = rows or None


def words(report: Report) -> str:
    """The table of quartiles, and what stands out in it."""
    measures = report.meta["reading"]
    if measures is None:
        return ""
    length, out = measures["words"]["at"], []
    if report.n_read == 1:
        heading = count(whole(length[2]), "word")
    else:
        low, high = whole(length[1]), whole(length[3])
        many = f"{low:,} to {high:,} words" if low < high else f"about {count(low, 'word')}"
        heading = f"Half of the documents have {many}"
    if "sentence_words" in measures:
        sentence = f"{whole(measures['sentence_words']['at'][2])}"
        one = report.n_read == 1
        heading += (
            f", {sentence} to a sentence" if one else f"; a typical sentence has {sentence}"
        )
    else:
        out.append("The texts do not show where sentences end, so these are not measured.")
    if report.unspaced:
        out.append(UNSPACED)
    else:
        letters = measures["word_letters"]["at"][2]
        out.append(f"Words have {letters:.1f} letters in a typical document.")
    if "variety" in measures:
        window = report.facts["reading"]["window"]
        different = measures["variety"]["at"][2] * window
        out.append(f"Of {window} consecutive words, {different:.0f} are different.")
    if "ease" in measures:
        ease, n = measures["ease"]["at"][2], measures["ease"]["n"]
        name = next(word for least, word in EASE if ease >= least)
        these = "the English document" if n == 1 else f"the {n:,} English documents"
        out.append(
            f"The reading ease of {these} with {report.facts['reading']['least_words']} words "
            f"or more is {verb(n, '', 'typically ')}{signed(ease)}, which Flesch calls {name}; "
            "higher is easier."
        )
    body = f"""<div id="readings"></div>
<p class="note readkey">{KEY}</p>"""
    lead = " ".join([*out, *extremes(report)])
    return section("reading", "Reading", heading, f"<p>{lead}</p>", body)


KEY = "Bar: the middle half of the documents. Thin line: all but the lowest and highest 5%. \
Dot: the median, which half are below. The vertical line is the median of all documents."


def signed(value: float) -> str:
    """A whole number with a true minus sign."""
    return f"{value:,.0f}".replace("-", "−")


def extremes(report: Report) -> list[str]:
    """Groups that read unlike the others: their median is outside the quartiles of all, or half
    as long again. A few documents differ by chance and are not mentioned."""
    measures, groups = report.meta["reading"], report.meta["groups"]
    said: dict[int, list[str]] = {}  # by group
    for name, more, less, unit in (
        ("words", "the longest documents", "the shortest documents", " words"),
        ("sentence_words", "the longest sentences", "the shortest sentences", " words"),
        ("ease", "the easiest documents to read", "the hardest documents to read", ""),
    ):
        by = measures.get(name, {}).get("groups") or []
        middles = [(part[2], g) for g, part in enumerate(by) if part]
        if len(middles) < 2:
            continue
        low, high = measures[name]["at"][1], measures[name]["at"][3]
        (least, a), (most, b) = min(middles), max(middles)
        middle = measures[name]["at"][2]
        if name != "ease":
            low, high = max(low, middle / MUCH), min(high, middle * MUCH)
        if most > high and groups[b]["n"] >= FEWEST:
            said.setdefault(b, []).append(f"{more} (typically {signed(most)}{unit})")
        if least < low and groups[a]["n"] >= FEWEST:
            said.setdefault(a, []).append(f"{less} (typically {signed(least)}{unit})")
    if not said:
        return ["No group reads much differently from the others."] if report.grouped else []
    return [f"T{the_groups([groups[g]])[1:]} has {joined(has)}." for g, has in said.items()]
