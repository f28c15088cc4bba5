"""What the report says of languages, of how documents read, of columns and of time."""

from html import escape
from typing import Any

from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.phrases import Told, count, joined, number, percent, quoted

__all__ = [
    "column_lines", "field_words", "language_figure", "more_method", "more_standfirst",
    "reading_words", "time_lines", "time_words",
]  # fmt: skip

HOW = ((0.8, "almost wholly"), (0.5, "well"), (0.2, "moderately"), (0.05, "a little"))
EASE = (  # what Flesch (1948) calls it, from there on
    (90, "very easy"), (80, "easy"), (70, "fairly easy"), (60, "standard"),
    (50, "fairly difficult"), (30, "difficult"), (-1e9, "very difficult"),
)  # fmt: skip
MOST_LINES = 4
MOVED = 0.05  # by how much the share of a group must change to be told
FOLLOW = 0.2  # agreement past chance that the summary tells


# --- Languages ---


def language_figure(told: Told) -> list[tuple[str, str]]:
    """The languages for the list of facts."""
    found = told.meta["languages"]
    if found is None:
        return []
    n = max(found["n"], 1)
    shown = [each for each in found["listed"][:3] if each[2] >= max(2, 0.005 * n) or n < 2]
    parts = [f"{name} {share(size / n)}" for _, name, size in shown]
    more = sum(size for *_, size in found["listed"][len(shown) :])
    parts += [f"others {share(more / n)}"] if more else []
    parts += [f"unknown {share(found['unknown'] / n)}"] if found["unknown"] else []
    return [("Language", escape(", ".join(parts)))]


def share(value: float) -> str:
    """A share in percent that never rounds something to nothing or to all.

    >>> share(0.001), share(0.998), share(0.5), share(1.0)
    ('<1%', '>99%', '50%', '100%')
    """
    if 0 < value < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= value < 1 else percent(value)


# --- The summary ---


def more_standfirst(told: Told) -> list[str]:
    """A paragraph on languages, columns and time, where they say something."""
    out = [*language_sentences(told), *follow_sentences(told), *time_sentences(told)]
    return [" ".join(out)] if out else []


def language_sentences(told: Told) -> list[str]:
    found = told.meta["languages"]
    if found is None or found["n"] < 2:
        return []
    n = found["n"]
    telling = [(name, size / n) for _, name, size in found["listed"] if size >= 0.03 * n]
    if len(telling) < 2:
        if found["unknown"] > 0.5 * n:
            return [f"The language of {percent(found['unknown'] / n)} of the documents could "
                    "not be told."]  # fmt: skip
        return []
    said = joined([f"{name} ({percent(part)})" for name, part in telling[:4]])
    out = f"They are in {number(len(telling))} languages: {said}"
    out += f"; {percent(found['unknown'] / n)} could not be told" if found["unknown"] else ""
    out += "."
    if (found.get("adjusted") or 0) >= 0.5:
        out += " <b>The groups largely follow the language</b>, not only the subject."
    return [out]


def follow_sentences(told: Told) -> list[str]:
    """The column that the groups follow best."""
    ranked = followed(told)
    if not ranked or ranked[0]["adjusted"] < FOLLOW:
        return []
    best = ranked[0]
    name = f"“<bdi>{escape(best['name'])}</bdi>”"
    return [
        f"Compared afterwards, the groups follow the column {name} "
        f"{how(best['adjusted'])} (V-measure {best['v']:.2f}; 1 is perfect)."
    ]


def time_sentences(told: Told) -> list[str]:
    time = told.meta["time"]
    if time is None:
        return []
    first, last = span(time)
    out = [f"The documents run from {first} to {last}."]
    if said := moved(told):
        out.append(f"{said}.")
    elif time["rising"] and time["falling"]:
        out.append(
            f"{words_of(time['rising'], 3)} come up over time; "
            f"{words_of(time['falling'], 3)} fade."
        )
    return out


def words_of(listed: list[dict[str, Any]], most: int) -> str:
    return joined([f"“<bdi>{escape(each['word'])}</bdi>”" for each in listed[:most]])


def span(time: dict[str, Any]) -> tuple[str, str]:
    first, last = time["periods"][0], time["periods"][-1]
    return first.split("\N{EN DASH}")[0], last.split("\N{EN DASH}")[-1]


def moved(told: Told) -> str:
    """The groups that grow and shrink the most, if they do for sure, in words."""
    time, groups = told.meta["time"], told.meta["groups"]
    if "moves" not in time:
        return ""
    change = [late - early for early, late in zip(time["early"], time["late"], strict=True)]
    parts: list[str] = []
    for sign, verb in ((1, "grows"), (-1, "shrinks")):
        of = " of the documents" if not parts else ""
        g = max(range(len(change)), key=lambda g: sign * change[g])
        if time["moves"][g] == sign and sign * change[g] >= MOVED:
            parts.append(
                f"{quoted(groups[g])} {verb} from {percent(time['early'][g])} to "
                f"{percent(time['late'][g])}{of}"
            )
    return ", ".join(parts)


# --- Reading ---


def reading_words(told: Told) -> dict[str, str]:
    """Heading and words of the section on reading."""
    found = told.meta["reading"]
    if found is None:
        return {}
    words, sentence = found["words"]["at"], found["sentence_words"]["at"]
    if told.facts["ingest"]["documents"] == 1:
        heading = f"{count(round(words[2]), 'word')}, {sentence[2]:.0f} to a sentence"
    else:
        low, high = round(words[1]), round(words[3])
        heading = f"Half of the documents have {low:,} to {high:,} words"
        heading += f"; a typical sentence has {sentence[2]:.0f}"
    out = [f"Words have {found['word_letters']['at'][2]:.1f} letters in a typical document."]
    if "variety" in found:
        window = told.facts["reading"]["window"]
        different = found["variety"]["at"][2] * window
        out.append(f"Of {window} words in a row, {different:.0f} are different.")
    if "ease" in found:
        ease, n = found["ease"]["at"][2], found["ease"]["n"]
        name = next(word for least, word in EASE if ease >= least)
        out.append(
            f"Reading ease, for the {count(n, 'English document')} of "
            f"{told.facts['reading']['least_words']} words or more, is {ease:.0f} at the "
            f"middle, which Flesch calls {name}; higher is easier."
        )
    out += extremes(told)
    return {"reading_heading": heading, "reading_words": " ".join(out)}


def extremes(told: Told) -> list[str]:
    """Groups that read unlike the others: their middle is past the quartiles of all."""
    found, groups = told.meta["reading"], told.meta["groups"]
    said = []
    for name, more, less in (
        ("words", "has the longest documents", "has the shortest documents"),
        ("sentence_words", "has the longest sentences", "has the shortest sentences"),
        ("ease", "is the easiest to read", "is the hardest to read"),
    ):
        by = found.get(name, {}).get("groups") or []
        middles = [(part[2], g) for g, part in enumerate(by) if part]
        if len(middles) < 2:
            continue
        low, high = found[name]["at"][1], found[name]["at"][3]
        (least, a), (most, b) = min(middles), max(middles)
        if most > high:
            said.append(f"{quoted(groups[b])} {more} ({most:,.0f} at the middle)")
        if least < low:
            said.append(f"{quoted(groups[a])} {less} ({least:,.0f} at the middle)")
    if not said:
        many = told.meta["grouped"] and told.meta["K"] > 1
        return ["No group reads much unlike the rest."] if many else []
    return [f"{joined(said)}."]


# --- Columns ---


def field_words(told: Told) -> dict[str, str]:
    """Heading and words of the section on columns."""
    columns = told.meta["columns"]
    if not columns:
        return {}
    ranked = followed(told)
    named = f"“<bdi>{escape(columns[0]['name'])}</bdi>”"
    if ranked:
        best = f"“<bdi>{escape(ranked[0]['name'])}</bdi>”"
        if ranked[0]["adjusted"] >= HOW[-1][0]:
            heading = f"The groups follow {best} {how(ranked[0]['adjusted'])}"
            if len(ranked) > 1 and ranked[-1]["adjusted"] < HOW[-1][0]:
                last = f"“<bdi>{escape(ranked[-1]['name'])}</bdi>”"
                heading += f", and {last} not at all"
        else:
            names = joined([f"“<bdi>{escape(each['name'])}</bdi>”" for each in ranked[:3]])
            heading = f"The groups have nothing to do with {names}"
    else:
        telling = sum(bool(words) for words in columns[0]["words"])
        known = sum(value != "(none)" for value in columns[0]["values"])
        heading = f"{telling} of {known} values of {named} have words of their own"
    words = (
        "Columns that came along with the documents, which nothing above was made from. The "
        "words set the documents with a value apart from the others; a word is listed only if "
        "it stands out more than any word would by chance."
    )
    if ranked:
        words += (
            ' <span class="wideonly">A cell is darker the more of the value&rsquo;s documents '
            "are in the group of its colour; groups stand in the order of the tree.</span>"
        )
    return {"fields_heading": heading, "fields_words": words}


def followed(told: Told) -> list[dict[str, Any]]:
    """Columns that groups can be compared with, the best first."""
    some = [each for each in told.meta["columns"] if each.get("v") is not None]
    return sorted(some, key=lambda each: -each["adjusted"])


def how(index: float) -> str:
    return next((word for least, word in HOW if index >= least), "not at all")


def column_lines(told: Told) -> list[str]:
    """Which columns are not compared, and why."""
    found = told.facts["fields"]
    if "skipped" in found or not told.facts["ingest"]["documents"]:
        return []
    others = [(name, why) for name, role, why in found["columns"] if role == "other"]
    if not found["columns"]:
        return ["No columns came along to compare the documents by."]
    lines = [
        f"Column “{cut(clean_line(name), 40)}” {why}: not compared."
        for name, why in others[:MOST_LINES]
    ]
    if len(others) > MOST_LINES:
        lines.append(f"{len(others) - MOST_LINES} more columns are not compared either.")
    return lines


# --- Time ---


def time_words(told: Told) -> dict[str, str]:
    """Heading and words of the section on time."""
    time = told.meta["time"]
    if time is None:
        return {}
    first, last = span(time)
    heading = moved(told)
    if not heading and time["rising"]:
        heading = f"{words_of(time['rising'], 3)} come up over time"
    if not heading:
        heading = f"{first} to {last}: no group and no word changes for sure"
    source = (
        f"the column “<bdi>{escape(time['source'])}</bdi>”"
        if time["source"]
        else "the heads of the documents"
    )
    words = f"Dates are from {source}; each bar is a {escape(time['unit'])}."
    if time["sizes"]:
        best = max(range(len(time["sizes"])), key=lambda i: time["sizes"][i])
        words += f" Most documents, {time['sizes'][best]:,}, are from {time['periods'][best]}."
    passed = (
        f"{time['found']:,} pass; about 5% of those may be false alarms. Numbers: share of the "
        "first and of the last third of the documents."
        if time["found"]
        else "none passes."
    )
    tested = (
        "Do documents with the word come later than others of about the same length? Of "
        f"{time['asked']:,} words, {passed}"
    )
    return {"time_heading": heading, "time_words": words, "trend_words": tested}


def time_lines(told: Told) -> list[str]:
    """What could not be read of the dates, or why there is no time line."""
    found = told.facts["time"]
    if "skipped" in found or not found["documents"]:
        return []
    out = []
    if unread := found.get("unreadable"):
        such = ", ".join(f"“{cut(clean_line(each), 30)}”" for each in found["unread"][:2])
        out.append(f"{unread:,} date(s) that could not be read, such as {such}.")
    if "source" in found and (missing := found["missing"]):
        out.append(f"{missing:,} document(s) without a date.")
    if outside := found.get("outside"):
        out.append(f"{outside:,} date(s) far from all others, not on the time line.")
    if "periods" not in found:
        if found["in_header"]:
            had = found["in_header"]
            out.append(
                f"{had:,} document(s) with a date in the header: too few for a time line."
            )
        else:
            out.append(f"No time line: {found['why']}.")
    return out


# --- Method ---


def more_method(told: Told) -> list[tuple[str, str]]:
    """How languages, reading, columns and time were found, and what was left out."""
    meta, facts = told.meta, told.facts
    rows = []
    if meta["languages"]:
        rows.append(("Languages", "function words of ten languages; unknown where they are few "
                     "or two languages compete"))  # fmt: skip
    if meta["reading"]:
        said = "variety in a moving window of 50 words (Covington and McFall 2010)"
        said += "; reading ease (Flesch 1948)" if "ease" in meta["reading"] else ""
        rows.append(("Reading", said))
    if meta["columns"]:
        rows.append(("Fields", "words by log-odds with an informative prior (Monroe, Colaresi "
                     "and Quinn 2008); V-measure (Rosenberg and Hirschberg 2007)"))  # fmt: skip
    if meta["time"]:
        rows.append(("Trends", "Mantel's (1963) test within five strata of length, 5% false "
                     "discoveries (Benjamini and Hochberg 1995)"))  # fmt: skip
    for why in facts.values():
        if "left_out" in why:
            rows.append(("Left out", clean_line(why["skipped"])))
    for name, effort in meta["efforts"].items():
        less = f"{clean_line(str(name))[:40]}: {clean_line(str(effort))[:20]}"
        rows.append(("Less effort", f"{less}, to stay within the memory"))
    return rows
