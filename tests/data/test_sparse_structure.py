"""Sparse matrices whose indices lead elsewhere are found, in every format of SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from tacit.data.sparse_structure import CHECKS, check_structure

ROWS = np.abs(np.random.default_rng(0).normal(size=(40, 3))) + 0.1
SOUND = sp.csr_array(np.where(ROWS > 0.5, ROWS, 0.0))


def broken_matrices():
    """Sparse matrices whose indices lead elsewhere, in every format."""
    for kind in ("csr", "csc", "bsr"):
        for attribute, place, value in (
            ("indices", 3, 2**30),
            ("indices", 3, -(2**30)),
            ("indices", -1, 40),
            ("indptr", -1, 2**30),
            ("indptr", 1, 2**20),
            ("indptr", 1, -1),
            ("indptr", 0, 2),
        ):
            X = SOUND.copy().asformat(kind)
            getattr(X, attribute)[place] = value
            yield X
        for attribute in ("indices", "indptr", "data"):
            X = SOUND.copy().asformat(kind)
            setattr(X, attribute, getattr(X, attribute)[:-1])  # too short
            yield X
        for attribute in ("indices", "indptr"):
            X = SOUND.copy().asformat(kind)
            setattr(X, attribute, getattr(X, attribute)[:, None])  # of two dimensions
            yield X
            X = SOUND.copy().asformat(kind)
            setattr(X, attribute, getattr(X, attribute) + 0.5)  # no integers
            yield X
    for axis, value in ((0, 40), (1, 3), (0, -1), (1, -(2**30))):
        X = SOUND.copy().tocoo()
        X.coords[axis][2] = value
        yield X
    X = SOUND.copy().tocoo()
    X.data = X.data[:-1]
    yield X
    for columns, values in (([3], [1.0]), ([-1], [1.0]), ([0, 1], [1.0]), ([0], [1.0] * 9)):
        X = SOUND.copy().tolil()
        X.rows[3], X.data[3] = columns, values
        yield X
    X = sp.dia_array(np.eye(4))
    X.offsets = np.arange(9)
    yield X


def message_about(X):
    try:
        check_structure(X, "KMeans")
    except ValueError as error:
        return str(error)
    return f"{X.format} passes"


def test_every_broken_matrix_is_found():
    messages = [message_about(X) for X in broken_matrices()]  # no test may print such a matrix
    expected = "KMeans: X is an inconsistent sparse matrix"
    assert [message[: len(expected)] for message in messages] == [expected] * len(messages)


@pytest.mark.parametrize("kind", [*CHECKS, "dok"])
def test_sound_matrices_pass(kind):
    for rows in (SOUND, sp.csr_array((40, 3)), sp.csr_array((0, 3)), sp.csr_array((3, 0))):
        if not (kind == "bsr" and 0 in rows.shape):
            check_structure(rows.copy().asformat(kind), "KMeans")
    for index in (np.int32, np.int64):  # SciPy has both
        X = SOUND.copy()
        X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
        check_structure(X, "KMeans")
