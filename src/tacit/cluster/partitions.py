"""One clusterer, many numbers of clusters: what ``choose_k`` and ``stability`` run.

A clusterer is the name of one of ours, or any estimator in scikit-learn's manner. It is never
fitted itself: every partition is made by a copy with its own seed, in the calling thread, so
that the partitions of many data sets can run side by side with the same result.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from tacit.cluster.small_kmeans import are_units, small_kmeans
from tacit.core.engines import Serial, check_stop

__all__ = [
    "METHODS",
    "Quick",
    "clusterer_of",
    "labelings",
    "labels_by",
    "prepared",
    "size_name",
]

# Name, class in tacit.cluster, parameters.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "kmeans": ("KMeans", {"n_init": 3}),
    "spherical": ("SphericalKMeans", {"n_init": 3}),
    "minibatch": ("MiniBatchKMeans", {}),
    "kmedoids": ("KMedoids", {}),
    "fuzzy": ("FuzzyCMeans", {}),
    "soft": ("SoftKMeans", {}),
    "divisive": ("DivisiveClustering", {}),
    **{
        linkage: ("AgglomerativeClustering", {"linkage": linkage})
        for linkage in (
            "single",
            "complete",
            "average",
            "weighted",
            "centroid",
            "median",
            "ward",
        )
    },
}


class Quick(NamedTuple):
    """k-means by ``small_kmeans``, which needs no estimator."""

    starts: int = 3
    unit: bool = False  # centers of length one


def clusterer_of(method: Any, *, name: str) -> Any:
    """The estimator that a name stands for, or the one given."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(
                f"{name}(method={method!r}) is unknown. Choose from {', '.join(METHODS)}, or "
                "give an estimator."
            )
        import tacit.cluster

        kind, settings = METHODS[method]
        return getattr(tacit.cluster, kind)(**settings)
    two_steps = hasattr(method, "fit") and hasattr(method, "predict")
    if isinstance(method, type) or not (hasattr(method, "fit_predict") or two_steps):
        raise TypeError(
            f"{name} needs a clusterer with fit_predict, or with fit and predict, but got "
            f"{method!r}. Give an estimator such as KMeans(n_clusters=8), or the name of one: "
            f"{', '.join(METHODS)}."
        )
    return method


def size_name(estimator: Any, *, name: str) -> str:
    """The parameter that says how many clusters."""
    known = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    for parameter in ("n_clusters", "n_components"):
        if parameter in known:
            return parameter
    raise TypeError(
        f"{name} tries several numbers of clusters, but {type(estimator).__name__} has no "
        "parameter n_clusters or n_components. Give an estimator that has one."
    )


def prepared(estimator: Any, seed: int, **settings: Any) -> Any:
    """An unfitted copy with this seed that runs in the calling thread."""
    if not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    copy = clone(estimator)
    here: dict[str, Any] = {"random_state": seed, "engine": Serial(), "callbacks": None}
    for name in copy.get_params(deep=True):  # those of the steps of a pipeline too
        last = name.rpartition("__")[2]
        if last in here:
            settings.setdefault(name, here[last])
    return copy.set_params(**settings)


def labels_by(model: Any, rows: Any) -> np.ndarray:
    """Fit the model, and give the label of every row."""
    if hasattr(model, "fit_predict"):
        return np.asarray(model.fit_predict(rows))
    return np.asarray(model.fit(rows).predict(rows))


def labelings(estimator: Any, rows: Any, ks: Sequence[int], seeds: Sequence[int]) -> list:
    """The labels of the rows for every k; a tree is built once and cut many times."""
    from tacit.cluster.hierarchy.agglomerative import AgglomerativeClustering

    if isinstance(estimator, Quick):
        return quick_labelings(estimator, rows, ks, seeds)
    if isinstance(estimator, AgglomerativeClustering) and estimator.compress is None:
        return cuts(estimator, rows, ks)
    parameter = size_name(estimator, name="choose_k")
    found = []
    for k, seed in zip(ks, seeds, strict=True):
        check_stop()
        if k == 1:
            found.append(np.zeros(rows.shape[0], np.int32))
        else:
            found.append(labels_by(prepared(estimator, seed, **{parameter: k}), rows))
    return found


def quick_labelings(quick: Quick, rows: Any, ks: Sequence[int], seeds: Sequence[int]) -> list:
    if are_units(rows):
        rows = rows.astype(np.float32)  # whose products lose only the last of seven digits
    return [
        small_kmeans(rows, k, seed, starts=quick.starts, unit=quick.unit).labels
        for k, seed in zip(ks, seeds, strict=True)
    ]


def cuts(estimator: Any, rows: Any, ks: Sequence[int]) -> list:
    from tacit.cluster.hierarchy.dendrogram import cut

    model = prepared(estimator, 0, n_clusters=1, distance_threshold=None).fit(rows)
    return [cut(model.linkage_matrix_, k=k) for k in ks]
