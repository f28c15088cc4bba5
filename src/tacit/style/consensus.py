"""Bootstrap consensus tree: which texts belong together, whatever words are counted.

One tree of texts depends on the words that happen to be counted. Here the words are drawn many
times with replacement, every draw gives a tree, and the consensus tree has the clusters that
are in more than half of the trees (or in a larger proportion). Clusters that are in more than
half of them never overlap, so that they are a tree.

Eder (2013), Computational stylistics and Biblical translation: how reliable can a dendrogram
be? Felsenstein (1985), Confidence limits on phylogenies: an approach using the bootstrap.
Evolution 39. Margush and McMorris (1981), Consensus n-trees. Bulletin of Mathematical Biology.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.utils import check_array

from tacit.cluster import linkage
from tacit.cluster.hierarchy.newick import quote
from tacit.core.engines import check_stop
from tacit.core.randoms import integers, key, seed_from
from tacit.style.deltas import Scale, check_variant, score_distances

__all__ = ["ConsensusTree", "consensus_tree"]


@dataclass(frozen=True)
class ConsensusTree:
    """Clusters of texts that most trees have, with their support."""

    names: list[str]
    clusters: list[tuple[tuple[int, ...], float]]  # places of texts, support; largest first
    n_trees: int

    def support(self, names: Sequence[str]) -> float:
        """The proportion of trees with exactly these texts as a cluster; 0.0 if too few."""
        places = tuple(sorted(self.names.index(name) for name in names))
        return dict(self.clusters).get(places, 0.0)

    @property
    def newick(self) -> str:
        """The tree as Newick text; a cluster is named by its support."""
        everything = frozenset(range(len(self.names)))
        nodes = {frozenset(places): support for places, support in self.clusters}
        children: dict[frozenset[int], list[frozenset[int]]] = {}
        larger: list[frozenset[int]] = [everything]
        for node in nodes:  # largest first: the smallest that contains it comes last
            parent = next(other for other in reversed(larger) if node < other)
            children.setdefault(parent, []).append(node)
            larger.append(node)

        def write(node: frozenset[int]) -> str:
            inner = children.get(node, [])
            loose = node.difference(*inner)
            parts = {min(child): write(child) for child in inner}
            parts.update({i: quote(self.names[i]) for i in loose})
            label = f"{nodes[node]:.2f}" if node in nodes else ""
            return f"({','.join(parts[i] for i in sorted(parts))}){label}"

        return write(everything) + ";"

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "newick": self.newick,
            "trees": self.n_trees,
            "clusters": [
                {"texts": [self.names[i] for i in places], "support": support}
                for places, support in self.clusters
            ],
        }


def consensus_tree(
    X: Any,
    names: Sequence[str] | None = None,
    *,
    n_trees: int = 100,
    strength: float = 0.5,
    variant: str = "cosine",
    method: str = "average",
    random_state: Any = 0,
) -> ConsensusTree:
    """Build the tree of texts that most draws of words agree on.

    Parameters
    ----------
    X : array of shape (texts, words)
        Frequencies; ``FunctionWords.transform`` and ``Authorship.frequencies`` give them.
    names : sequence of str, optional
        Of the texts; their numbers by default.
    n_trees : int
        Draws of words, with replacement, as many as there are words.
    strength : float
        The consensus has the clusters in more than this proportion of the trees; at least 0.5.
    variant : {"burrows", "eder", "cosine", "quadratic"}
        The distance; see ``delta``.
    method : str
        The linkage; see ``tacit.cluster.linkage``.
    random_state : int, RandomState or None
        Seed of the draws.

    Examples
    --------
    >>> X = [[5, 1, 4, 2], [5, 1, 4, 3], [1, 6, 2, 5], [1, 5, 2, 5]]
    >>> tree = consensus_tree(X, ["oak", "elm", "cod", "eel"])
    >>> tree.newick
    '((oak,elm)1.00,(cod,eel)1.00);'
    """
    check_variant(variant, "consensus_tree")
    rows = check_array(X, dtype=np.float64, ensure_min_samples=2, input_name="X")
    n, width = rows.shape
    called = [str(name) for name in (range(n) if names is None else names)]
    if len(called) != n:
        raise ValueError(f"consensus_tree was given {len(called)} names for {n} texts.")
    if n_trees < 1 or not 0.5 <= strength < 1:
        raise ValueError(
            f"consensus_tree(n_trees={n_trees}, strength={strength}) needs at least one tree "
            "and a strength from 0.5 to below 1."
        )
    scores, seed = Scale.of(rows).scores(rows), seed_from(random_state)
    counts: Counter = Counter()
    for tree in range(n_trees):
        check_stop()
        words = np.sort(integers(key(seed, tree), width, width))
        distances = score_distances(scores[:, words], scores[:, words], variant)
        np.fill_diagonal(distances, 0.0)
        distances = (distances + distances.T) / 2
        counts.update(clusters_of(linkage(squareform(distances, checks=False), method)))
    clusters = [(c, counts[c] / n_trees) for c in counts if counts[c] > strength * n_trees]
    clusters.sort(key=lambda cluster: (-len(cluster[0]), cluster[0]))
    return ConsensusTree(called, clusters, n_trees)


def clusters_of(Z: np.ndarray) -> list[tuple[int, ...]]:
    """The clusters of a tree, without single texts and all texts.

    >>> clusters_of(np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 3]]))
    [(0, 1)]
    """
    n = len(Z) + 1
    members: list[tuple[int, ...]] = [(i,) for i in range(n)]
    for left, right in Z[:, :2].astype(int).tolist():
        members.append(tuple(sorted(members[left] + members[right])))
    return members[n:-1]
