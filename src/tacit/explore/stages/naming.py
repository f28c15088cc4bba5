"""Names of groups: up to three words or phrases that people would say.

A term names a group if its documents use it more than the other documents of the same parent:

    score  =  z * sqrt(log2(ratio)),    ratio  =  frequency inside / frequency outside

where z is the difference of the log-odds inside and outside over its standard deviation, with
an informative Dirichlet prior (Monroe et al. 2008): the counts in all documents of the parent.
So what is frequent in the group comes before rare words that no other group has. Long
documents count as if they were of usual length, and the document that has most of a term is
left out: one full of it does not name a group. No two siblings share a term: it goes to the
one it scores highest in. Left out is what stands between the same words and marks in most of
its places: a form that is filled in ("Quote, Profile, Research"), not a subject. A term
becomes a phrase where its neighbor is the same in many of its places ("interest rates"),
between different words: in one sentence that is repeated all words are neighbors. Dunning's
likelihood ratio tests the pair. A phrase is written as most often in the group, with the
function words that belong to it ("New York", "Bank of England"). Of a name and its initials
("European Union", "EU") only the better is used.

Words for a subject recur in the same document, other words hardly ever ("easier"); so a
term counts less the more seldom it recurs in the documents that hold it.

Monroe, Colaresi and Quinn (2008), Fightin' words: lexical feature selection and evaluation for
identifying the content of political conflict. Political Analysis 16. Dunning (1993), Accurate
methods for the statistics of surprise and coincidence. Computational Linguistics 19. Katz
(1996), Distribution of content words and phrases in text and language modelling. Natural
Language Engineering 2.
"""

import re
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.explore.report.clean_text import given_titles, title_and_opening
from tacit.explore.stages.korean import is_hangul
from tacit.explore.stages.languages import CODES, NAMES, UNKNOWN, WRITTEN
from tacit.explore.stages.stage import Context
from tacit.explore.stages.unspaced import is_run, with_whole_words, word_of_pair
from tacit.explore.stages.word_forms import (
    abbreviates,
    forms_of_one,
    plain_form,
    without_article,
)
from tacit.explore.stages.wording import Sample, Wording

__all__ = [
    "NAMELESS", "Named", "context_wording", "is_language_name", "name_groups", "name_them",
    "shown_name",
]  # fmt: skip

NAMELESS = "no words of its own"
WORDS = 14  # listed for every group
IN_NAME = 3
CLEARLY = 1.5  # times its frequency in the other documents
ENOUGH = 8.0  # times: a term that is rarer elsewhere scores no higher
LEAST_RECURRENT = 0.1  # a word that hardly ever recurs in a document scores as if this often
COVERAGE = 0.04  # of the documents of a group must hold a term of its name, if any does
CANDIDATES = 40  # terms of a group, at most
ACTIVE = 0.05  # of the documents of a group: the function words of their language are left out
UNSURE = 0.3  # of the documents with a known language: below, those of all languages are too
FOREIGN = 0.5  # of the documents that hold a word: it is a function word of their languages
# Of the places of a term that a phrase needs: with a neighbor that scores, with any, and of
# four words.
TOGETHER, MOSTLY_TOGETHER, ALWAYS = 0.3, 0.6, 0.9
# Of the documents of known language, which must be half of all: those in the languages of a
# group; at most, those of its siblings; those in a language that is one of two or three; and
# those in the languages of a group that has more.
KNOWN, ONE_LANGUAGE, OTHERS, SEVERAL, MANY_LANGUAGES = 0.5, 0.7, 0.3, 0.15, 0.9
FEWEST = 3  # places of a phrase
SIGNIFICANT = 10.83  # likelihood ratio at p = 0.001
FORM = 0.6  # of the places of a term that are in a few surroundings: it is part of a form
PARTLY = 0.4  # of these places, at least, in each of the surroundings
MOSTLY = 0.8  # of the places of a term before a point ("Sen."), of a word with a capital
SHORTENED = 4  # letters of an abbreviation, at most
SURROUNDINGS = ((-3, -2, -1), (1, 2, 3), (-2, -1, 1, 2))  # places around it
PLACES = 300  # of a term that are examined, about
LONGEST = 5  # words of a phrase with its function words
PARTICLES = {"da", "de", "del", "der", "di", "du", "la", "le", "van", "von"}  # of names


def name_them(
    context: Context,
    labels: np.ndarray,
    groups: list[dict[str, Any]],
    wording: Wording | None = None,
) -> list[dict[str, Any]]:
    """The facts of groups with their names, the words that set them apart, and the title of
    the most typical document. Group i has the documents with label i."""
    wording = wording or context_wording(context)
    documents = context.documents()
    titles = given_titles(documents)

    def title(group: dict[str, Any]) -> str:
        row = group["typical"][0]
        return title_and_opening(documents[row], titles[row] if titles else None)[0]

    return [
        {**group, "name": named.name, "words": named.words or group["words"],
         "title": title(group) if group["typical"] else ""}
        for group, named in zip(groups, name_groups(wording, labels), strict=True)
    ]  # fmt: skip


def context_wording(context: Context) -> Wording:
    """What the names of a project are made of."""
    counts = context.matrix("counts", "counts")
    return Wording.of(counts, context.words(), context.documents())


def shown_name(group: dict[str, Any]) -> list[str]:
    """The name of a group from its facts; its first words where it has none.

    >>> shown_name({"name": ["oil prices"], "words": []}), shown_name({"words": []})
    (['oil prices'], ['no words of its own'])
    """
    name = group.get("name")
    if isinstance(name, list) and name and all(isinstance(part, str) for part in name):
        return name
    return [str(word) for word, *_ in group["words"][:IN_NAME]] or [NAMELESS]


class Named(NamedTuple):
    """The name of a group, and the words that set it apart."""

    name: list[str]  # as displayed
    words: list[list[Any]]  # word, score, fraction of documents inside and outside


def name_groups(wording: Wording, labels: np.ndarray) -> list[Named]:
    """Name the groups 0 to k - 1 by contrast with each other; documents with a negative label
    are outside the parent.

    Siblings never share a word of their names.
    """
    inside = labels >= 0
    if not inside.any():
        return []
    k = int(labels.max()) + 1
    scores = Scores.of(wording, labels, k)
    allowed = np.stack([content_terms(wording, labels == g) for g in range(k)])
    ranked = np.where(allowed, scores.score, 0.0)
    owner = ranked.argmax(axis=0)
    names: dict[int, Named] = {}
    taken = set[str]()
    for g in np.argsort(-scores.sizes, kind="stable").tolist():
        rows = labels == g
        name = Name(wording, rows, allowed[g], ranked[g], taken)
        languages = language_names(wording, rows, inside)
        name.parts += [language for language in languages if language.casefold() not in taken]
        if len(name.parts) < 2:  # words of one language would not name several
            name.fill(np.where(owner == g, ranked[g], 0.0), scores.frequency[g])
        taken |= {part.casefold() for part in name.parts}
        words = contrast_words(wording, rows, scores, g, ranked[g])
        names[g] = Named(name.parts or [NAMELESS], words)
    named = [names[g] for g in range(k)]
    nameless = [g for g in range(k) if named[g].name == [NAMELESS]]
    for number, g in enumerate(nameless[1:], start=2):  # a number tells them apart
        named[g] = named[g]._replace(name=[f"{NAMELESS} ({number})"])
    return named


# --- Scores ---


class Scores(NamedTuple):
    """Every term in every group."""

    score: np.ndarray  # (k, T) 0 where a term is not clearly more frequent
    frequency: np.ndarray  # (k, T) fraction of the documents of the group that hold it
    outside: np.ndarray  # (k, T) and of the other documents
    sizes: np.ndarray  # (k,)

    @classmethod
    def of(cls, wording: Wording, labels: np.ndarray, k: int) -> "Scores":
        from tacit.cluster.descriptions import log_odds

        rows = np.flatnonzero(labels >= 0)
        table = sp.csr_array(wording.terms.table[rows])
        codes, n = labels[rows], len(rows)
        members = sp.csr_array((np.ones(n), (codes, np.arange(n))), shape=(k, n))
        counts, present = (
            np.asarray((members @ values).todense(), np.float64)
            for values in (table, table > 0)
        )
        sizes = np.bincount(codes, minlength=k).astype(np.float64)
        outside = (present.sum(axis=0) - present) / np.maximum(n - sizes, 1)[:, None]
        total = counts.sum(axis=0)
        most, other = largest(table, codes, k), total - counts
        odds = [  # with the prior; what is left out counts as one more word
            log_odds(np.append(a - b + total, b.sum()), np.append(c + total, 0.0))[:-1]
            for a, b, c in zip(counts, most, other, strict=True)
        ]
        size = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        rest = np.maximum(total.sum() - size, 1.0)
        ratio = (counts / size) / np.maximum(other / rest, 1e-12)
        score = np.where(ratio >= CLEARLY, np.maximum(odds, 0.0), 0.0)
        score *= np.sqrt(np.log2(np.clip(ratio, 1.0, ENOUGH)))
        score *= np.sqrt(np.clip(wording.terms.recurrence, LEAST_RECURRENT, 1.0))
        return cls(score, present / np.maximum(sizes, 1)[:, None], outside, sizes)


def largest(table: sp.csr_array, codes: np.ndarray, k: int) -> np.ndarray:
    """(groups, terms) The count of the document that has most of each term."""
    out = np.zeros((k, table.shape[1]))
    for g in np.flatnonzero(np.bincount(codes, minlength=k) > 1):
        out[g] = table[codes == g].max(axis=0).toarray().ravel()
    return out


def content_terms(wording: Wording, rows: np.ndarray) -> np.ndarray:
    """Which terms may name these documents: no function words of their languages, nor of
    those of the few that hold the term ("que" of two Spanish letters among English ones)."""
    votes, size = votes_of(wording, rows), int(rows.sum())
    active = votes >= max(1.0, ACTIVE * size)
    if votes.sum() < UNSURE * size:
        active[:] = True
    stops = wording.terms.stops
    out: np.ndarray = np.any(stops[:, active], axis=1)
    listed = np.flatnonzero(stops.any(axis=1))
    spoken = wording.languages[rows][:, None] == np.arange(len(CODES))
    holds = (wording.terms.table[rows][:, listed] > 0).T @ spoken.astype(np.float64)
    own = np.where(stops[listed], holds, 0.0).sum(axis=1)
    out[listed] |= (own > 0) & (own >= FOREIGN * holds.sum(axis=1))
    return np.logical_not(out)


def votes_of(wording: Wording, rows: np.ndarray) -> np.ndarray:
    """How many of these documents are in each language."""
    guess = wording.languages[rows]
    return np.bincount(guess[guess != UNKNOWN], minlength=len(CODES))


def language_names(wording: Wording, rows: np.ndarray, inside: np.ndarray) -> list[str]:
    """The languages of a group, if nearly all of it is in them, most of its siblings are in
    none of them, and most of the documents in them are its own; of many, the first two and how
    many more."""
    siblings = inside & ~rows
    votes, others = votes_of(wording, rows), votes_of(wording, siblings)
    for script in set(WRITTEN.values()) - WRITTEN.keys():  # as its language that is known
        at = CODES.index(script)
        best = max((CODES.index(c) for c in WRITTEN if WRITTEN[c] == script), key=votes.item)
        if votes[best]:
            for counts in (votes, others):
                counts[best], counts[at] = counts[best] + counts[at], 0
    known, order = votes.sum(), np.argsort(-votes, kind="stable")
    if known < KNOWN * rows.sum() or others.sum() < KNOWN * siblings.sum():
        return []
    reached = votes[order].cumsum()
    if not known or reached[0] >= ONE_LANGUAGE * known:
        size = 1
    elif reached[IN_NAME - 1] >= ONE_LANGUAGE * known:
        size = int((votes[order[:IN_NAME]] >= SEVERAL * known).sum())
    else:
        size = int(np.searchsorted(reached, MANY_LANGUAGES * known)) + 1
    order = order[:size]
    if votes[order].sum() < ONE_LANGUAGE * known or not known:
        return []
    elsewhere = others[order].sum()
    if elsewhere > OTHERS * others.sum() or elsewhere >= votes[order].sum():
        return []
    names = [language_name(CODES[i]) for i in order]
    if len(names) > IN_NAME:
        names = [*names[: IN_NAME - 1], f"{len(names) - IN_NAME + 1} other languages"]
    return names


def language_name(code: str) -> str:
    """A language in the name of a group."""
    name = NAMES[code]
    return name if name.endswith("script") else f"{name}-language"


def is_language_name(part: str) -> bool:
    """Whether a part of a name is from ``language_names``.

    >>> [is_language_name(part) for part in ("Danish-language", "9 other languages", "whale")]
    [True, True, False]
    """
    return part in map(language_name, CODES) or bool(re.fullmatch(r"\d+ other languages", part))


def contrast_words(
    wording: Wording, rows: np.ndarray, scores: Scores, g: int, ranked: np.ndarray
) -> list[list[Any]]:
    """The words that set a group apart, as they were counted; for pairs of characters of
    scripts without spaces, the words that they are from."""
    order = np.argsort(-ranked, kind="stable")[: 3 * WORDS]
    listed: list[list[Any]] = [
        [str(wording.terms.names[t]), *(float(x) for x in (ranked[t], scores.frequency[g, t],
         scores.outside[g, t]))]
        for t in order
        if ranked[t] > 0
    ]  # fmt: skip
    if pairs := [word for word, *_ in listed if is_run(word)]:
        text = wording.texts_in(rows)
        listed = with_whole_words(listed, {pair: word_of_pair(text, pair) for pair in pairs})
    return listed[:WORDS]


# --- From terms to what is displayed ---


class Name:
    """The name of one group as it grows."""

    def __init__(
        self, wording: Wording, rows: np.ndarray, allowed: np.ndarray, scores: np.ndarray,
        taken: set[str],
    ) -> None:  # fmt: skip
        self.wording, self.rows, self.allowed = wording, rows, allowed
        self.scores, self.taken = scores, taken
        self.parts: list[str] = []
        self.used: dict[int, str] = {}  # terms and what they are shown in
        self.joining = set[str]()  # function words in the parts

    def fill(self, scores: np.ndarray, frequency: np.ndarray) -> None:
        """Add the best terms: first those that many documents hold, then any; words of forms
        only where there are no others."""
        order = np.argsort(-scores, kind="stable")[:CANDIDATES]
        order = order[scores[order] > 0]
        common, forms = frequency[order] >= COVERAGE, []
        for term in [*order[common].tolist(), *order[~common].tolist()]:
            if len(self.parts) == IN_NAME:
                return
            if self.is_form(term):
                forms.append(term)
            else:
                self.add(term)
        for term in forms:
            if not self.parts:
                self.add(term)

    def add(self, term: int) -> None:
        word = str(self.wording.terms.names[term])
        if term in self.used:
            return
        phrase, part = [term], None
        if is_run(word):
            shown = self.joined_run(word)
        else:
            longer = self.phrase(term)
            parts = {self.used[t] for t in longer if t in self.used}
            if len(parts) < 2:  # "base class" after "class" takes its place
                phrase, part = longer, next(iter(parts), None)
            shown = self.written(phrase)
            if part is not None and (shown is None or " " in part):
                phrase, part = [term], None
                shown = self.written(phrase)
        if shown is None or shown.casefold() in self.taken:
            return
        others = [other for other in self.parts if other != part]
        if any(abbreviates(shown, other) or abbreviates(other, shown) for other in others):
            return
        words = [word for other in others for word in self.content(other)]
        if any(forms_of_one(a, b) for a in words for b in self.content(shown)):
            return
        self.used |= dict.fromkeys(phrase, shown)
        if part is None:
            self.parts.append(shown)
        else:
            self.parts[self.parts.index(part)] = shown

    def content(self, shown: str) -> list[str]:
        """The words of a part without the function words in it."""
        return [word for word in shown.split() if word.casefold() not in self.joining]

    def is_form(self, term: int) -> bool:
        """Whether most places of a term are in the same surroundings, punctuation in it; or it
        is an abbreviation, as a point follows nearly all; or the end of a name in a sentence
        that is repeated."""
        sample = self.wording.sample
        at = sample.places(term, self.rows)
        at = at[:: max(1, len(at) // PLACES)]
        if len(np.unique(sample.rows[at])) < FEWEST + 2:
            return False
        needed = FORM * len(at)
        after = sample.surface[np.minimum(at + 1, len(sample.terms) - 1)]
        short = len(str(self.wording.terms.names[term])) <= SHORTENED
        if (short and (after == sample.point).mean() > MOSTLY) or self.is_fragment(at):
            return True
        alike = np.zeros(len(at), bool)
        for around in SURROUNDINGS:
            places = at[:, None] + np.array(around)
            near = sample.surface.take(places, mode="clip")
            near[sample.rows.take(places, mode="clip") != sample.rows[at][:, None]] = -1
            rows, of, counts = np.unique(near, axis=0, return_inverse=True, return_counts=True)
            usual = (counts >= PARTLY * needed) & (rows >= 0).all(axis=1)
            usual[usual] = [any(is_mark(sample.forms[i]) for i in row) for row in rows[usual]]
            alike |= usual[of.ravel()]
        return bool(alike.sum() >= needed)

    def is_fragment(self, at: np.ndarray) -> bool:
        """Whether most places are after a capitalized function word, in one sentence."""
        alike = self.together(at, np.array([-1]), inside=False)
        return alike is not None and not self.is_varied(alike - 1, 2)

    # --- Phrases ---

    def phrase(self, term: int) -> list[int]:
        """The term with the neighbors that it usually has here."""
        phrase = [term]
        for _ in range(3):
            longer = self.longer(phrase)
            if longer is None:
                break
            phrase = longer
        return phrase

    def longer(self, phrase: list[int]) -> list[int] | None:
        """The phrase with its most common neighbor; None where that is not common enough."""
        sample = self.wording.sample
        at = places_of(sample, phrase, self.rows)
        if len(at) < FEWEST:
            return None
        best: tuple[int, int, int] | None = None
        for side, step in ((1, len(phrase)), (-1, -1)):
            places = at + step
            neighbors = sample.terms[places[(places >= 0) & (places < len(sample.terms))]]
            neighbors = neighbors[neighbors >= 0]
            if not len(neighbors):
                continue
            values, counts = np.unique(neighbors, return_counts=True)
            j = int(counts.argmax())
            if side < 0 and self.whole(at, len(phrase))[1] == -1:
                continue  # "New" is added in the end: "Yankees" may follow "York"
            if best is None or counts[j] > best[0]:
                best = int(counts[j]), int(values[j]), side
        if best is None:
            return None
        count, other, side = best
        if other in phrase or count < FEWEST or not self.may_stand(other):
            return None
        needed = MOSTLY_TOGETHER if len(phrase) > 1 or self.scores[other] <= 0 else TOGETHER
        needed = ALWAYS if len(phrase) > 2 else needed
        if count < needed * len(at) or not self.significant(phrase, other, count):
            return None
        size, left = len(phrase), int(side < 0)
        at = at[sample.terms.take(at + (-1 if left else size), mode="clip") == other]
        if not self.is_varied(at - left, size + 1):
            return None
        return [*phrase, other] if side > 0 else [other, *phrase]

    def is_varied(self, at: np.ndarray, size: int) -> bool:
        """Whether a phrase stands between different words: in one sentence that is repeated,
        all words are neighbors."""
        sample = self.wording.sample
        around = sample.surface.take(at[:, None] + np.array([-1, size]), mode="clip")
        words = {i: sample.forms[i].lower() for i in np.unique(around).tolist()}
        words = {i: word if word.isalpha() else "" for i, word in words.items()}
        return len({(words[a], words[b]) for a, b in around.tolist()}) > 1

    def may_stand(self, term: int) -> bool:
        """Whether a term may be part of a phrase: not a function word here, and not a word of
        scripts without spaces."""
        names = self.wording.terms.names
        return term >= 0 and bool(self.allowed[term]) and not is_run(str(names[term]))

    def whole(self, at: np.ndarray, size: int) -> tuple[np.ndarray, int, int]:
        """Where a phrase stands with the function words that belong to it, and how far it then
        reaches: a capitalized one before it (New York); before or after it one in lower case
        and another word with a capital (Bank of England)."""
        start, stop = 0, size
        if not all(self.is_capitalized(at + j) for j in range(size)):
            return at, start, stop
        for before, after in ((1, 0), (2, 0), (1, 0), (0, 2)):  # United + States of + America
            around = np.r_[start - before : start, stop : stop + after]
            if stop - start + len(around) > LONGEST:
                continue
            alike, first = self.together(at, around, inside=start < 0), start - before
            if alike is not None and self.is_varied(alike + first, stop + after - first):
                at, start, stop = alike, first, stop + after
        return at, start, stop

    def together(self, at: np.ndarray, around: np.ndarray, inside: bool) -> np.ndarray | None:
        """The places that have the same words around them, if these are most of the places and
        the words belong to a name; any word with a capital may, once ``inside`` one."""
        sample = self.wording.sample
        near = at[:, None] + around
        near = near[(near >= 0).all(axis=1) & (near < len(sample.terms)).all(axis=1)]
        keys = [" ".join(sample.forms[i] for i in row).lower() for row in sample.surface[near]]
        (best, count), *_ = Counter(keys).most_common(1) or [("", 0)]
        if count < max(FEWEST, MOSTLY_TOGETHER * len(at)):
            return None
        near = near[[key == best for key in keys]]
        words = best.split()
        if len(words) != len(around) or not all(w.isalpha() and len(w) > 1 for w in words):
            return None
        joint = len(words) - 1 if around[0] < 0 else 0  # next to the phrase
        content = [self.may_stand(int(sample.terms[places[0]])) for places in near.T]
        capital = [self.is_capitalized(places) for places in near.T]
        alone = len(words) == 1
        if [i for i, each in enumerate(capital) if not each] != [joint][alone:]:
            return None
        function = [i for i, each in enumerate(content) if not each]
        if function != [joint] and not (alone and inside):
            return None
        self.joining |= {word for word, each in zip(words, content, strict=True) if not each}
        return near[:, 0] - around[0]

    def is_capitalized(self, places: np.ndarray) -> bool:
        """Whether the words at some places have a capital that no sentence asks for."""
        sample = self.wording.sample
        clear = places[~(sample.first[places] | sample.capitals[places])]
        capital = [sample.forms[i][0].isupper() for i in sample.surface[clear].tolist()]
        return bool(capital) and sum(capital) > MOSTLY * len(capital)

    def significant(self, phrase: list[int], other: int, both: int) -> bool:
        sample = self.wording.sample
        a = len(places_of(sample, phrase, self.rows))
        b = len(sample.places(other, self.rows))
        n = int(self.rows[sample.rows].sum())
        return likelihood_ratio(both, a, b, n) >= SIGNIFICANT

    # --- Writing ---

    def written(self, phrase: list[int]) -> str | None:
        """A phrase as most often written in the group, the first words of sentences aside."""
        sample = self.wording.sample
        at = places_of(sample, phrase, self.rows)
        if not len(at):
            at = places_of(sample, phrase, np.ones(len(self.rows), bool))
        if not len(at):
            return self.wording.terms.bases[phrase[0]] if len(phrase) == 1 else None
        at, start, stop = self.whole(at, len(phrase))
        terms = dict(enumerate(phrase))
        capitals = bool(sample.capitals[at].mean() > 0.5)  # how else it is written is unknown
        at = at[~sample.capitals[at]] if not sample.capitals[at].all() else at
        forms: Counter[str] = Counter()
        for i, first in zip(at.tolist(), sample.first[at + start].tolist(), strict=True):
            parts = [self.bare(sample.forms[sample.surface[i + j]], terms.get(j))
                     for j in range(start, stop)]  # fmt: skip
            if capitals:
                parts = [self.without_capitals(part, bool(j)) for j, part in enumerate(parts)]
            forms[" ".join(parts)] += 1 if first else 10
        return plain_form(forms)

    def without_capitals(self, form: str, inside: bool) -> str:
        """A word of a sentence in capitals as it would be written elsewhere. A function word
        inside a name is small; up to three letters may be initials, unless they are three that
        are also written otherwise."""
        if not form.isupper():
            return form
        small, whole = form.lower(), form.capitalize()
        if inside and (small in self.joining or small in PARTICLES):
            return small
        known = len(form) == 3 and not {small, whole}.isdisjoint(self.wording.sample.forms)
        return whole if known or len(form) > 3 else form

    def bare(self, form: str, term: int | None) -> str:
        """A written form without particle or article."""
        if term is None:
            return form
        base = self.wording.terms.bases[term]
        if is_hangul(form):
            return base
        return form if without_article(base) != base else without_article(form)

    def joined_run(self, pair: str) -> str | None:
        """The word of a script without spaces that a pair of its characters is from; None
        where the pair crosses the border of two."""
        text = self.wording.texts_in(self.rows)
        word = word_of_pair(text, pair)
        if word is None or any(
            word in other or other in word or word[:2] in other or other + word[1:] in text
            or word + other[1:] in text for other in self.parts
        ):  # fmt: skip
            return None
        return word


def is_mark(form: str) -> bool:
    """Whether a token is punctuation; the end of a sentence or paragraph is not."""
    return not form.isspace() and form not in ".!?…" and not any(map(str.isalnum, form))


def places_of(sample: Sample, phrase: list[int], rows: np.ndarray) -> np.ndarray:
    """Where a phrase begins."""
    at = sample.places(phrase[0], rows)
    for j, term in enumerate(phrase[1:], start=1):
        at = at[at + j < len(sample.terms)]
        at = at[sample.terms[at + j] == term]
    return at


def likelihood_ratio(both: int, a: int, b: int, n: int) -> float:
    """Dunning's statistic for a pair of words: how often together, each, and all words.

    >>> round(likelihood_ratio(20, 30, 40, 10_000), 1), likelihood_ratio(0, 30, 40, 10_000) < 1
    (194.9, True)
    """
    cells = np.array([[both, a - both], [b - both, n - a - b + both]], np.float64)
    cells = np.maximum(cells, 0.0)
    expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0) / max(cells.sum(), 1.0)
    used = cells > 0
    return float(2 * (cells[used] * np.log(cells[used] / expected[used])).sum())
