"""Groups found on a sample and refined on all rows, and their stability."""

import numpy as np
import pytest
from sklearn.metrics import v_measure_score

import tacit
from tacit.core import Serial, Threads
from tacit.explore.stages import groups
from tacit.explore.stages.groups import group_rows, repeat_groups, tree_of
from tacit.kernels import nearest_centers

SEED = np.uint64(1)


def units(n=2000, d=12, k=5, width=0.6):
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(k, d))
    truth = rng.integers(k, size=n)
    rows = centers[truth] + width * rng.normal(size=(n, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32), truth


@pytest.fixture
def sampled(monkeypatch):
    monkeypatch.setattr(groups, "STABILITY_ROWS", 300)
    monkeypatch.setattr(nearest_centers, "SPAN", 256)


def test_groups_of_a_sample_are_refined_on_all_rows(sampled):
    rows, truth = units(width=0.4)
    found = group_rows(rows, 5, starts=4, seed=SEED, engine=Serial())
    assert v_measure_score(truth, found.labels) > 0.95
    sizes = np.bincount(found.labels)
    assert (np.diff(sizes) <= 0).all()  # the largest first
    nearest = (rows @ found.centers.T).argmax(axis=1)
    assert np.mean(nearest == found.labels) > 0.999


def test_the_same_bits_on_any_number_of_threads(sampled):
    rows, _ = units(width=1.5)
    one = group_rows(rows, 6, starts=3, seed=SEED, engine=Serial())
    three = group_rows(rows, 6, starts=3, seed=SEED, engine=Threads(3))
    assert one.labels.tobytes() == three.labels.tobytes()
    assert one.centers.tobytes() == three.centers.tobytes()
    again = [
        repeat_groups(rows, one.labels, 6, size=300, repeats=4, seed=SEED, engine=engine)
        for engine in (Serial(), Threads(3))
    ]
    assert again[0][0].tobytes() == again[1][0].tobytes()
    assert again[0][1].tobytes() == again[1][1].tobytes()


def test_clear_groups_are_stable_and_vague_ones_are_not():
    engine = Serial()
    stability = []
    for width in (0.3, 6.0):
        rows, _ = units(600, width=width)
        labels = group_rows(rows, 5, starts=4, seed=SEED, engine=engine).labels
        kept, jaccard = repeat_groups(
            rows, labels, 5, size=480, repeats=6, seed=SEED, engine=engine
        )
        assert jaccard.shape == (5, 6)
        stability.append((kept.mean(), np.median(jaccard)))
    assert min(stability[0]) > 0.9
    assert max(stability[1]) < 0.8


def test_a_tree_of_few_groups_is_the_one_of_many(monkeypatch):
    rows, _ = units(9, d=4)
    by_scipy = np.array(tree_of(rows))
    monkeypatch.setattr("tacit.explore.stages.groups.FEW_LEAVES", 0)
    ours = np.array(tree_of(rows))
    assert np.allclose(by_scipy[:, 2:], ours[:, 2:], atol=1e-6)


def test_a_document_that_is_mostly_of_other_words_is_typical_of_no_group(tmp_path):
    """Along the directions of meaning, which rare words do not have, it is the most typical."""
    rng = np.random.default_rng(0)
    topics = [[f"{name}{i}" for i in range(20)] for name in ("tea", "sea", "law")]
    texts = [" ".join(rng.choice(topics[i % 3], 12)) for i in range(120)]
    strange = " ".join([*topics[0], *(f"rare{i}" for i in range(200))])
    project = tacit.explore([*texts, strange], out=tmp_path / "p.tacit", stages=["groups"])
    context = project._context
    found, rows = context.arrays("groups"), context.arrays("meaning")["rows"]
    mine = found["labels"][-1]
    alike = rows @ found["centers"][mine]
    assert alike[-1] == alike.max()
    for facts in (context.facts("groups")["groups"], context.facts("groups")["nodes"]):
        assert all(len(texts) not in group["typical"] for group in facts)
