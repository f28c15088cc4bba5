"""Kneser-Ney's counts: in how many contexts an n-gram occurs, instead of how often.

An n-gram below the highest order is needed where a longer one was not seen. How often it
occurred says little about that; how many different words came before it says more ("Francisco"
is frequent, but only after "San"). N-grams that begin with the start token keep their counts:
nothing ever comes before them.

Kneser and Ney (1995), Improved backing-off for m-gram language modeling. ICASSP.
"""

from itertools import pairwise

import numpy as np

from tacit.core.disk_array import release
from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.language.ngram_counts import NGramCounts
from tacit.language.sentences import START

__all__ = ["continuation_counts"]

SPAN = 1 << 21  # n-grams per kernel call


def continuation_counts(counts: NGramCounts) -> list[np.ndarray]:
    """The adjusted counts of every level; the highest is as it was."""
    adjusted = []
    starting = counts.from_start()
    for level, above in pairwise(counts.levels):
        start, stop = next(starting)
        out = counts.zeros(len(level.counts), np.int32)
        for here in counts.spans(len(out)):
            for i in range(0, len(above.lower), SPAN):
                check_stop()
                part = above.lower[i : i + SPAN]
                count_predecessors(part, here.start, out[here])
                release(part)
            keep_counts(level.counts[here], start - here.start, stop - here.start, out[here])
            release(out[here], level.counts[here])
        adjusted.append(out)
    if adjusted:
        adjusted[0][START] = 0  # it is never predicted
    return [*adjusted, counts.levels[-1].counts]


@kernel
def count_predecessors(lower, first, out):
    """Count those from number ``first`` on, as many as ``out`` holds."""
    for i in range(len(lower)):
        at = lower[i] - first
        if 0 <= at < len(out):
            out[at] += 1


@kernel
def keep_counts(counts, start, stop, out):
    """The counts themselves, where nothing comes before."""
    for i in range(len(counts)):
        if start <= i < stop:
            out[i] = counts[i]
        elif out[i] == 0 and counts[i] > 0:
            out[i] = 1  # without start tokens: the edge of the sentence is a context too
