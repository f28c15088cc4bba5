"""Spelling on real misspellings: Norvig's test sets and the text he learned from."""

import os
from pathlib import Path

import numpy as np
import pytest

from tacit.language import SpellingCorrector
from tacit.language.spelling_text import sentences_of

DATA = Path(os.environ.get("TACIT_DATA", ""))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("TACIT_DATA") or not (DATA / "spelling").exists(),
        reason="TACIT_DATA has no spelling",
    ),
]


@pytest.fixture(scope="module")
def big():
    from tacit.datasets import load

    return load("spelling", part="big").documents[0]


@pytest.mark.parametrize(
    ("part", "published", "least"),
    [("norvig_testset1", 0.75, 0.79), ("norvig_testset2", 0.68, 0.72)],
)
def test_more_words_are_right_than_in_norvigs_essay(big, part, published, least):
    from tacit.datasets import load

    pairs = load("spelling", part=part).data
    model = fitted(big)
    best = model.predict([str(typed) for typed, _ in pairs])
    right = np.mean([a.lower() == b.lower() for a, b in zip(best, pairs[:, 1], strict=True)])
    assert right > least > published


def test_examples_of_misspellings_help(big):
    from tacit.datasets import load

    test = load("spelling", part="norvig_testset2").data
    unseen = {str(typed).lower() for typed, _ in test}
    pairs = [
        (str(typed), str(meant))
        for typed, meant in load("spelling", part="birkbeck").data
        if str(typed).lower() not in unseen and "_" not in typed + meant
    ]
    model = SpellingCorrector(order=1).fit([big], pairs=pairs)
    typed = [str(each) for each in test[:, 0]]

    def share(words):
        return np.mean([a.lower() == b.lower() for a, b in zip(words, test[:, 1], strict=True)])

    assert share(model.predict(typed)) > share(fitted(big).predict(typed))


def test_context_finds_words_that_exist_but_do_not_belong(big):
    """Pairs of common words swapped for each other in sentences held out from the text."""
    pairs = {"form": "from", "from": "form", "then": "than", "than": "then", "were": "where",
             "where": "were", "quiet": "quite", "quite": "quiet", "thing": "think"}  # fmt: skip
    sentences = [each for each in sentences_of(big[:3_500_000]) if 6 <= len(each) <= 30]
    held, train = sentences[::25], [each for i, each in enumerate(sentences) if i % 25]
    wrong, right = [], []
    for sentence in held:
        at = next((i for i, word in enumerate(sentence) if word in pairs), None)
        if at is not None:
            right.append(" ".join(sentence))
            wrong.append(" ".join([*sentence[:at], pairs[sentence[at]], *sentence[at + 1 :]]))
    text = [" ".join(each) for each in train]
    # A text where one word in ten is wrong.
    alone = SpellingCorrector(order=1, error_rate=0.1).fit(text)
    context = SpellingCorrector(order=3, error_rate=0.1).fit(text)
    assert len(wrong) > 100
    assert share_solved(alone, wrong, right) < 0.05
    assert share_solved(context, wrong, right) > 0.35
    # And where nothing is wrong, next to nothing is changed.
    known = [each for done in context.correct_many(right) for each in done.changes]
    changed = sum(each.kind == "real word" for each in known)
    assert changed < 0.01 * sum(len(each.split()) for each in right)


def share_solved(model, wrong, right):
    """The share of sentences whose wrong word is right afterwards."""
    solved = 0
    for before, done, after in zip(wrong, model.correct_many(wrong), right, strict=True):
        meant = next(
            (a, b) for a, b in zip(before.split(), after.split(), strict=True) if a != b
        )
        solved += meant in {(each.before, each.after) for each in done.changes}
    return solved / len(wrong)


_made = {}


def fitted(big):
    if not _made:
        _made["model"] = SpellingCorrector(order=1).fit([big])
    return _made["model"]
