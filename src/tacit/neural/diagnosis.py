"""How far samples of a generator are from real rows, and whether it has collapsed.

    coverage    the modes of the real rows (centers of k-means, or others) with at least a fifth
                of the samples that they should get
    two-sample  the accuracy of a nearest-neighbor classifier that separates held-out real rows
                from samples: 0.5 is perfect, 1 is hopeless
    Fréchet     distance of the normal distributions fitted to both in a PCA space of the real
                rows: |m - m'|^2 + trace(C + C' - 2 (C C')^(1/2))

All three depend on the rows alone, so they serve any generator.

Lopez-Paz and Oquab (2017), Revisiting classifier two-sample tests. ICLR. Heusel, Ramsauer,
Unterthiner, Nessler and Hochreiter (2017), GANs trained by a two time-scale update rule
converge to a local Nash equilibrium. NeurIPS.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tacit.core.randoms import key, permutation, seed_from
from tacit.kernels.distances import between_rows

__all__ = [
    "Coverage", "Diagnosis", "diagnose", "frechet_distance", "mode_coverage",
    "two_sample_accuracy",
]  # fmt: skip

COVERED = 0.2  # fraction of the samples that a mode should get, from which it is covered
NEIGHBORS = 15
MOST = 10_000  # rows compared with neighbors


@dataclass(frozen=True)
class Coverage:
    """How samples spread over modes."""

    modes: int
    covered: int  # modes with at least a fifth of the samples that they should get
    near: float  # fraction of the samples within the radius of a mode
    counts: tuple[int, ...]  # samples nearest to each mode, within the radius


@dataclass(frozen=True)
class Diagnosis:
    """Figures of a generator's samples compared with real rows."""

    rows: int
    modes: int
    covered: int
    accuracy: float  # of the two-sample classifier
    p_value: float  # of that accuracy or more, if both came from one distribution
    frechet: float
    frechet_real: float  # between two halves of the real rows: what chance alone gives
    spread: float  # variance of the samples over that of the real rows

    @property
    def collapsed(self) -> bool:
        """Whether a tenth of the modes or more are not covered, or the samples vary less than
        half as much as the rows."""
        return self.covered <= 0.9 * self.modes or self.spread < 0.5

    def to_dict(self) -> dict[str, Any]:
        """All figures by name."""
        return {**asdict(self), "collapsed": self.collapsed}

    def __str__(self) -> str:
        verdict = "collapsed" if self.collapsed else "no collapse"
        return (
            f"{verdict}: {self.covered} of {self.modes} modes covered, spread "
            f"{self.spread:.2f}; two-sample accuracy {self.accuracy:.3f} (0.5 is perfect); "
            f"Fréchet distance {self.frechet:.3g} ({self.frechet_real:.3g} between real rows)"
        )


def diagnose(
    real: Any, samples: Any, *, n_modes: int = 10, n_components: int = 20,
    random_state: Any = None,
) -> Diagnosis:  # fmt: skip
    """Compare samples of a generator with real rows.

    Parameters
    ----------
    real, samples : arrays of as many columns
        Real rows should not be those that the generator was trained on.
    n_modes : int
        Centers of k-means that stand for the modes of the real rows.
    n_components : int
        Principal components of the real rows in which both are compared.
    random_state : int, RandomState or None
        Seed of k-means and of the halves.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> real = rng.normal(size=(400, 3))
    >>> diagnose(real, rng.normal(size=(400, 3)), random_state=0).collapsed
    False
    >>> diagnose(real, np.zeros((400, 3)), random_state=0).collapsed
    True
    """
    from tacit.cluster import KMeans

    real, samples = as_rows(real, "real"), as_rows(samples, "samples")
    if real.shape[1] != samples.shape[1]:
        raise ValueError(
            f"diagnose needs as many columns in samples ({samples.shape[1]}) as in real "
            f"({real.shape[1]})."
        )
    if len(real) < 4 or len(samples) < 4:
        raise ValueError(
            f"diagnose needs at least 4 rows of both, but got {len(real)} real rows and "
            f"{len(samples)} samples."
        )
    seed = seed_from(random_state)
    a, b = in_plane(real, samples, n_components)
    k = min(n_modes, len(real) // 2)
    means = KMeans(k, random_state=int(key(seed, 0)) % 2**31).fit(a)
    frequencies = np.bincount(means.labels_, minlength=k) / len(a)
    coverage = mode_coverage(b, means.cluster_centers_, shares=frequencies)
    accuracy, p_value = two_sample_accuracy(a, b, random_state=int(key(seed, 1)))
    order = permutation(key(seed, 2), len(a))
    half = len(a) // 2
    variance = float(a.var(axis=0).sum())
    return Diagnosis(
        len(samples), k, coverage.covered, accuracy, p_value,
        frechet_distance(a, b), frechet_distance(a[order[:half]], a[order[half:]]),
        float(b.var(axis=0).sum()) / variance if variance else 0.0,
    )  # fmt: skip


def mode_coverage(
    samples: Any, centers: Any, *, radius: float = math.inf, shares: Any = None
) -> Coverage:
    """Count how many modes the samples cover.

    A sample belongs to the nearest center, and counts if it lies within ``radius`` of it. A
    mode is covered if it has at least a fifth of the samples that it should get, by ``shares``
    or as many as each other mode.

    >>> coverage = mode_coverage([[0.1, 0], [0, 0.2], [5, 5]], [[0, 0], [5, 5], [9, 9]])
    >>> coverage.covered, coverage.counts
    (2, (2, 1, 0))
    """
    samples, centers = as_rows(samples, "samples"), as_rows(centers, "centers")
    distances = np.asarray(between_rows(samples, centers))
    nearest = distances.argmin(axis=1)
    near = distances[np.arange(len(samples)), nearest] <= radius
    k = len(centers)
    counts = np.bincount(nearest[near], minlength=k)
    expected = np.full(k, 1 / k) if shares is None else np.asarray(shares, np.float64)
    covered = int((counts >= np.maximum(COVERED * expected * len(samples), 1)).sum())
    return Coverage(k, covered, float(near.mean()), tuple(counts.tolist()))


def two_sample_accuracy(
    real: Any, samples: Any, *, random_state: Any = None
) -> tuple[float, float]:
    """The accuracy of a 15-nearest-neighbor classifier that separates the two, on halves that
    it has not seen, and the probability of that accuracy or more by chance.

    As many rows of each are used, at most 10,000.
    """
    from sklearn.neighbors import KNeighborsClassifier

    real, samples = as_rows(real, "real"), as_rows(samples, "samples")
    seed = seed_from(random_state)
    n = min(len(real), len(samples), MOST)
    rows = np.concatenate(
        [
            part[permutation(key(seed, i), len(part))[:n]]
            for i, part in enumerate((real, samples))
        ]
    )
    labels = np.repeat([0, 1], n)
    train = np.arange(2 * n) % n < n // 2
    neighbors = min(NEIGHBORS, max(1, n // 4 * 2 - 1))
    model = KNeighborsClassifier(neighbors).fit(rows[train], labels[train])
    accuracy = float((model.predict(rows[~train]) == labels[~train]).mean())
    deviations = (accuracy - 0.5) * 2 * math.sqrt(int((~train).sum()))
    return accuracy, 0.5 * math.erfc(deviations / math.sqrt(2))


def frechet_distance(a: Any, b: Any) -> float:
    """The squared Fréchet distance of the normal distributions fitted to two sets of rows.

    >>> frechet_distance([[0.0], [2.0]], [[3.0], [5.0]])
    9.0
    """
    a, b = as_rows(a, "a"), as_rows(b, "b")
    first, second = (np.atleast_2d(np.cov(rows.T)) for rows in (a, b))
    # The eigenvalues of C C' are those of C^(1/2) C' C^(1/2), which is symmetric.
    values, vectors = np.linalg.eigh(first)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    cross = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ second @ root), 0.0)).sum()
    gap = a.mean(axis=0) - b.mean(axis=0)
    return float(max(gap @ gap + np.trace(first) + np.trace(second) - 2 * cross, 0.0))


def in_plane(real: np.ndarray, samples: np.ndarray, n_components: int) -> tuple:
    """Both in the first principal components of the real rows."""
    center = real.mean(axis=0)
    _, vectors = np.linalg.eigh(np.atleast_2d(np.cov((real - center).T)))
    axes = vectors[:, ::-1][:, : max(1, min(n_components, real.shape[1]))]
    return (real - center) @ axes, (samples - center) @ axes


def as_rows(rows: Any, name: str) -> np.ndarray:
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise ValueError(
            f"{name} must be finite numbers in rows and columns, but has shape {rows.shape}. "
            "Leave out missing values first."
        )
    return rows
