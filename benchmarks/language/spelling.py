"""Spelling correction, against the method of Norvig's essay and symspellpy.

Everybody knows the words of Norvig's big.txt with their counts, and nothing else: no examples
of misspellings. Learning happens in the first call and is not timed. "test set 1" and "test set
2" are his 270 and 400 misspelt words; the quality is the share for which the right word comes
first. He published 75% and 68%, at about 40 words a second; his method (the most frequent word
one edit away, else two) is run here again, written anew. The dozen numbers behind the rules of
Tacit's channel were settled on set 1, aspell's and Birkbeck's lists without the misspellings of
set 2, so set 2 is the test.

"real words" and "misspelt words" are sentences held out from big.txt with one word each
replaced: by another word of the vocabulary one edit away, drawn at random, or by a misspelling
out of the collections. The quality is the F-score of the changes: right ones among those made,
and among those needed. "words alone" is Tacit without context; symspellpy's lookup corrects
word by word.

"clean novels" are pages of six novels of Baum and Thompson, which have no errors: the quality
is the proportion of words that are changed, all of them wrongly. The constants of the search
were chosen with pages of six others. Where TACIT_DATA has no spelling data there is nothing to
measure.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row, Unable

__all__ = ["cases"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SETS = ("norvig_testset1", "norvig_testset2")
PUBLISHED = {"norvig_testset1": 0.75, "norvig_testset2": 0.68}
HELD_OUT = 1_000
NOVELS = 5  # every fifth of the thirty books
PAGES = 50_000  # letters of a book
WRONGLY = 0.01  # of the words of a novel that may be changed


def cases(scale: float) -> list[Case]:
    higher: dict[str, Any] = {"lower_is_better": False, "tolerance": 0.0}
    words = [
        Case(
            f"test set {number}",
            partial(test_set, name, scale),
            (TACIT_WORDS, NORVIG, SYMSPELL_WORDS),
            accuracy,
            measure="accuracy",
            targets={"Norvig": 100.0, "symspellpy": 1.0},
            check=partial(beats_published, name),
            **higher,
        )
        for number, name in enumerate(SETS, 1)
    ]
    texts = [
        Case(
            kind,
            partial(held_out, kind, scale),
            (TACIT_TEXT, TACIT_ALONE, SYMSPELL_TEXT),
            f_score,
            measure="F-score",
            check=context_helps,
            **higher,
        )
        for kind in ("real words", "misspelt words")
    ]
    clean = Case(
        "clean novels",
        partial(novels, scale),
        (TACIT_TEXT, SYMSPELL_TEXT),
        changed,
        measure="words changed",
        tolerance=0.0,
        check=few_changes,
    )
    return [*words, *texts, clean]


# --- Data ---


def loaded(part: str) -> Any:
    from tacit.datasets import load

    folder = data_folder()
    if folder is None or not (folder / "spelling").exists():
        raise Unable("needs the spelling data: set TACIT_DATA")
    return load("spelling", part=part)


def test_set(name: str, scale: float, folder: Path) -> Data:
    pairs = [(str(a), str(b)) for a, b in loaded(name).data]
    whole, pairs = len(pairs), pairs[: max(10, int(len(pairs) * scale))]
    about = f"{name}: {len(pairs)} misspelt words; words and counts from big.txt"
    text = loaded("big").documents[0]
    return {"text": [text], "typed": [a for a, _ in pairs], "meant": [b for _, b in pairs],
            "whole": len(pairs) == whole, "about": about}  # fmt: skip


def held_out(kind: str, scale: float, folder: Path) -> Data:
    """Sentences of big.txt with one wrong word each, and all others to learn from."""
    from tacit.language.spelling_text import sentences_of

    whole = [s for s in sentences_of(loaded("big").documents[0]) if 6 <= len(s) <= 40]
    rng = np.random.default_rng(0)
    order = rng.permutation(len(whole))
    out = max(20, int(HELD_OUT * scale))
    train = [whole[i] for i in sorted(order[out:])]
    counts = Counter(word for sentence in train for word in sentence)
    swaps = real_swaps(counts) if kind == "real words" else misspellings(counts)
    wrong, places, right = [], [], []
    for i in sorted(order[:out]):
        sentence = whole[i]
        possible = [t for t, word in enumerate(sentence) if swaps(word)]
        if not possible:
            continue
        t = int(rng.choice(possible))
        choices = swaps(sentence[t])
        changed = [*sentence]
        changed[t] = choices[int(rng.integers(len(choices)))]
        wrong.append(" ".join(changed))
        places.append(t)
        right.append(sentence[t])
    about = f"{len(wrong):,} sentences with one error each; {len(train):,} to learn from"
    text = [" ".join(sentence) for sentence in train]
    return {"text": text, "wrong": wrong, "places": places, "right": right, "about": about}


def novels(scale: float, folder: Path) -> Data:
    """Pages of six novels, and the text of the words to learn from."""
    from tacit.datasets import load
    from tacit.language.spelling_text import sentences_of

    books = list(load("oz").documents or ())[2::NOVELS]
    size = int(PAGES * scale)
    pages = [" ".join(book[size : 2 * size].split()) for book in books]
    count = sum(len(sentence) for page in pages for sentence in sentences_of(page))
    about = f"{len(pages)} novels, {count:,} words; words and counts from big.txt"
    big = loaded("big").documents
    return {"text": [big[0]], "wrong": pages, "words": count, "about": about}


def real_swaps(counts: Counter[str]):
    known = {word for word, n in counts.items() if n >= 5 and word.isascii() and word.isalpha()}

    @cache
    def swaps(word: str) -> list[str]:
        return sorted((edits(word) & known) - {word}) if word in known else []

    return swaps


def misspellings(counts: Counter[str]):
    from tacit.text import optimal_string_alignment

    found: dict[str, set[str]] = {}
    for part in (*SETS, "birkbeck", "aspell"):
        for typed, meant in loaded(part).data:
            a, b = str(typed).lower(), str(meant).lower()
            fits = a.isalpha() and b.isalpha() and a not in counts and b in counts
            if fits and optimal_string_alignment(a, b) <= 2:
                found.setdefault(b, set()).add(a)
    return lambda word: sorted(found.get(word, ()))


# --- Quality ---


def accuracy(data: Data, answer: Answer) -> float:
    right = zip(answer["words"], data["meant"], strict=True)
    return float(np.mean([a.lower() == b.lower() for a, b in right]))


def f_score(data: Data, answer: Answer) -> float:
    """Of changes: right ones among those made, and among the errors."""
    made = fixed = 0
    for before, after, t, right in zip(
        data["wrong"], answer["texts"], data["places"], data["right"], strict=True
    ):
        old, new = before.split(), after
        made += sum(a != b for a, b in zip(old, new, strict=True))
        fixed += new[t] == right
    errors = len(data["wrong"])
    return 2 * fixed / (made + errors)


def changed(data: Data, answer: Answer) -> float:
    """Proportion of the words of a text without errors that are changed."""
    return answer["changes"] / data["words"]


def few_changes(data: Data, rows: dict[str, Row]) -> list[Check]:
    ours = rows.get("Tacit")
    if ours is None or ours.quality is None:
        return []
    text = f"at most {WRONGLY:.0%} of the words are changed: {ours.quality:.2%}"
    return [Check(text, ours.quality <= WRONGLY)]


def beats_published(name: str, data: Data, rows: dict[str, Row]) -> list[Check]:
    ours = rows.get("Tacit")
    if ours is None or ours.quality is None or not data["whole"]:
        return []
    speed = len(data["typed"]) / min(ours.seconds)
    return [
        Check(f"at least Norvig's published {PUBLISHED[name]:.0%}: {ours.quality:.1%}",
              ours.quality >= PUBLISHED[name]),
        Check(f"at least 4,000 words a second: {speed:,.0f}", speed >= 4_000),
    ]  # fmt: skip


def context_helps(data: Data, rows: dict[str, Row]) -> list[Check]:
    with_it, without = rows.get("Tacit"), rows.get("Tacit, words alone")
    if with_it is None or without is None or with_it.quality is None or without.quality is None:
        return []
    text = f"better with context than without: {with_it.quality:.3f}, {without.quality:.3f}"
    return [Check(text, with_it.quality > without.quality)]


# --- Contenders ---


kept: dict[str, Any] = {}  # what a process has learned


def once(make: Any, name: str) -> Any:
    if name not in kept:
        kept[name] = make()
    return kept[name]


def tacit_words(data: Data, threads: int) -> Answer:
    from tacit.language import SpellingCorrector

    model = once(lambda: SpellingCorrector(order=1).fit(data["text"]), "words")
    return {"words": model.predict(data["typed"])}


def tacit_text(data: Data, threads: int, *, order: int) -> Answer:
    from tacit.language import SpellingCorrector

    model = once(lambda: SpellingCorrector(order=order).fit(data["text"]), "text")
    found = model.correct_many(data["wrong"])
    pairs = zip(data["wrong"], found, strict=True)
    return {
        "texts": [words_after(before, done) for before, done in pairs],
        "changes": sum(len(done.changes) for done in found),
    }


def words_after(before: str, done: Any) -> list[str]:
    """The words after correction, one for each before."""
    changed = {change.start: change.after for change in done.changes}
    out, at = [], 0
    for word in before.split():
        out.append(changed.get(at, word))
        at += len(word) + 1
    return out


def word_counts(texts: Sequence[str]) -> Counter[str]:
    return Counter(word for text in texts for word in re.findall(r"[a-z]+", text.lower()))


def edits(word: str) -> set[str]:
    """Everything one edit away."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    return {
        *(a + b[1:] for a, b in cuts if b),
        *(a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1),
        *(a + c + b[1:] for a, b in cuts if b for c in LETTERS),
        *(a + c + b for a, b in cuts for c in LETTERS),
    }


def most_frequent(counts: Counter[str], word: str) -> str:
    """The most frequent word one edit away, else two: the method of the essay."""
    if word in counts:
        return word
    near = edits(word)
    known = near & counts.keys()
    if not known:
        known = {w for each in near for w in edits(each) if w in counts}
    return max(sorted(known), key=counts.__getitem__) if known else word


def norvig_words(data: Data, threads: int) -> Answer:
    counts = once(lambda: word_counts(data["text"]), "counts")
    return {"words": [most_frequent(counts, word.lower()) for word in data["typed"]]}


def symspell(data: Data) -> Any:
    from symspellpy import SymSpell

    made = SymSpell(max_dictionary_edit_distance=2, prefix_length=7)
    for word, n in word_counts(data["text"]).items():
        made.create_dictionary_entry(word, n)
    return made


def symspell_words(data: Data, threads: int) -> Answer:
    from symspellpy import Verbosity

    made = once(lambda: symspell(data), "symspell")
    found = (made.lookup(word.lower(), Verbosity.TOP, 2) for word in data["typed"])
    return {"words": [
        each[0].term if each else word for word, each in zip(data["typed"], found, strict=True)
    ]}  # fmt: skip


def symspell_text(data: Data, threads: int) -> Answer:
    from symspellpy import Verbosity

    made = once(lambda: symspell(data), "symspell")

    def best(word: str) -> str:
        bare = word.strip(".,;:!?\"'()").lower()
        found = made.lookup(bare, Verbosity.TOP, 2) if bare.isalpha() else ()
        return word if not found or found[0].term == bare else found[0].term

    before = [text.split() for text in data["wrong"]]
    texts = [[best(word) for word in words] for words in before]
    pairs = zip(before, texts, strict=True)
    changes = sum(a != b for old, new in pairs for a, b in zip(old, new, strict=True))
    return {"texts": texts, "changes": changes}


TACIT_WORDS = Contender("Tacit", tacit_words)
NORVIG = Contender(
    "Norvig's method, in Python", norvig_words, package="collections", rival="Norvig"
)
SYMSPELL_WORDS = Contender(
    "symspellpy lookup", symspell_words, "symspellpy", "symspellpy", rival="symspellpy"
)
TACIT_TEXT = Contender("Tacit", partial(tacit_text, order=3))
TACIT_ALONE = Contender("Tacit, words alone", partial(tacit_text, order=1))
SYMSPELL_TEXT = Contender(
    "symspellpy lookup", symspell_text, "symspellpy", "symspellpy", rival="symspellpy"
)
