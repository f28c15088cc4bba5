"""The geometry of latent semantic indexing: documents, terms and queries in one space.

With X the weighted documents and X = U S V' cut after k directions, a document x, fitted or
not, lies at x V; the fitted ones at U S. Terms lie at V S, so that products of terms are those
of the columns of the smoothed X, and products of documents those of its rows.

A document that is folded in (x V, with V as it was) lies where a new fit would put it only as
far as V holds it. ``expected_inside`` says how much of an unseen document V may be expected to
hold: of a fitted document x with coordinates z_i in the space and a squared distance r from
it, leaving x out would turn direction i away from x by about z_i r / s_i^2, to first order,
and so the space would hold

    sum over i of z_i^2 max(0, 1 - 2 r / s_i^2)

of it in place of the sum of z_i^2. What is seen of new documents is compared with that.

Deerwester et al. (1990), Indexing by latent semantic analysis. J. American Society for
Information Science 41. Berry, Dumais and O'Brien (1995), Using linear algebra for intelligent
information retrieval. SIAM Review 37. The notes' section on smoothing word counts and latent
semantic analysis.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import one_blas_thread
from tacit.search.receipt import Receipt

__all__ = ["Space", "advice", "cosines", "expected_inside", "inside", "squares", "unit_rows"]

NEAR, FAR = 0.1, 0.25  # refit distances: below no need, above a must


class Space(NamedTuple):
    """k directions among v terms."""

    components: np.ndarray  # (k, v) float32, orthonormal rows
    values: np.ndarray  # (k,) float64, singular values, all above 0

    def place(self, row: Any) -> np.ndarray:
        """(k,) where a sparse row of weights lies."""
        return self.components[:, row.indices] @ row.data

    def smooth(self, row: Any) -> np.ndarray:
        """(v,) the nearest row within the space."""
        with one_blas_thread():
            return self.place(row).astype(np.float32) @ self.components

    def term_lengths(self) -> np.ndarray:
        """(v,) how far each term is from the origin."""
        return np.sqrt(
            np.einsum("ij,ij,i->j", self.components, self.components, self.values**2)
        )

    def term_products(self, term: int) -> np.ndarray:
        """(v,) the products of a term with all of them."""
        scaled = (self.components[:, term] * self.values**2).astype(np.float32)
        with one_blas_thread():
            return scaled @ self.components


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows of length one in float32; a row of zeros stays one."""
    lengths = np.sqrt(squares(rows))[:, None]
    return np.divide(rows, lengths, out=np.zeros(rows.shape, np.float32), where=lengths > 0)


def squares(rows: Any) -> np.ndarray:
    """The squared length of every row, in float64."""
    if sp.issparse(rows):
        data = rows.data.astype(np.float64)
        sums = np.concatenate([[0.0], np.cumsum(data * data)])
        return np.diff(sums[rows.indptr])
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)


def cosines(vectors: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """(n,) float32. Not by BLAS, whose sums depend on the number of its threads."""
    length = float(np.sqrt(vector @ vector))
    if not length:
        return np.zeros(len(vectors), np.float32)
    return np.einsum("ij,j->i", vectors, (vector / length).astype(np.float32))


# --- How far from a new fit ---


def inside(places: np.ndarray, lengths: np.ndarray) -> float:
    """What share of the documents' squared lengths the space holds."""
    total = float(lengths.sum())
    return float(squares(places).sum()) / total if total > 0 else 0.0


def expected_inside(places: np.ndarray, lengths: np.ndarray, values: np.ndarray) -> float:
    """The same for unseen documents of the kind that the space was fitted to."""
    held = places.astype(np.float64) ** 2
    rest = np.maximum(lengths - held.sum(axis=1), 0.0)
    left = np.maximum(0.0, 1 - 2 * rest[:, None] / values**2)
    total = float(lengths.sum())
    return float((held * left).sum()) / total if total > 0 else 0.0


def advice(
    *, added: int, inside: float, expected: float, unknown: float, folded: int, fitted: int
) -> Receipt:
    """What the shares mean. Unknown words count as outside; the ``expected`` share has the
    words taken off that the fitted documents would not have been known by."""
    if not added:
        return Receipt(0, 0.0, "Nothing was added.", inside, expected, unknown)
    held = inside * (1 - unknown)
    distance = min(1.0, max(0.0, 1 - held / expected)) if expected > 0 else float(held == 0)
    if distance > FAR:
        text = "Refit: the new documents are about other things than the fitted ones."
    elif folded > fitted:
        text = "Refit: more documents were folded in than the index was fitted to."
    elif distance > NEAR:
        text = "Refit when convenient: the new documents differ somewhat from the fitted ones."
    else:
        text = "No need to refit: the new documents fit in as the fitted ones would."
    if unknown > 0.1:
        text += f" {unknown:.0%} of their words are not in the vocabulary."
    return Receipt(added, distance, text, inside, expected, unknown)
