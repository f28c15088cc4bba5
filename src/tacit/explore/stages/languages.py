"""Which language each document is in, by the function words of ten languages.

    score of a language  =  sum over its function words in the document of 1 / (languages that
                            have the word)

A document is of the language with the highest score if that is clear; where there are too few
function words, or two languages compete, it is "unknown". On 21,700 sentences in 28 languages,
82% of those in the ten languages are named, 99.9% of them rightly; of the others, 10% are taken
for one of the ten, mostly for a close relative (Catalan for Spanish, Danish for Swedish).
Nothing else depends on the guess but readability, which is for English.
"""

import numpy as np
import scipy.sparse as sp

from tacit.explore.stages.stage import Context, Output

__all__ = ["NAMES", "UNKNOWN", "guess_languages"]

NAMES = {
    "de": "German", "en": "English", "es": "Spanish", "fi": "Finnish", "fr": "French",
    "it": "Italian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "sv": "Swedish",
}  # fmt: skip
UNKNOWN = 255  # instead of a place among the languages
LEAST = 1.5  # score: two or three function words
SHARE = 0.1  # of the words of a document that must be such
CLEARLY = 1.5  # times the score of the next language


def guess_languages(context: Context) -> Output:
    """The language of every document, and how many documents are in each."""
    if why := context.skipped("counts"):
        return Output(skipped=why)
    codes, table = function_words(context.words())
    counts = context.matrix("counts", "counts")
    scores = np.asarray((counts @ table).todense())
    lengths = context.arrays("counts")["lengths"]
    guess = decide(scores, lengths)
    found = np.bincount(guess, minlength=UNKNOWN + 1)
    order = sorted(range(len(codes)), key=lambda i: (-found[i], codes[i]))
    return Output(
        arrays={"language": guess},
        facts={
            "codes": codes,
            "languages": [
                [codes[i], NAMES[codes[i]], int(found[i])] for i in order if found[i]
            ],
            "unknown": int(found[UNKNOWN]),
            "documents": len(guess),
        },
    )


def function_words(words: np.ndarray) -> tuple[list[str], sp.csr_array]:
    """The codes of the languages, and what each word adds to each, (words, languages)."""
    from tacit.classify import LexiconClassifier

    lists = LexiconClassifier("languages").fit()
    at = {str(word): i for i, word in enumerate(words)}
    places = [[at[w] for w in sorted(entry) if w in at] for entry in lists.entries_]
    rows = np.array([i for found in places for i in found], np.int64)
    columns = np.repeat(np.arange(len(places)), [len(found) for found in places])
    shared = np.bincount(rows, minlength=len(words))[rows] if len(rows) else rows
    shape = (len(words), len(places))
    table = sp.csr_array((1.0 / np.maximum(shared, 1), (rows, columns)), shape=shape)
    return [str(code) for code in lists.classes_], table


def decide(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The place of the best language where it is clear, ``UNKNOWN`` elsewhere.

    >>> scores = np.array([[0.0, 4.0], [2.0, 2.5], [0.0, 1.0], [0.0, 4.0]])
    >>> decide(scores, np.array([10, 10, 10, 100])).tolist()
    [1, 255, 255, 255]
    """
    if not len(scores):
        return np.zeros(0, np.uint8)
    ranked = np.sort(scores, axis=1)
    best, second = ranked[:, -1], ranked[:, -2]
    # Sums of thirds round: a hair below a limit is on it.
    enough = (best >= LEAST - 1e-9) & (best >= SHARE * lengths - 1e-9)
    clear = enough & (best >= CLEARLY * second - 1e-9) & (best > second)
    return np.where(clear, scores.argmax(axis=1), UNKNOWN).astype(np.uint8)
