"""What each section of the report says in words."""

from html import escape

from tacit.explore.report.phrases import (
    Told,
    count,
    joined,
    label,
    left_out,
    minus,
    number,
    percent,
    plain,
    quoted,
)

__all__ = ["choice_words", "group_words", "map_words", "oddity_words", "word_words"]


def map_words(told: Told) -> dict[str, str]:
    """Heading and words of the map, and what it can be coloured by."""
    meta = told.meta
    n, total = meta["n"], meta["total"]
    kept = told.facts["map"].get("kept")
    apart = sorted(told.groups("firm"), key=lambda item: -item[1]["inside"])[:3]
    names = [quoted(group) for _, group in apart]
    blend = sorted(told.groups("loose"), key=lambda item: item[1]["inside"])[:3]
    heading = "Documents that use the same words sit together"
    if 0 < len(names) < meta["K"]:
        heading = f"{joined(names)} {'stands' if len(names) == 1 else 'stand'} apart"
        if blend:
            blending = joined([quoted(group) for _, group in blend])
            verb = "blends into its" if len(blend) == 1 else "blend into their"
            heading += f"; {blending} {verb} surroundings"
    words = "Each dot is a document. Documents that use the same words sit together."
    if meta["grouped"]:
        words += " Paler dots are less certain, and names in italics mark loose groups."
    caption = "Near means similar. Island sizes and the gaps between islands mean little."
    if n < total:
        caption = (
            f"{n:,} of {total:,} documents, drawn evenly from every group, over the density of "
            f"all. {caption}"
        )
    if "worded" in meta:
        caption = (
            f"All {n:,} documents. Titles, openings and words are here for {meta['worded']:,}, "
            f"drawn evenly from every group. {caption}"
        )
    options = [("group", "Group")] if meta["grouped"] else []
    options += [
        (f"f{i}", f["name"] if f.get("guessed") else f"{f['name']} (supplied)")
        for i, f in enumerate(meta["fields"])
    ]
    options += [("confidence", "Certainty")] if meta["grouped"] else []
    options += [("length", "Length")]
    return {
        "map_heading": heading,
        "map_words": words
        + (
            ""
            if kept is None
            else f" Of each document's ten nearest, {percent(kept)} are still near on the map."
        ),
        "map_label": f"Map of {n:,} documents",
        "map_caption": caption,
        "colors": "".join(
            f'<option value="{value}">{escape(text)}</option>' for value, text in options
        ),
    }


def group_words(told: Told) -> dict[str, str]:
    """Heading and words of the groups, and the strip of all of them."""
    meta = told.meta
    k, firm, loose = meta["K"], told.groups("firm"), told.groups("loose")
    if not meta["grouped"]:
        return {}
    if len(firm) == k:
        heading = f"All {number(k)} groups hold firm"
    elif firm:
        hold = "holds" if len(firm) == 1 else "hold"
        heading = f"{number(len(firm)).capitalize()} of {k} groups {hold} firm"
    else:
        heading = f"None of the {number(k)} groups holds firm"
    if loose:
        heading += f". {number(len(loose)).capitalize()} should not be trusted on " + (
            "its own" if len(loose) == 1 else "their own"
        )
    strip = "".join(
        f'<a class="g{i}" href="#groups" data-group="{i}" title="{escape(label(group, 3))}: '
        f'{group["n"]:,} documents, {group["lvl"]}"><i class="fill-{group["lvl"]}"></i>'
        f"<span><bdi>{escape(group['name'][0])}</bdi></span></a>"
        for i, group in enumerate(meta["groups"])
    )
    return {
        "groups_heading": heading,
        "groups_words": (
            f"To test each group the analysis was repeated {meta['repeats']} times; each time "
            f"{left_out(told)}. Every tick is one repeat: at 1 the group came back "
            "unchanged, below 0.5 it fell apart. The dot is the median. The tree joins groups "
            "that use similar words."
        ),
        "repeats": str(meta["repeats"]),
        "strip": strip,
        "strip_title": f"The collection in {k} groups.",
    }


def choice_words(told: Told) -> dict[str, str]:
    """Whether the number of groups is well founded, in words."""
    choice, meta = told.facts["groups"].get("choice"), told.meta
    if not choice:
        return {}
    best, k = choice["best"], meta["K"]
    if told.facts["groups"].get("asked"):
        heading = f"{k} groups were asked for" if k > 1 else "One group was asked for"
        heading += (
            "; the measures agree"
            if best == k
            else (
                "; the measures speak for none"
                if best == 1
                else f"; the measures speak for {best}"
            )
        )
    elif best == 1:
        heading = "No number of groups is better than chance"
    else:
        other = [s for s in choice["reasons"] if s.startswith("Alone would prefer")]
        heading = f"{best} is a reasonable choice" + (
            ", but no single number is right" if other else ", and the measures agree"
        )
    ks = [*meta["whatks"], *([k] if k > 1 else [])] or [2]
    return {
        "how_heading": heading,
        "how_words": "".join(
            f"<p>{plain([s])}</p>" for s in [*choice["reasons"], *choice["notes"]]
        ),
        "k_least": str(min(ks)),
        "k_most": str(max(ks)),
    }


def word_words(told: Told) -> dict[str, str]:
    """Heading and words of the section on words."""
    counted, meta = told.facts["counts"], told.meta
    if "skipped" in counted:
        return {}
    once, types = counted["once"], counted["types"]
    zipf = "How often the most frequent word occurs, the next, and so on."
    if (steep := meta["zipfSlope"]) is not None:
        usual = ", as is usual for natural text" if -1.45 <= steep <= -0.7 else ""
        zipf = f"Falls with slope {minus(steep)} past the tenth word{usual}."
    heaps = f"{count(types, 'different word')}; {once:,} occur once."
    if (growth := meta["heapsSlope"]) is not None:
        kind = "New words keep arriving" if growth > 0.25 else "Few new words arrive"
        heaps = f"{kind} (exponent {minus(growth)}). {once:,} of {types:,} occur once."
    heading = "How words are distributed"
    if meta["terms"]:
        heading = f"Look up one of {len(meta['terms']):,} words to see what is used like it"
    return {"words_heading": heading, "zipf_words": zipf, "heaps_words": heaps}


def oddity_words(told: Told) -> dict[str, str]:
    """How many copies, outliers and empty documents there are, in words."""
    meta, facts = told.meta, told.facts
    exact, near = (kind["count"] for kind in meta["copies"])
    far = facts["outliers"].get("beyond_three", 0)
    blanks = facts["meaning"].get("blank", 0)
    heading = "No copies, and nothing far from everything else"
    if "left_out" in facts["outliers"]:
        heading = "No copies"
    elif "left_out" in facts["duplicates"]:
        heading = "Nothing far from everything else"
    if exact or near:
        heading = (
            f"{count(exact + near, 'pair')} overlap{'s' if exact + near == 1 else ''} heavily"
        )
        heading += f", {exact:,} of them word for word" if exact else ""
    elif far:
        heading = f"{count(far, 'document')} {'is' if far == 1 else 'are'} unlike all others"
        if "left_out" not in facts["duplicates"]:
            heading = f"No copies; {heading}"
    if "skipped" in facts["outliers"]:
        words = escape(facts["outliers"]["skipped"])
    elif far:
        words = (
            "Of the documents of 25 words or more, those that are more than three deviations "
            f"farther from their nearest ones than is usual here: {far:,}."
        )
    else:
        words = "No document is much farther from its nearest ones than is usual here."
    return {
        "odd_heading": heading,
        "no_copies": no_copies(facts["duplicates"]),
        "far_words": words,
        "blank_words": f"{count(blanks, 'document')} could not be placed.",
    }


def no_copies(found: dict) -> str:
    if "skipped" in found:
        return escape(found["skipped"])
    share = percent(found["threshold"])
    return f"No two documents share {share} of their runs of four words."
