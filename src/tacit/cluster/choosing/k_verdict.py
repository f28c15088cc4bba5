"""How ``choose_k`` weighs what was measured.

1. Are there clusters? A number of clusters is *real* if its silhouette lies ``SURE`` standard
   deviations above that of both kinds of data without clusters. If none is, the answer is 1.
   Data that fades out or has sharp edges can be cut into neat pieces too.
2. How many? A number is *firm* if every one of its clusters is found again in half of the rows
   (``FIRM``). Two clusters that belong together are firm as one, and one cut in two is firm no
   more, so the largest firm number is taken. A cloud cut in two halves is firm too: so a firm
   number must also be above chance by some of what the sharpest is (``CLEAR``).
3. If none is firm, clusters overlap: the number whose clusters are most stable, on average, and
   most sharp beside those of data without clusters, each on a scale from 0 (no better) to 1 (as
   stable as can be, as sharp as any number here): stability times the root of sharpness, since
   stability alone favours few and sharpness alone many. Of numbers as good but for a tenth
   (``NEARLY``) the smallest: less to read.
4. If the gap statistic has a clear peak at a larger number, whose clusters are at least
   recognizable (``KNOWN``) and not much less sharp (``SHARP``), that is taken instead: it sees
   lumps that touch.

The limits for stability are near those that Hennig (2007) recommends: 0.85 and more for
clusters that are highly stable, below 0.6 for those not to be trusted.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from tacit.cluster.choosing.chosen_k import KRow

__all__ = ["Evidence", "evidence_of", "knee_of", "verdict"]

SURE = 4.0  # standard deviations: some ten numbers are tried, each has its chance
FIRM = 0.9
KNOWN = 0.65
SHARP = 0.8  # of the silhouette of the smaller number
NEARLY = 0.9
CLEAR = 0.3  # of the largest silhouette above chance
NARROW = 0.05  # room above the null that stability is measured in, at least


class Evidence(NamedTuple):
    """What speaks for each k, beside data without clusters."""

    above: np.ndarray  # deviations of the silhouette above the null; NaN for one cluster
    least: np.ndarray  # stability of the least stable cluster
    gain: np.ndarray  # mean stability above the null, from 0 to 1
    clear: np.ndarray  # silhouette above the null, 1 for the sharpest; 0 for one cluster


def evidence_of(own: dict[str, list], null: dict[str, dict[str, np.ndarray]]) -> Evidence:
    """Weigh the figures of the rows against those of each kind of reference.

    ``own`` has for each k the "silhouette" and the "again" of every cluster; ``null`` has for
    each kind arrays of (references, ks): "silhouette", "least" and "mean" stability.
    """
    sharp = np.array([math.nan if value is None else value for value in own["silhouette"]])
    least = np.array([again.min() for again in own["again"]])
    mean = np.array([again.mean() for again in own["again"]])
    above = np.full(len(sharp), np.inf)
    for figures in null.values():
        seen = figures["silhouette"]
        some = np.isfinite(seen).all(axis=0)
        # The spread hardly depends on k, and a dozen numbers know it better than one.
        spread = math.sqrt(seen[:, some].var(axis=0, ddof=1).mean()) if some.any() else 0.0
        above = np.minimum(above, (sharp - seen.mean(axis=0)) / max(spread, 1e-9))
    gain = beyond(mean, np.max([each["mean"].mean(axis=0) for each in null.values()], axis=0))
    chance = np.max([figures["silhouette"].mean(axis=0) for figures in null.values()], axis=0)
    beside = np.nan_to_num(np.maximum(sharp - chance, 0.0))
    return Evidence(above, least, gain, beside / max(float(beside.max()), 1e-12))


def beyond(value: np.ndarray, null: np.ndarray) -> np.ndarray:
    return np.clip((value - null) / np.maximum(1 - null, NARROW), 0.0, 1.0)


def verdict(table: list[KRow], evidence: Evidence) -> tuple[int, list[str]]:
    """The recommended number of clusters, and why."""
    real = [i for i, z in enumerate(evidence.above) if z >= SURE]
    if not real:
        return 1, none_real(table, evidence)
    firm = [i for i in real if evidence.least[i] >= FIRM and evidence.clear[i] >= CLEAR]
    worth = evidence.gain * np.sqrt(evidence.clear)
    enough = NEARLY * max(worth[i] for i in real)
    pick = firm[-1] if firm else next(i for i in real if worth[i] >= enough)
    reasons = [firmness(table, evidence, pick, bool(firm))]
    peak = gap_peak(table)
    larger = peak is not None and peak > pick and peak in real
    if peak is not None and larger and touching(table, evidence, pick, peak):
        row, before = table[peak], table[pick]
        reasons = [
            f"The gap statistic peaks at {row.k} clusters ({row.gap:.2f}, {before.gap:.2f} for "
            f"{before.k}), and the least stable of them still shares "
            f"{evidence.least[peak]:.0%} with its like in half of the rows."
        ]
        pick = peak
    return table[pick].k, [sharpness(table, evidence, pick), *reasons, *others(table, pick)]


def touching(table: list[KRow], evidence: Evidence, pick: int, peak: int) -> bool:
    """Whether the clusters at the peak may be lumps that touch, rather than pieces of one."""
    before, after = table[pick].silhouette or 0.0, table[peak].silhouette or 0.0
    return bool(evidence.least[peak] >= KNOWN and after >= SHARP * before)


def gap_peak(table: list[KRow]) -> int | None:
    """Where the gap is largest, if it is less, beyond its error, on both sides."""
    gaps = [row.gap if row.gap is not None else -math.inf for row in table]
    i = int(np.argmax(gaps))
    if not 0 < i < len(table) - 1:
        return None
    errors = [row.gap_error or 0.0 for row in table]
    clear = gaps[i] > gaps[i + 1] + errors[i + 1] and gaps[i] > gaps[i - 1]
    return i if clear else None


def knee_of(ks: tuple[int, ...], spread: np.ndarray) -> int | None:
    """Where the curve of the inertia is farthest below the line between its ends.

    >>> knee_of((1, 2, 3, 4, 5), np.array([100.0, 60.0, 10.0, 8.0, 6.0]))
    3
    """
    if len(ks) < 3 or not spread[0] > spread[-1]:
        return None
    x = (np.array(ks) - ks[0]) / (ks[-1] - ks[0])
    y = (spread - spread[-1]) / (spread[0] - spread[-1])
    return int(ks[int(np.argmax(1 - x - y))])


# --- Sentences ---


def none_real(table: list[KRow], evidence: Evidence) -> list[str]:
    tried = [i for i, z in enumerate(evidence.above) if math.isfinite(z)]
    if not tried:
        return ["There is nothing to compare."]
    i = max(tried, key=lambda i: evidence.above[i])
    row = table[i]
    return [
        f"No number of clusters is sharper than in data without clusters: at best k = {row.k}, "
        f"with a silhouette of {row.silhouette:.3f} where chance alone gives up to "
        f"{row.null_silhouette:.3f}.",
        f"That is {evidence.above[i]:.1f} standard deviations above chance; {SURE:.0f} are "
        "asked for.",
    ]


def sharpness(table: list[KRow], evidence: Evidence, i: int) -> str:
    row = table[i]
    return (
        f"{row.k} clusters are sharper than chance: a silhouette of {row.silhouette:.3f}, data "
        f"without clusters has {row.null_silhouette:.3f} at most "
        f"({evidence.above[i]:.0f} standard deviations)."
    )


def firmness(table: list[KRow], evidence: Evidence, i: int, firm: bool) -> str:
    row = table[i]
    if firm:
        later = f" No larger number reaches {FIRM:.0%}." if i < len(table) - 1 else ""
        return (
            f"Half of the rows give the same {row.k} clusters again: the least stable shares "
            f"{evidence.least[i]:.0%} with its like.{later}"
        )
    return (
        f"They overlap: the least stable cluster shares {evidence.least[i]:.0%} with its like "
        f"in half of the rows ({row.null_stability:.0%} in data without clusters). No other "
        "number is much further above chance in stability and sharpness together."
    )


def others(table: list[KRow], pick: int) -> list[str]:
    """What single measures would have said, where they disagree."""
    chosen = table[pick].k
    votes: dict[str, Any] = {
        "the silhouette": pick_by(table, "silhouette", max),
        "Davies-Bouldin": pick_by(table, "davies_bouldin", min),
        "the gap": pick_by(table, "gap", max),
        "BIC": pick_by(table, "bic", min),
    }
    agree = [name for name, k in votes.items() if k == chosen]
    differ = [f"{name} k = {k}" for name, k in votes.items() if k not in (None, chosen)]
    sentences = []
    if agree:
        sentences.append(f"Also best at k = {chosen}: {', '.join(agree)}.")
    if differ:
        sentences.append(f"Alone would prefer: {', '.join(differ)}.")
    return sentences


def pick_by(table: list[KRow], field: str, best: Any) -> int | None:
    known = [row for row in table if getattr(row, field) is not None]
    if not known:
        return None
    return best(known, key=lambda row: getattr(row, field)).k


