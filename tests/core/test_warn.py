"""Warnings name the line of the user's code that caused them."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from tacit.cluster import KMeans, KMedoids, MiniBatchKMeans, linkage
from tacit.decompose import MDS, PCA, ClassicalMDS, ProbabilisticPCA, TruncatedSVD
from tacit.mixture import GaussianMixture, MultivariateNormal

EQUAL = np.ones((8, 3))
FEW = np.repeat(np.arange(6.0).reshape(2, 3), 5, axis=0)
CUBES = np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0))) ** 3  # no distances of points

CALLS = {
    "KMeans": lambda: KMeans(4, random_state=0).fit(FEW),
    "MiniBatchKMeans": lambda: MiniBatchKMeans(4, random_state=0).fit(FEW),
    "KMedoids": lambda: KMedoids(4).fit(FEW),
    "linkage": lambda: linkage(CUBES),
    "GaussianMixture": lambda: GaussianMixture(4, random_state=0).fit(FEW),
    "MultivariateNormal": lambda: MultivariateNormal().fit(FEW),
    "PCA": lambda: PCA(2).fit(EQUAL),
    "TruncatedSVD": lambda: TruncatedSVD(2).fit(EQUAL),
    "ProbabilisticPCA": lambda: ProbabilisticPCA(1, max_iter=1, init="random").fit(CUBES),
    "ClassicalMDS": lambda: ClassicalMDS(8, metric="precomputed").fit(CUBES),
    "MDS": lambda: MDS(2, metric="precomputed", max_iter=1).fit(CUBES),
    "a pipeline": lambda: make_pipeline(PCA(2)).fit(EQUAL),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_warning_points_to_the_line_that_called(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert [each.filename for each in caught] == [__file__]
