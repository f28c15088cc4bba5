"""Same seed, same bytes: in memory, from files, on threads, on a cluster, in any process."""

import hashlib
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.core import Dask, Serial, Threads
from tacit.data import Table
from tests.contract.cases import ESTIMATORS, blobs, case_name, targets, with_params

# Five passes are not meant to be enough; the bits are compared, not the fit.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ROWS = np.abs(blobs(20_000))  # four blocks, of several chunks each
FEWER = {"summable": 20_000, "online": 4_000, "sequential": 4_000, "whole": 500}

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=case_name)
SUMMABLE_ESTIMATORS = [each for each in ESTIMATORS if each.contract == "summable"]
every_summable = pytest.mark.parametrize("estimator", SUMMABLE_ESTIMATORS, ids=case_name)


@pytest.fixture(autouse=True)
def no_work_is_too_small_for_threads(monkeypatch):
    monkeypatch.setattr("tacit.core.engines.SMALL", 0)


def fitted(estimator, data, **changes):
    model = with_params(estimator, random_state=0, max_iter=5, **changes)
    return model.fit(data, targets(estimator, data))


@cache
def reference(estimator):
    """The fit that all others must equal."""
    return fitted(estimator, ROWS[: FEWER[estimator.contract]], engine=Serial())


def digest(model):
    h = hashlib.blake2b()
    for name, value in sorted(vars(model).items()):
        if name.endswith("_") and name != "labels_":
            for each in value if isinstance(value, list | tuple) else [value]:
                h.update(name.encode() + bytes_of(each))
    return h.hexdigest()


def bytes_of(value):
    if hasattr(value, "toarray"):
        value = value.toarray()
    if hasattr(value, "get_params"):  # a model inside a model
        return digest(value).encode()
    array = np.asarray(value)
    return repr(value).encode() if array.dtype == object else array.tobytes()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    np.save(folder / "rows.npy", ROWS)
    table = pa.table({f"c{j}": ROWS[:, j] for j in range(ROWS.shape[1])})
    pq.write_table(table, folder / "rows.parquet", row_group_size=3_501)
    return folder


@pytest.fixture(scope="module")
def two_processes():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@every_estimator
@pytest.mark.parametrize("engine", [Threads(1), Threads(2), Threads(4)], ids=str)
def test_any_number_of_threads(estimator, engine):
    model = fitted(estimator, ROWS[: FEWER[estimator.contract]], engine=engine)
    assert digest(model) == digest(reference(estimator))
    if hasattr(model, "labels_"):
        np.testing.assert_array_equal(model.labels_, reference(estimator).labels_)


@every_summable
def test_memory_or_file(estimator, files):
    same = digest(reference(estimator))
    assert digest(fitted(estimator, Table.from_npy(files / "rows.npy"))) == same
    assert digest(fitted(estimator, Table.from_parquet(files / "rows.parquet"))) == same
    assert digest(fitted(estimator, Table.from_array(ROWS))) == same


@every_summable
def test_a_dask_array(estimator):
    dask_array = pytest.importorskip("dask.array")
    array = dask_array.from_array(ROWS, chunks=(1_667, 2))
    assert digest(fitted(estimator, array)) == digest(reference(estimator))


@every_summable
def test_a_cluster_of_two_processes(estimator, files, two_processes):
    same = digest(reference(estimator))
    assert digest(fitted(estimator, ROWS, engine=Dask())) == same
    table = Table.from_npy(files / "rows.npy")
    assert digest(fitted(estimator, table, engine=Dask())) == same


def test_any_hash_seed():
    code = (
        "from tests.contract.test_same_bits import *\n"
        "print([digest(fitted(each, ROWS[:2000])) for each in ESTIMATORS])"
    )
    other = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"  # than that of this process
    child = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": other},
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout == f"{[digest(fitted(each, ROWS[:2000])) for each in ESTIMATORS]}\n"
