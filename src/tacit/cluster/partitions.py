"""The clusterers of ``choose_k`` and ``stability``: one estimator, many data sets and seeds.

The estimator that is passed in is never fitted: every data set is clustered by a copy with its
own seed, in the calling thread, so that data sets can run in parallel with the same result.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from tacit.cluster.small_kmeans import are_units, small_kmeans
from tacit.core.engines import Serial, check_stop

__all__ = ["METHODS", "FastKMeans", "copy_with_seed", "find_labels", "get_clusterer",
           "k_parameter", "labels_for_each_k"]  # fmt: skip

LINKAGES = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
# Name, class in tacit.cluster, parameters.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "kmeans": ("KMeans", {"n_init": 3}),
    "spherical": ("SphericalKMeans", {"n_init": 3}),
    "minibatch": ("MiniBatchKMeans", {}),
    "kmedoids": ("KMedoids", {}),
    "fuzzy": ("FuzzyCMeans", {}),
    "soft": ("SoftKMeans", {}),
    "divisive": ("DivisiveClustering", {}),
    **{name: ("AgglomerativeClustering", {"linkage": name}) for name in LINKAGES},
}


class FastKMeans(NamedTuple):
    """The parameters of ``small_kmeans``, which replaces the estimator."""

    n_init: int = 3
    unit: bool = False  # centers of length one


def get_clusterer(method: Any, *, name: str) -> Any:
    """The estimator with this name, or the estimator itself."""
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


def k_parameter(estimator: Any, *, name: str) -> str:
    """The name of the parameter for the number of clusters."""
    known = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    for parameter in ("n_clusters", "n_components"):
        if parameter in known:
            return parameter
    raise TypeError(
        f"{name} tries several numbers of clusters, but {type(estimator).__name__} has no "
        "parameter n_clusters or n_components. Give an estimator that has one."
    )


def copy_with_seed(estimator: Any, seed: int, **settings: Any) -> Any:
    """An unfitted copy with this seed that runs in the calling thread."""
    if not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    copy = clone(estimator)
    local: dict[str, Any] = {"random_state": seed, "engine": Serial(), "callbacks": None}
    for name in copy.get_params(deep=True):  # also of the steps of a pipeline
        last = name.rpartition("__")[2]
        if last in local:
            settings.setdefault(name, local[last])
    return copy.set_params(**settings)


def find_labels(model: Any, rows: Any) -> np.ndarray:
    """Fit the model and return the label of every row."""
    if hasattr(model, "fit_predict"):
        return np.asarray(model.fit_predict(rows))
    return np.asarray(model.fit(rows).predict(rows))


def labels_for_each_k(
    estimator: Any, rows: Any, ks: Sequence[int], seeds: Sequence[int]
) -> list[np.ndarray]:
    """The labels of the rows for every k; a tree is built once and cut many times."""
    from tacit.cluster.hierarchy.agglomerative import AgglomerativeClustering
    from tacit.cluster.hierarchy.dendrogram import cut

    if isinstance(estimator, FastKMeans):
        if are_units(rows):
            rows = rows.astype(np.float32)  # products of such rows keep six digits
        n_init, unit = estimator
        return [
            small_kmeans(rows, k, seed, starts=n_init, unit=unit).labels
            for k, seed in zip(ks, seeds, strict=True)
        ]
    if isinstance(estimator, AgglomerativeClustering) and estimator.compress is None:
        model = copy_with_seed(estimator, 0, n_clusters=1, distance_threshold=None).fit(rows)
        return [cut(model.linkage_matrix_, k=k) for k in ks]
    parameter = k_parameter(estimator, name="choose_k")
    labels = []
    for k, seed in zip(ks, seeds, strict=True):
        check_stop()
        if k == 1:
            labels.append(np.zeros(rows.shape[0], np.int32))
        else:
            model = copy_with_seed(estimator, seed, **{parameter: k})
            labels.append(find_labels(model, rows))
    return labels
