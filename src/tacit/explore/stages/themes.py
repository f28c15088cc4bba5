"""Themes: topics of which every document is a mixture, found by a topic model.

The words are those that people would say (no function words, numbers or remains of markup). A
Gibbs sampler (``tacit.topics.GibbsLDA``) is fitted to an even sample of the documents, so that
its time is bounded, and all documents are folded in. A second chain, on half of the documents
where there are many, says how far each theme can be trusted: the cosine of its words with those
of the theme it is matched with. Without a number of themes a rule chooses one that grows slowly
with the number of documents, 10 for 1,000 and 20 for 10,000, where there is enough text.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Serial
from tacit.core.progress import Callback
from tacit.explore.stages.meaning import fewest
from tacit.explore.stages.stage import Context, Output
from tacit.explore.stages.stop_lists import stop_languages, stop_list
from tacit.explore.stages.unspaced import whole_words, with_whole_words
from tacit.explore.stages.wording import is_short, is_stop, names_nothing

__all__ = ["choose_words", "find_themes", "how_many", "theme_verdict", "theme_words"]

FEWEST = 31  # documents
HALVED = 2000  # documents; a second chain on half of the documents has as many at least
MOST = 30  # themes, where the number is chosen
SAMPLED = {"quick": 150_000, "normal": 300_000, "thorough": 2_000_000}  # tokens to fit to
WORK = 20_000_000  # tokens in all passes, at least
PASSES = 60, 300  # the fewest and the most
ALPHA, ETA = 0.05, 0.05  # priors: documents have few themes, themes few words
TOKENS = 2500  # for each theme
MOST_WORDS = 20_000
MOST_SHARE = 0.5  # of the documents that a word may be in
LISTED = 24  # words of a theme for each end of the relevance slider
TYPICAL = 4  # documents
FIRM, TENTATIVE = 0.85, 0.7  # cosine with the same theme of another chain
MOST_TOKENS = 500  # of a document, in the sample
SPOKEN = 0.02  # of the documents: a language whose function words are left out


def how_many(n: int, tokens: int) -> int:
    """How many themes n documents with so many usable words get.

    >>> [how_many(n, 60 * n) for n in (50, 1000, 10_000, 1_000_000)]
    [2, 10, 20, 30]
    """
    return int(np.clip(min(round(5 * (n / 100) ** 0.3), tokens / TOKENS), 2, MOST))


def theme_verdict(cosine: float) -> str:
    """How far a theme can be trusted, by its cosine with that of another chain.

    >>> theme_verdict(0.9), theme_verdict(0.75), theme_verdict(0.2)
    ('firm', 'tentative', 'loose')
    """
    return "firm" if cosine >= FIRM else "tentative" if cosine >= TENTATIVE else "loose"


def theme_words(theme: dict[str, Any], most: int = 8, weight: float = 0.6) -> list[str]:
    """The most relevant words of a theme from its facts (Sievert and Shirley 2014)."""

    def rank(word: list) -> float:
        _, inside, overall, *_ = word
        return math.log(inside) - (1 - weight) * math.log(overall)

    return [word[0] for word in sorted(theme["words"], key=rank, reverse=True)[:most]]


def find_themes(context: Context) -> Output:
    """The themes of the collection, and how much of each every document has."""
    if context.settings.topics == 0:
        return Output(skipped="Themes were not asked for (--topics none).")
    if why := context.skipped("counts"):
        return Output(skipped=why)
    counts, words = context.matrix("counts", "counts"), context.words()
    n = counts.shape[0]
    if n < FEWEST:
        there = "is 1" if n == 1 else f"are {n}"
        return Output(skipped=f"Themes take {FEWEST} documents; there {there}.")
    used = choose_words(context, words)
    chosen = sp.csr_array(counts[:, used])
    filled = np.flatnonzero(np.diff(chosen.indptr))
    if len(used) < 10 or len(filled) < FEWEST:
        return Output(skipped="Too few words are in several documents to find themes.")
    k = min(context.settings.topics or how_many(len(filled), int(chosen.sum())), len(filled))
    effort = context.settings.effort
    sample = sampled_rows(chosen, filled, SAMPLED[effort])
    passes = int(np.clip(WORK / max(int(sample.sum()), 1), *PASSES))
    half = sample if sample.shape[0] < 2 * HALVED else sp.csr_array(sample[::2])
    seed = context.settings.seed
    # The progress is that of the larger one.
    jobs = [(sample, seed, context.callbacks), (half, seed + 1, ())]
    first, second = context.engine.each(lambda job: fit(k, passes, *job), jobs)
    theta = first.transform(chosen).astype(np.float32)
    theta[np.diff(chosen.indptr) == 0] = 0.0
    output = describe(first, second, theta, chosen, used, words)
    themes = output.facts["themes"]
    listed = (word for theme in themes for word, *_ in theme["words"])
    whole = whole_words(context.documents(), listed)
    for theme in themes:
        theme["words"] = with_whole_words(theme["words"], whole)
    return output


def choose_words(context: Context, words: np.ndarray) -> np.ndarray:
    """The columns of words that can name a theme."""
    spread = context.arrays("counts")["document_counts"]
    n = context.facts("ingest")["documents"]
    often = np.flatnonzero((spread >= fewest(n)) & (spread <= MOST_SHARE * n))
    listed = frozenset().union(*(stop_list(code) for code in spoken_here(context)))
    kept = [
        i for i in often
        if not names_nothing(word := str(words[i])) and not is_short(word)
        and not is_stop(word, listed)
    ]  # fmt: skip
    kept.sort(key=lambda i: (-spread[i], i))
    return np.sort(np.array(kept[:MOST_WORDS], np.int64))


def spoken_here(context: Context) -> list[str]:
    """The languages whose function words are left out; all of them where none is known."""
    known = set(stop_languages())
    if context.skipped("language_guess"):
        return sorted(known)
    facts = context.facts("language_guess")
    least = max(2, SPOKEN * facts["documents"])
    here = [code for code, _, size in facts["languages"] if size >= least and code in known]
    unknown = facts["unknown"] > 0.5 * facts["documents"]
    return sorted(known) if unknown or not here else here


def sampled_rows(counts: sp.csr_array, filled: np.ndarray, most: int) -> sp.csr_array:
    """An even sample of the documents with about ``most`` tokens, long ones scaled down."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()[filled]
    each = np.minimum(lengths, MOST_TOKENS)
    share = min(1.0, most / max(float(each.sum()), 1.0))
    size = max(FEWEST, int(share * len(filled)))
    take = np.unique(np.linspace(0, len(filled) - 1, size).astype(int))
    rows = sp.csr_array(counts[filled[take]])
    scale = np.repeat(each[take] / lengths[take], np.diff(rows.indptr))
    rows.data = np.maximum(1, rows.data * scale).astype(np.int32)
    return rows


def fit(
    k: int, passes: int, rows: sp.csr_array, seed: int, callbacks: Sequence[Callback]
) -> Any:
    from tacit.topics import GibbsLDA

    return GibbsLDA(
        k, max_iter=passes, alpha=ALPHA, eta=ETA, random_state=seed, engine=Serial(),
        callbacks=list(callbacks),
    ).fit(rows)  # fmt: skip


def describe(
    first: Any, second: Any, theta: np.ndarray, counts: sp.csr_array, used: np.ndarray,
    words: np.ndarray,
) -> Output:  # fmt: skip
    """The themes by size with their words, verdicts and typical documents."""
    from tacit.topics import align_topics, coherence, relevance

    lengths = np.asarray(counts.sum(axis=1)).ravel().astype(np.float64)
    sizes = (theta * lengths[:, None]).sum(axis=0, dtype=np.float64)
    sizes /= max(float(sizes.sum()), 1e-12)
    order = np.argsort(-sizes, kind="stable")
    topics, overall = np.asarray(first.topics_), first.topic_sizes_
    _, cosines = align_topics(topics, np.asarray(second.topics_))
    coherent = np.asarray(coherence(first, counts)).ravel()
    use = np.asarray(counts.sum(axis=0)).ravel().astype(np.float64)
    # P(theme | word) by Bayes' rule, from the sample; times the uses of the word in all.
    joint = topics * overall[:, None]
    belongs = joint / np.maximum(joint.sum(axis=0, keepdims=True), 1e-300)
    ends = [relevance(topics, overall, weight) for weight in (1.0, 0.6, 0.0)]
    enough = use >= np.maximum(5, 0.0001 * use.sum())
    themes = []
    for t in order:
        found: dict[int, None] = {}
        for scores in ends:
            ranked = np.argsort(-np.where(enough, scores[t], -np.inf), kind="stable")
            found |= dict.fromkeys(ranked[:LISTED].tolist())
        best = np.argsort(-theta[:, t], kind="stable")[:TYPICAL]
        themes.append({
            "size": float(sizes[t]),
            "stability": float(cosines[t]),
            "verdict": theme_verdict(float(cosines[t])),
            "coherence": float(coherent[t]),
            "words": [
                [str(words[used[w]]), float(topics[t, w]), float(use[w] / use.sum()),
                 float(belongs[t, w]), int(use[w])]
                for w in found
            ],
            "typical": [[int(i), float(theta[i, t])] for i in best if theta[i, t] > 0],
        })  # fmt: skip
    return Output(
        arrays={"theta": np.ascontiguousarray(theta[:, order])},
        facts={"k": len(order), "words": len(used), "themes": themes,
               "fitted": int(first.n_iter_)},
    )  # fmt: skip
