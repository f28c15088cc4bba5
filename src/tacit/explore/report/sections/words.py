"""Words: neighbors of a word, words that identify a group, and how words are distributed."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.explore.report.clean_text import clean_line
from tacit.explore.report.phrases import UNSPACED, count, minus, section, verb
from tacit.explore.report.report import Report
from tacit.explore.report.search_index import as_sets, varints
from tacit.explore.report.sections.summary import spoken
from tacit.explore.stages.stop_lists import stop_list
from tacit.explore.stages.wording import is_short, is_stop, names_nothing

__all__ = ["NAV", "PLACE", "data", "slope", "words"]

PLACE, NAV = 60, (("words", "Words"),)
DISTINCT, TOP = 24, 40  # words


def data(report: Report) -> None:
    """Words that can be looked up, in which documents they are, and how words are spread."""
    counted, meta, shown = report.facts["counts"], report.meta, report.shown
    lists = ["terms", "termDf", "termTf", "unnamed", "distinct", "zipf", "heaps", "top"]
    meta |= {name: [] for name in lists}
    meta |= {"word0": "", "wordNear": 0, "zipfSlope": None, "heapsSlope": None}
    report.add_array("post", np.zeros(0, int))
    if not report.ran("counts"):
        return
    meta |= {
        "zipf": counted["zipf"],
        "heaps": counted["heaps"],
        "zipfSlope": slope(counted["zipf"], 10),
        "heapsSlope": slope(counted["heaps"], 100),
        "top": [[clean_line(w), uses, spread] for w, uses, spread in counted["top"][:TOP]],
    }
    if not report.ran("words") or not shown.mapped:
        return
    arrays, totals = report.context.arrays("words"), report.context.arrays("counts")
    columns = arrays["words"]
    names = [clean_line(str(word)) for word in report.context.words()[columns]]
    meta |= {
        "terms": names,
        "termDf": totals["document_counts"][columns].tolist(),
        "termTf": totals["totals"][columns].tolist(),
        "unnamed": no_names(report, names),
        "wordNear": arrays["neighbors"].shape[1],
    }
    report.add_array("wordNear", arrays["neighbors"].astype(np.int64))
    cosine = np.clip(arrays["cosine"], 0, 1)
    report.add_array("wordSim", np.rint(255 * cosine).astype(np.uint8))
    counts = report.context.matrix("counts", "counts")
    table = as_sets(sp.csr_array(counts[shown.worded][:, columns]))
    report.add_array("post", np.frombuffer(varints(table), np.uint8))
    if report.grouped:
        meta["distinct"] = identifying_words(report, counts, columns, names)
        best = meta["groups"][meta["firstG"]]
        meta["word0"] = next((w for w, *_ in best["words"] if w in set(names)), names[0])
    else:
        named = np.delete(np.arange(len(names)), meta["unnamed"])
        spread = np.array(meta["termDf"])
        meta["word0"] = names[named[spread[named].argmax()] if len(named) else spread.argmax()]


def no_names(report: Report, words: list[str]) -> list[int]:
    """The places of words that are no part of a name: function words of the languages of the
    collection, single letters, numbers, markup."""
    guess = report.facts["language_guess"]
    codes = [] if "skipped" in guess else [code for code, *_ in spoken(guess)]
    lists = [stop_list(code) for code in {"en", *codes}]
    return [
        i
        for i, word in enumerate(words)
        if names_nothing(word) or is_short(word) or any(is_stop(word, each) for each in lists)
    ]


def identifying_words(
    report: Report, counts: sp.csr_array, columns: np.ndarray, names: list[str]
) -> list[list[Any]]:
    """Words most of whose documents are in one group: [word, group, inside, in all]."""
    labels: Any = report.labels
    inside, k = np.flatnonzero(labels >= 0), report.meta["K"]
    present = sp.csr_array(counts[inside][:, columns])
    present.data = np.ones_like(present.data)
    member = (np.ones(len(inside)), (np.arange(len(inside)), labels[inside]))
    by = (present.T @ sp.csr_array(member, (len(inside), k))).toarray()
    total = by.sum(axis=1)
    score = np.where(by >= 5, by / np.maximum(total, 1)[:, None] * np.sqrt(by), 0)
    score[by < 0.5 * total[:, None]] = 0
    score[report.meta["unnamed"]] = 0  # function words go with long documents
    ranked = np.argsort(-score, axis=0, kind="stable")
    words: list[list] = []
    for rank in range(min(len(names), DISTINCT)):
        for g in range(k):
            word = ranked[rank, g]
            if score[word, g] > 0 and len(words) < DISTINCT:
                words.append([names[word], g, int(by[word, g]), int(total[word])])
    return sorted(words, key=lambda item: -item[2] / item[3])


def slope(curve: list[list[int]], least: int) -> float | None:
    """Of the line through a curve on logarithmic axes, past its beginning."""
    points = [(x, y) for x, y in curve if x >= least and y > 0]
    if len(points) < 5:
        return None
    x, y = np.log(np.array(points, np.float64)).T
    return round(float(np.polyfit(x, y, 1)[0]), 3) if np.ptp(x) > 0 else None


def words(report: Report) -> str:
    """The lookup, the curves and, live, the language model."""
    counted, meta = report.facts["counts"], report.meta
    if not report.ran("counts"):
        return ""
    heading, lookup = "How words are distributed", ""
    if meta["terms"]:
        heading = f"Look up any of {len(meta['terms']):,} words to see which are used like it"
        lookup = LOOKUP
    if not meta["terms"] or not report.grouped:
        lookup += TOP_WORDS
    zipf = "The frequency of the most frequent word, of the next, and so on."
    if (fall := meta["zipfSlope"]) is not None:
        usual = ", as is usual for natural text" if -1.45 <= fall <= -0.7 else ""
        zipf = f"Slope {minus(fall)} beyond the tenth word{usual}."
    once, types = counted["once"], counted["types"]
    occur = f"{verb(once, 'occurs', 'occur')} once."
    heaps = f"{count(types, 'different word')}; {f'{once:,}' if once else 'none'} {occur}"
    if (growth := meta["heapsSlope"]) is not None:
        kind = "New words keep appearing" if growth > 0.25 else "Few new words appear"
        heaps = f"{kind} (exponent {minus(growth)}). {once:,} of {types:,} words {occur}"
    identifying = IDENTIFYING if meta["distinct"] else ""
    body = f"""<div class="wgrid"><div>
{lookup}
</div><div>{identifying}</div></div>
<details class="fold" id="about" open><summary><h3 class="sub3">About the words</h3></summary>
<div class="two"><div><h4>Word frequency by rank</h4><p class="note">{zipf}</p><div \
id="zipf"></div></div><div><h4>Vocabulary growth</h4><p class="note">{heaps}</p><div \
id="heaps"></div></div></div>
{LANGUAGE if report.live else ""}</details>"""
    lead = f"<p>{UNSPACED}</p>" if report.unspaced else ""
    return section("words", "Words", heading, lead, body)


LOOKUP = """<form class="wform" id="wf"><label class="vh" for="w">Look up a word</label><input \
class="field" id="w" autocomplete="off" spellcheck="false" autocapitalize="none"><button \
class="btn">Look up</button></form><div class="sugs" id="sugs" aria-live="polite"></div><div \
id="nb" class="nbx"></div>"""
TOP_WORDS = """<div class="block"><h3 class="sub3">The most frequent words</h3><ul class="wd \
two" id="topwords"></ul></div>"""
IDENTIFYING = """<h3 class="sub3">Words that identify a group</h3><p \
class="note">Of all documents that use the word, how many are in the group shown by the \
dot.</p><ul class="wd side1" id="wd"></ul>"""
LANGUAGE = """<div class="block" id="language"><h4>In the collection’s own \
words</h4><p class="note">A model of which word follows which in these documents. It imitates \
them and knows nothing.</p>
<form class="ask" id="lf"><label class="vh" for="lq">Begin a sentence</label><input \
class="field" id="lq" autocomplete="off" spellcheck="false" placeholder="Begin a sentence" \
maxlength="2000"><button class="btn go">Write on</button></form>
<div class="chips" id="chips"></div>
<div class="knobs"><span><label class="lbl" for="lt">Temperature <output id="lto" for="lt">\
</output></label><input type="range" id="lt" min="0.2" max="1.6" step="0.1" value="1"></span>\
<span><label class="lbl" for="ls">Seed</label><input class="field short" id="ls" type="number" \
min="0" max="999999" step="1" value="0"></span></div>
<div id="written"></div></div>"""
