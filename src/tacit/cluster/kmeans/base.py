"""What all models around centers share: k-means and its kin, and the soft ones."""

import warnings
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tacit.cluster.kmeans import lloyd
from tacit.core.engines import Engine, get_engine
from tacit.core.estimator import Estimator
from tacit.core.stats import tree_sum
from tacit.data.checked import check_table
from tacit.data.summary import DataSummary, summarize
from tacit.data.table import Table, is_sparse

__all__ = ["BaseKMeans", "fingerprint"]


class BaseKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Everything but ``fit``."""

    _file_schema: ClassVar[dict] = {
        "cluster_centers_": ("n_clusters", "n_features_in_"),
        "labels_": ("n_rows",),
    }
    _file_optional = ("labels_",)
    _label_and_loss = staticmethod(lloyd.label_and_loss)
    _too_few = "the data has only {} distinct rows"  # why a cluster may stay empty

    def predict(self, X: Any) -> np.ndarray:
        """The nearest center of every row; a tie goes to the lowest index."""
        return np.concatenate(list(self._map(X, lloyd.assign)))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and give the label of every row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> np.ndarray:
        """The distance of every row to every center."""
        return np.concatenate(list(self._map(X, lloyd.distances_to_centers)))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and give the distance of every row to every center."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of squared distances to the nearest center."""
        return -float(
            sum(loss for _, loss in self._map(X, lloyd.label_and_loss, sample_weight))
        )

    def _map(self, X: Any, function: Any, sample_weight: Any = None):
        check_is_fitted(self)
        table = self._table(X, sample_weight, reset=False)
        engine = get_engine(self.engine)
        rows = self._compared(table, fitting=False)
        summary = summarize(rows, engine, name=type(self).__name__)
        params = lloyd.start(self.cluster_centers_, summary, sparse=is_sparse(table))
        return engine.map(function, params, table)

    def _table(self, X: Any, sample_weight: Any, *, reset: bool) -> Table:
        def block_rows(rows: Any) -> int | None:
            return lloyd.block_rows(rows, self.n_clusters)

        return check_table(self, X, sample_weight, reset=reset, block_rows=block_rows)

    def _compared(self, table: Table, *, fitting: bool) -> Table:
        """The rows as they are compared with centers."""
        return table

    def _keep(
        self,
        params: Any,
        cache: list | None,
        table: Table,
        summary: DataSummary,
        engine: Engine,
        *,
        labels: bool,
    ) -> None:
        """Keep the centers, in the dtype of the data, and how the rows look from there."""
        centers = params.centers.astype(np.float32 if table.dtype == np.float32 else np.float64)
        if not np.array_equal(centers, params.centers):
            params = lloyd.moved(params, centers.astype(np.float64))
        found, losses = zip(
            *engine.map(self._label_and_loss, params, table, cache), strict=True
        )
        self.cluster_centers_ = centers
        self.inertia_ = float(tree_sum(losses))
        self.labels_ = np.concatenate(found)
        self._warn_of_empty(len(np.unique(self.labels_)))
        if not labels:
            del self.labels_

    def _warn_of_empty(self, used: int) -> None:
        if used < self.n_clusters:
            warnings.warn(
                f"{type(self).__name__}(n_clusters={self.n_clusters}) could fill only {used} "
                f"clusters, because {self._too_few.format(used)}. Lower n_clusters.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _check_enough(self, table: Table) -> None:
        if len(table) < self.n_clusters:
            raise ValueError(
                f"{type(self).__name__}(n_clusters={self.n_clusters}) needs at least as many "
                f"rows, but the data has n_samples={len(table)}. Lower n_clusters."
            )

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def fingerprint(table: Table, summary: DataSummary) -> str:
    """Tells two data sets apart, for model files and checkpoints."""
    facts = f"{table.shape} {table.dtype} {summary.weight!r} {summary.variance!r}".encode()
    return blake2b(facts + summary.origin.tobytes(), digest_size=16).hexdigest()
