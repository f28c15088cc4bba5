"""Find near-duplicate documents.

    collect    the shingles and the signature of every document of a block (``search.minhash``)
    compare    distinct documents that agree in a band of the signature, shingle by shingle
    group      connected components of the pairs at or above the threshold
    complete   compare the remaining pairs inside small groups (``search.similar_pairs``)

Contract: summable; every step depends on the seed and the documents alone. Every pair that is
reported was verified: its Jaccard similarity is exact (but for collisions of 64-bit hashes).
Equal documents are always found; others with at least the probability of ``recall_at``.

Broder (1997), On the resemblance and containment of documents. Manning, Raghavan and Schütze
(2008), Introduction to Information Retrieval, section 19.6.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Engine, get_engine
from tacit.core.estimator import Estimator
from tacit.core.memory import parse_memory
from tacit.core.randoms import seed_from
from tacit.core.string_array import StringArray
from tacit.data.documents import Documents
from tacit.search.minhash import choose_bands, collect, hashing, recall_at
from tacit.search.similar_pairs import (
    Pairs,
    complete,
    equal_sets,
    estimate,
    gather,
    group,
    similar_sets,
)
from tacit.text.tokens import RULES, token_rule

__all__ = ["DuplicatePair", "NearDuplicates"]


@dataclass(frozen=True)
class DuplicatePair:
    """Two near-duplicate documents.

    >>> print(DuplicatePair("a.txt", "b.txt", 0.875, 0.9))
    a.txt  b.txt  0.900
    """

    left: int | str
    right: int | str
    estimated: float  # Jaccard similarity, from the signatures
    jaccard: float  # and exactly, from the shingles

    def to_dict(self) -> dict[str, Any]:
        """The pair as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.left}  {self.right}  {self.jaccard:.3f}"


class NearDuplicates(ClusterMixin, Estimator):
    """Group documents that have most of their shingles (runs of words) in common.

    Parameters
    ----------
    threshold : float
        Jaccard similarity of shingles from which two documents are near-duplicates, above 0.
    shingle : int
        Words in a shingle. More make the measure stricter: changing one word changes as many
        shingles.
    recall : float
        Probability of comparing a pair at the threshold; it is higher for more similar pairs.
        Determines how signatures are cut into bands.
    n_hashes : int
        Length of the signatures, 4 bytes per hash and document.
    rule, lowercase, min_length
        Tokenizer, see ``tacit.text.tokenize``.
    memory : int, or str such as "2GB"
        How much of the shingles, 8 bytes each, to keep in memory; the rest goes to a
        temporary file.
    random_state : int, RandomState or None
        Seed of the hash functions.
    engine : {"serial", "threads", "dask"} or Engine
        Where the pass runs.

    Attributes
    ----------
    labels_ : int32 array of shape (n_documents,)
        The group of each document, numbered by first documents; -1 for one without duplicates.
    pairs_ : int32 array of shape (n_pairs, 2)
        Near-duplicates. In groups of up to 64 documents, all pairs at or above the threshold;
        in larger ones, links enough to connect the group (equal documents each with the first).
    jaccard_, estimated_ : float64 arrays of shape (n_pairs,)
        Their similarity: exact, and estimated from the signatures.
    empty_ : int32 array
        Documents without words. They are never duplicates.
    bands_, rows_ : int
        Number of bands, and hashes in each.
    n_compared_ : int
        Pairs whose shingles were compared.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "a dog", "The cat sat on the mat!", "", ""]
    >>> model = NearDuplicates(0.8, random_state=0).fit(texts)
    >>> model.groups()
    [[0, 2]]
    >>> model.labels_, model.empty_
    (array([ 0, -1,  0, -1, -1], dtype=int32), array([3, 4], dtype=int32))
    """

    contract: ClassVar[str] = "summable"
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "threshold": [Interval(Real, 0, 1, closed="right")],
        "shingle": [Interval(Integral, 1, 1000, closed="both")],
        "recall": [Interval(Real, 0, 1, closed="neither")],
        "n_hashes": [Interval(Integral, 1, 4096, closed="both")],
        "rule": [StrOptions(set(RULES))],
        "lowercase": ["boolean"],
        "min_length": [Interval(Integral, 1, None, closed="left")],
        "memory": [Interval(Real, 0, None, closed="neither"), str],
        "random_state": ["random_state"],
        "engine": "no_validation",
    }
    _file_schema: ClassVar[dict] = {
        "labels_": ("n_documents_",),
        "pairs_": ("n_pairs", 2),
        "jaccard_": ("n_pairs",),
        "estimated_": ("n_pairs",),
        "empty_": (None,),
        "names_": (None,),
        "name_edges_": ("n_documents_+1",),
    }
    _file_optional = ("names_", "name_edges_")
    _file_kinds: ClassVar[dict] = {"labels_": "i", "pairs_": "i", "empty_": "i"}
    _file_renamed: ClassVar[dict] = {"memory_bytes": "memory"}

    def __init__(
        self,
        threshold: float = 0.8,
        *,
        shingle: int = 4,
        recall: float = 0.99,
        n_hashes: int = 128,
        rule: str = "plain",
        lowercase: bool = True,
        min_length: int = 1,
        memory: int | float | str = 2**30,
        random_state: Any = None,
        engine: str | Engine = "threads",
    ) -> None:
        self.threshold, self.shingle, self.recall = threshold, shingle, recall
        self.n_hashes, self.rule, self.lowercase = n_hashes, rule, lowercase
        self.min_length, self.memory, self.random_state = min_length, memory, random_state
        self.engine = engine

    def fit(self, documents: Any, y: Any = None) -> "NearDuplicates":
        """Find the groups in a list of str, a generator, a dataframe, a path, or Documents."""
        self._validate_params()
        bands, rows = choose_bands(self.threshold, self.n_hashes, self.recall)
        source = Documents.of(documents)
        if not len(source):
            raise ValueError("NearDuplicates needs documents, but there are none. Give some.")
        token = token_rule(self.rule, bool(self.lowercase), int(self.min_length))
        how = hashing(token, self.shingle, bands * rows, seed_from(self.random_state))
        blocks = get_engine(self.engine).map(collect, how, source)
        sets = gather(blocks, parse_memory(self.memory) or 2**30)
        equal, chosen = equal_sets(sets)
        close, compared = similar_sets(sets, chosen, bands, rows, self.threshold)
        links = Pairs(
            np.concatenate([equal.rows, close.rows]),
            np.concatenate([equal.jaccard, close.jaccard]),
        )
        self.labels_ = group(links.rows, len(source))
        pairs, compared_inside = complete(sets, self.labels_, links, self.threshold)
        self.n_documents_ = len(source)
        self.bands_, self.rows_ = bands, rows
        self.n_compared_ = len(equal.rows) + compared + compared_inside
        self.pairs_, self.jaccard_ = pairs
        self.estimated_ = estimate(sets.signatures, pairs.rows)
        self.empty_ = np.flatnonzero(np.diff(sets.edges) == 0).astype(np.int32)
        if source.names is not None:
            self.names_, self.name_edges_ = StringArray.of(source.names)
        elif hasattr(self, "names_"):
            del self.names_, self.name_edges_
        return self

    def groups(self) -> list[list[int | str]]:
        """The groups, the largest first; each is the ids of its documents in order."""
        check_is_fitted(self)
        inside = np.flatnonzero(self.labels_ >= 0)
        order = inside[np.argsort(self.labels_[inside], kind="stable")]
        cuts = np.flatnonzero(np.diff(self.labels_[order])) + 1
        parts = np.split(order, cuts) if len(order) else []
        ids = self._ids()
        parts = sorted(parts, key=lambda part: -len(part))
        return [[ids(row) for row in part.tolist()] for part in parts]

    def pairs(self) -> list[DuplicatePair]:
        """Near-duplicates with their similarity, as in ``pairs_``.

        In groups of up to 64 documents all pairs at or above the threshold are listed; a larger
        group is connected by the pairs listed, but has more.
        """
        check_is_fitted(self)
        ids = self._ids()
        columns = (self.pairs_[:, 0], self.pairs_[:, 1], self.estimated_, self.jaccard_)
        return [
            DuplicatePair(ids(left), ids(right), estimated, jaccard)
            for left, right, estimated, jaccard in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]

    def unique_rows(self) -> np.ndarray:
        """The rows to keep: the first of each group, and all documents without duplicates."""
        check_is_fitted(self)
        _, first = np.unique(self.labels_, return_index=True)
        keep = self.labels_ < 0
        keep[first] = True
        return np.flatnonzero(keep)

    def expected_recall(self, similarity: float) -> float:
        """The probability that a pair of some similarity is compared."""
        check_is_fitted(self)
        return recall_at(similarity, self.bands_, self.rows_)

    def _ids(self) -> Callable[[int], int | str]:
        if hasattr(self, "names_"):
            return StringArray(self.names_, self.name_edges_).get
        return int
