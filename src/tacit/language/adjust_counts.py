"""Kneser-Ney's counts: in how many contexts an n-gram occurs, instead of how often.

An n-gram below the highest order is needed where a longer one was not seen. How often it
occurred says little about that; how many different words came before it says more ("Francisco"
is frequent, but only after "San"). N-grams that begin with the start token keep their counts:
nothing ever comes before them.

Kneser and Ney (1995), Improved backing-off for m-gram language modeling. ICASSP.
"""

import numpy as np

from tacit.core.kernel import kernel
from tacit.language.ngram_counts import NGramCounts
from tacit.language.sentences import START

__all__ = ["continuation_counts"]


def continuation_counts(counts: NGramCounts) -> list[np.ndarray]:
    """The adjusted counts of every level; the highest is as it was."""
    starts = counts.from_start() if counts.order > 1 else []
    out = []
    for level, above, kept in zip(counts.levels, counts.levels[1:], starts, strict=False):
        out.append(count_predecessors(above.lower, level.counts, kept))
    if out:
        out[0][START] = 0  # it is never predicted
    return [*out, counts.levels[-1].counts]


@kernel
def count_predecessors(lower, counts, kept):
    out = np.zeros(len(counts), np.int32)
    for i in range(len(lower)):
        out[lower[i]] += 1
    for i in range(len(counts)):
        if kept[i]:
            out[i] = counts[i]
        elif out[i] == 0 and counts[i] > 0:
            out[i] = 1  # without start tokens: the edge of the sentence is a context too
    return out
