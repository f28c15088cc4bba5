"""Classes into a binary tree: the two whose merger loses least information, again and again.

The path from the root to a class, a string of zeros and ones, is a name whose beginnings are
coarser classes. The loss of every pair is kept; after a merger only the terms that the two
classes took part in change, so a merger costs k^2 steps and the tree k^3.

Brown, Della Pietra, deSouza, Lai and Mercer (1992), Class-based n-gram models of natural
language. Computational Linguistics 18.
"""

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.language.exchange import count_logs, nlogn

__all__ = ["merge_classes", "paths_of"]

SPAN = 20_000_000  # steps to a kernel call


def merge_classes(follow: np.ndarray, size: np.ndarray) -> np.ndarray:
    """(k - 1, 2) int32: what merges with what; the i-th merger makes class k + i.

    ``follow`` and ``size`` are counts of k classes and, last, the edge, which never merges.
    """
    k, logs = len(size) - 1, count_logs()
    follow, size = follow.copy(), size.copy()
    live = np.ones(k, bool)
    loss = np.full((k, k), np.inf)
    rows = max(1, SPAN // max(1, k * k))
    for i in range(0, k, rows):
        check_stop()
        fill_losses(follow, size, live, loss, logs, i, min(i + rows, k))
    names = np.arange(k, dtype=np.int32)
    merges = np.empty((max(k - 1, 0), 2), np.int32)
    for step in range(k - 1):
        check_stop()
        a, b = divmod(int(np.argmin(loss)), k)  # a < b; the lowest pair of equals
        merges[step] = names[a], names[b]
        names[a] = k + step
        forget_terms(follow, live, loss, logs, a, b)
        for table in (follow, follow.T):
            table[a] += table[b]
            table[b] = 0
        size[a] += size[b]
        size[b] = 0
        live[b] = False
        loss[b, :], loss[:, b] = np.inf, np.inf
        add_terms(follow, size, live, loss, logs, a)
    return merges


def paths_of(merges: np.ndarray, k: int) -> list[str]:
    """The path of each class, from the root.

    >>> paths_of(np.array([[0, 2], [1, 3]]), 3)
    ['10', '0', '11']
    """
    path = {2 * k - 2: ""} if k > 1 else {0: ""}
    for step in range(len(merges) - 1, -1, -1):
        here = path.pop(k + step)
        left, right = merges[step].tolist()
        path[left], path[right] = here + "0", here + "1"
    return [path[c] for c in range(k)]


# --- Kernels ---


@kernel
def term(follow, i, j, x, logs):
    """What merging i and j changes in their counts with x."""
    ix, jx, xi, xj = follow[i, x], follow[j, x], follow[x, i], follow[x, j]
    change = 0.0
    if ix and jx:
        change += nlogn(ix + jx, logs) - nlogn(ix, logs) - nlogn(jx, logs)
    if xi and xj:
        change += nlogn(xi + xj, logs) - nlogn(xi, logs) - nlogn(xj, logs)
    return change


@kernel
def whole_loss(follow, size, live, i, j, logs):
    change = term(follow, i, j, len(size) - 1, logs)
    for x in range(len(live)):
        if live[x] and x != i and x != j:
            change += term(follow, i, j, x, logs)
    ii, ij, ji, jj = follow[i, i], follow[i, j], follow[j, i], follow[j, j]
    change += nlogn(ii + ij + ji + jj, logs)
    change -= nlogn(ii, logs) + nlogn(ij, logs) + nlogn(ji, logs) + nlogn(jj, logs)
    change -= 2.0 * (
        nlogn(size[i] + size[j], logs) - nlogn(size[i], logs) - nlogn(size[j], logs)
    )
    return -change


@kernel
def fill_losses(follow, size, live, loss, logs, start, stop):
    for i in range(start, stop):
        for j in range(i + 1, len(live)):
            loss[i, j] = whole_loss(follow, size, live, i, j, logs)


@kernel
def forget_terms(follow, live, loss, logs, a, b):
    """Take the terms with a and b out of the losses of all other pairs."""
    for i in range(len(live)):
        if live[i] and i != a and i != b:
            for j in range(i + 1, len(live)):
                if live[j] and j != a and j != b:
                    loss[i, j] += term(follow, i, j, a, logs) + term(follow, i, j, b, logs)


@kernel
def add_terms(follow, size, live, loss, logs, a):
    """Bring in the terms with the merged class, and its own losses."""
    for i in range(len(live)):
        if not live[i]:
            continue
        if i == a:
            continue
        for j in range(i + 1, len(live)):
            if live[j] and j != a:
                loss[i, j] -= term(follow, i, j, a, logs)
        low, high = min(i, a), max(i, a)
        loss[low, high] = whole_loss(follow, size, live, low, high, logs)
