"""Divisions that repeat, against data without groups."""

import numpy as np
import pytest

from tacit.cluster.null_reference import KINDS, draw, fit_reference
from tacit.cluster.splits import split_rows

SEED = np.uint64(5)


def split(rows, ks=(2, 3, 4, 5, 6, 8), **more):
    cloud = fit_reference(rows)
    drawn = {kind: [draw(cloud, kind, np.uint64(i)) for i in range(2)] for kind in KINDS}
    return split_rows(rows, drawn, ks, SEED, repeats=4, starts=2, unit=False, **more)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_clear_groups_are_found(k):
    rng = np.random.default_rng(k)
    angle = 2 * np.pi * np.arange(k) / k
    centers = np.zeros((k, 6))
    centers[:, :2] = 12 * np.stack([np.cos(angle), np.sin(angle)], 1)
    result = split(np.concatenate([rng.normal(size=(60, 6)) + each for each in centers]))
    assert result.k == k
    assert len(np.unique(result.labels)) == k


def noises():
    rng = np.random.default_rng(0)
    ring = rng.random(400) * 2 * np.pi
    ball = rng.normal(size=(400, 3))
    return {
        "normal": rng.normal(size=(400, 3)),
        "long": rng.normal(size=(400, 2)) * [8, 1],
        "uniform": rng.random((400, 4)),
        "heavy tails": rng.standard_t(3, size=(400, 3)),
        "ring": np.stack([np.cos(ring), np.sin(ring)], 1) + 0.05 * rng.normal(size=(400, 2)),
        "sphere": ball / np.linalg.norm(ball, axis=1, keepdims=True),
    }


@pytest.mark.parametrize("name", list(noises()))
def test_data_without_groups_are_not_divided(name):
    assert split(noises()[name]).k == 1


def test_larger_numbers_are_tried_while_they_repeat_better():
    rng = np.random.default_rng(1)
    centers = 9 * rng.normal(size=(13, 12))
    rows = np.concatenate([rng.normal(size=(40, 12)) + each for each in centers])
    result = split(rows, (2, 4, 8), further=(10, 13, 16, 20, 25))
    assert (result.k, result.most) == (8, 13)
    assert result.ks == (2, 4, 8, 10, 13, 16)  # 16 repeats less, so 20 is not tried
    assert split(rows, (2, 4, 8)).most == 8


def test_larger_numbers_are_not_tried_where_none_repeats():
    rows = np.random.default_rng(0).normal(size=(300, 3))
    result = split(rows, (2, 3, 4), further=(5, 6))
    assert (result.k, result.most, result.ks) == (1, 1, (2, 3, 4))
