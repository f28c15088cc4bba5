"""General Impostors: did this author write this text at all?

Attribution names the nearest of the authors it knows, even where none of them wrote the text.
Verification compares instead with impostors: texts that the candidate did not write. Many times
over, half of the words and half of the texts are drawn; the score is the proportion of draws
where the candidate is nearest. The right author wins with most sets of words, anybody else only
with some. As in the model, nearest is the profile of an author (the mean of the texts drawn) or
the nearest text; profiles do not favor authors with many texts. Strangers are impostors text by
text. The method wants many impostors like the text; with few authors, ``Authorship.typicality``
is the better test, and ``accuracy`` says so.

What score is high enough comes from the known texts, each verified without itself: once against
its author, which should be a yes; and once with that author unknown, as a stranger's,
against whoever comes nearest, which should be a no. Two thresholds, below which the answer is
no and above which it is yes, maximize c@1, the accuracy that gives credit for leaving doubtful
cases open. Where it stays below 0.75, every case is open; so it is with two authors and no
other text, because there is nobody to compare a stranger with.

Koppel and Winter (2014), Determining if two documents are written by the same author. JASIST
65. Kestemont, Stover, Koppel, Karsdorp and Daelemans (2016), Authenticating the writings of
Julius Caesar. Expert Systems with Applications 63. Peñas and Rodrigo (2011), A simple measure
to assess non-response. ACL: c@1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.randoms import key, permutation, seed_from
from tacit.style.authorship import Authorship, pooled
from tacit.style.deltas import score_distances

__all__ = ["Verification", "impostors"]

RELIABLE = 0.75  # c@1 from where on thresholds are used


@dataclass(frozen=True)
class Verification:
    """Scores of texts and candidates, and what they mean."""

    names: list[str]
    authors: list
    scores: np.ndarray  # (texts, authors)
    no_below: float  # scores below this mean no,
    yes_above: float  # scores above this mean yes; between them the case is open
    accuracy: float  # c@1 of these thresholds on the known texts
    tested: int  # known cases behind them; 0 where there were none

    def answer(self, text: int, author: Any) -> str:
        """ "yes", "no" or "open"; always open where the thresholds are not reliable."""
        if self.accuracy < RELIABLE:
            return "open"
        score = self.scores[text, self.authors.index(author)]
        if score > self.yes_above:
            return "yes"
        return "no" if score < self.no_below else "open"

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "no_below": self.no_below,
            "yes_above": self.yes_above,
            "accuracy": self.accuracy,
            "tested": self.tested,
            "texts": [
                {
                    "name": name,
                    "scores": {
                        str(author): float(score)
                        for author, score in zip(self.authors, row, strict=True)
                    },
                    "answers": {str(author): self.answer(i, author) for author in self.authors},
                }
                for i, (name, row) in enumerate(zip(self.names, self.scores, strict=True))
            ],
        }


def impostors(
    model: Authorship,
    texts: Any,
    *,
    names: Sequence[str] | None = None,
    others: Any = None,
    n_iter: int = 100,
    share: float = 0.5,
    random_state: Any = 0,
) -> Verification:
    """Verify whether authors wrote texts, by the General Impostors method.

    Parameters
    ----------
    model : Authorship, fitted
        Its texts are the candidates' works, and impostors for all other candidates.
    texts : list of str or Documents
        What to verify.
    names : sequence of str, optional
        Of the texts.
    others : list of str or Documents, optional
        More impostors: texts of the same kind by none of the authors. Without any, a stranger
        is compared with the model's authors only, and is taken for one of them.
    n_iter : int
        Draws.
    share : float
        Proportion of words and of texts in a draw.
    random_state : int, RandomState or None
        Seed of the draws. The scores do not depend on the number of threads.

    Examples
    --------
    >>> land = ["the cow of the farm and the hay of the barn"] * 3
    >>> sea = ["a ship on a sea, on a wave, or a whale on a rock"] * 3
    >>> model = Authorship(["the", "of", "and", "a/an", "on", "or"], block=None)
    >>> model = model.fit(land + sea, ["Ann"] * 3 + ["Bob"] * 3)
    >>> impostors(model, ["the end of the road"]).scores
    array([[1., 0.]])
    """
    if n_iter < 1 or not 0 < share <= 1:
        raise ValueError(
            f"impostors(n_iter={n_iter}, share={share}) needs n_iter of at least 1 and a share "
            "above 0 and at most 1."
        )
    called, blocks = model._count(texts, names)
    rows = model.scores(pooled(blocks, len(called)))
    by_text = model.left_out_unit_ == "text"
    known = model.scores(model.frequencies() if by_text else model.known_blocks().frequencies)
    authors = model._left_out_authors()
    if others is not None:
        strangers, blocks = model._count(others)
        frequencies = pooled(blocks, len(strangers)) if by_text else blocks.frequencies
        known = np.concatenate([known, model.scores(frequencies)])
        authors = np.concatenate([authors, np.full(len(frequencies), -1)])
    seed = seed_from(random_state)
    k = len(model.classes_)
    rows = np.concatenate([known, rows])
    compare = profile_distances if model.compare == "author" else text_distances
    wins = np.zeros((2, len(rows), k))
    wrote = np.full(len(rows), -1)
    wrote[: len(known)] = authors
    for draw in range(n_iter):
        check_stop()
        words = np.sort(part(permutation(key(seed, draw, 0), known.shape[1]), share))
        drawn = draw_texts(authors, k, draw, seed, share)
        wins += count_wins(compare(rows[:, words], drawn, model.variant), wrote)
    scores = np.divide(wins[0], wins[1], out=np.full(wins[0].shape, 0.5), where=wins[1] > 0)
    limits = calibrate(scores[: len(known)], wins[1, : len(known)] > 0, authors)
    return Verification(called, model.classes_.tolist(), scores[len(known) :], *limits)


def calibrate(
    scores: np.ndarray, counted: np.ndarray, authors: np.ndarray
) -> tuple[float, float, float, int]:
    """Thresholds, their c@1, and the number of cases, from the scores of the known texts."""
    truth = authors[:, None] == np.arange(scores.shape[1])
    right = scores[truth & counted]
    wrong = np.where(counted & ~truth, scores, -1.0).max(axis=1)
    wrong = wrong[wrong >= 0]
    if not len(right) or not len(wrong):
        return 0.0, 1.0, 0.0, 0
    both = np.concatenate([right, wrong])
    return *find_thresholds(both, np.arange(len(both)) < len(right)), len(both)


def draw_texts(
    authors: np.ndarray, k: int, draw: int, seed: Any, share: float
) -> list[np.ndarray]:
    """Places of the texts of a draw: for each author, and in the end of strangers."""
    order = permutation(key(seed, draw, 1), len(authors))
    return [part(order[authors[order] == author], share) for author in [*range(k), -1]]


def profile_distances(rows: np.ndarray, drawn: list[np.ndarray], variant: str) -> np.ndarray:
    """(rows, authors + 1) distances from the profiles of one draw, and from strangers.

    The first rows are the known texts, which are compared with the profile of the others.
    """
    *by_author, strangers = drawn
    distances = np.full((len(rows), len(drawn)), np.inf)
    for author, places in enumerate(by_author):
        total = rows[places].sum(axis=0)
        distances[:, author] = score_distances(rows, total[None] / len(places), variant)[:, 0]
        for i in places.tolist():
            others = (total - rows[i]) / max(1, len(places) - 1)
            distance = score_distances(rows[i : i + 1], others[None], variant)[0, 0]
            distances[i, author] = distance if len(places) > 1 else np.inf
    if len(strangers):
        distances[:, -1] = nearest_other(rows, strangers, variant)
    return distances


def text_distances(rows: np.ndarray, drawn: list[np.ndarray], variant: str) -> np.ndarray:
    """The same from the nearest texts."""
    return np.column_stack([nearest_other(rows, places, variant) for places in drawn])


def nearest_other(rows: np.ndarray, places: np.ndarray, variant: str) -> np.ndarray:
    """(rows,) distances from the nearest of some rows; a row is infinitely far from itself."""
    distances = score_distances(rows, rows[places], variant)
    distances[places, np.arange(len(places))] = np.inf
    return distances.min(axis=1, initial=np.inf)


def count_wins(distances: np.ndarray, wrote: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(rows, authors) whether each is nearer than all others, and whether there were any.

    The author who wrote a row is not among the others: against anybody else the row is a
    stranger's. A tie counts half.
    """
    k = distances.shape[1] - 1
    hidden, known = distances.copy(), np.flatnonzero(wrote >= 0)
    hidden[known, wrote[known]] = np.inf
    won, counted = np.zeros((2, len(distances), k))
    for author in range(k):
        near = distances[:, author]
        far = np.delete(hidden, author, axis=1).min(axis=1)
        counted[:, author] = np.isfinite(near) & np.isfinite(far)
        won[:, author] = counted[:, author] * ((near < far) + 0.5 * (near == far))
    return won, counted


def part(order: np.ndarray, share: float) -> np.ndarray:
    """The first ``share`` of an order, at least one of them."""
    return order[: max(1, round(share * len(order)))]


def find_thresholds(scores: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """The two thresholds with the highest c@1, and that value; of equals the narrowest gap.

    >>> find_thresholds(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]))
    (0.5, 0.5, 1.0)
    """
    n = len(scores)
    values = np.unique(scores)
    cuts = np.unique([0.0, 0.5, 1.0, *((values[1:] + values[:-1]) / 2)])
    below = np.array([(~truth & (scores < cut)).sum() for cut in cuts])
    above = np.array([(truth & (scores > cut)).sum() for cut in cuts])
    within = np.array([(scores < cut).sum() for cut in cuts])
    beyond = np.array([(scores > cut).sum() for cut in cuts])
    right = below[:, None] + above[None, :]
    left_open = n - within[:, None] - beyond[None, :]
    quality = (right + left_open * right / n) / n
    gap = cuts[None, :] - cuts[:, None]
    quality[gap < 0] = -1.0
    middle = np.abs(cuts[None, :] + cuts[:, None] - 1.0)
    order = np.lexsort((middle.ravel(), gap.ravel(), -quality.ravel()))
    low, high = np.unravel_index(order[0], quality.shape)
    return float(cuts[low]), float(cuts[high]), float(quality[low, high])
