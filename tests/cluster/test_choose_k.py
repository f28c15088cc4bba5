"""choose_k: it finds what was planted, nothing where nothing was, and says why."""

import json
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import AgglomerativeClustering as TheirTree
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import calinski_harabasz_score, silhouette_score
from sklearn.mixture import GaussianMixture

from tacit.cluster import ChosenK, KMeans, choose_k
from tacit.cluster.chosen_k import Evidence, KRow, decide, gap_peak, knee_of
from tacit.cluster.k_trials import unit_figures
from tacit.cluster.null_reference import deal_words, draw, fit_reference
from tacit.core import Serial, Threads
from tacit.data import Table
from tacit.decompose import TruncatedSVD
from tests.contract.cases import documents

QUICK = {"n_references": 4, "n_resamples": 8}


def planted(k, d, seed, n=600):
    """Round clouds of deviation 1 whose centers are at least 4 apart."""
    rng = np.random.default_rng(seed)
    while True:
        centers = rng.uniform(-10, 10, (k, d))
        apart = np.linalg.norm(centers[:, None] - centers, axis=2)
        if k == 1 or apart[~np.eye(k, dtype=bool)].min() >= 4:
            return centers[np.arange(n) % k] + rng.normal(size=(n, d))


def three_topics(seed):
    """tf-idf of 900 messages of three newsgroups that have little to do with each other."""
    from tacit import datasets
    from tacit.text import TfidfVectorizer

    news = datasets.load("newsgroups", part="train")
    names = ("sci.space", "rec.sport.hockey", "talk.politics.mideast")
    wanted = [news.target_names.index(name) for name in names]
    places = np.flatnonzero(np.isin(news.target, wanted))
    places = np.random.default_rng(seed).permutation(places)[:900]
    model = TfidfVectorizer(min_df=3, stop_words="english", sublinear_tf=True)
    return model.fit_transform([news.documents[i] for i in places])


# --- It finds what is there ---


@pytest.mark.parametrize(("k", "d"), [(1, 2), (3, 2), (8, 2), (1, 20), (3, 20), (8, 20)])
def test_it_finds_the_planted_clouds(k, d):
    result = choose_k(planted(k, d, seed=0, n=400), range(1, 11), random_state=0)
    assert result.best == k


@pytest.mark.parametrize("d", [2, 20])
def test_uniform_noise_has_no_clusters(d):
    result = choose_k(np.random.default_rng(d).random((300, d)), range(1, 9), random_state=0)
    assert result.best == 1
    assert result.headline.startswith("No clusters")
    assert "No number of clusters is sharper" in result.reasons[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(size=(400, 1)) @ rng.normal(size=(1, 6)),  # a line, fading out
        lambda rng: rng.random((400, 2)) * [20, 1],  # a ribbon with edges
        lambda rng: rng.standard_t(3, size=(400, 6)),  # outliers
    ],
    ids=["line", "ribbon", "heavy tails"],
)
def test_odd_shapes_without_clusters_are_not_taken_for_any(make):
    assert choose_k(make(np.random.default_rng(1)), range(1, 7), random_state=0).best == 1


def test_irises_are_two_or_three():
    assert choose_k(load_iris().data, random_state=0).best in (2, 3)


@pytest.mark.slow
@pytest.mark.skipif(
    not (Path(os.environ.get("TACIT_DATA", "")) / "newsgroups" / "train.jsonl.gz").exists(),
    reason="TACIT_DATA names no folder with the newsgroups",
)
def test_nine_of_ten_planted_numbers_are_recovered():
    """The ten: clouds of 1, 3 and 8 in 2 and 20 columns, noise, irises (2 or 3 count), three
    newsgroups, and the ten digits. Only 10 counts for the digits, where k-means mostly sees 9:
    some digits share a cluster. Other seeds than those that the rule was made with.
    """
    seed = 101
    hits = [
        choose_k(planted(k, d, seed), random_state=seed).best == k
        for k in (1, 3, 8)
        for d in (2, 20)
    ]
    noise = np.random.default_rng(seed).random((600, 5))
    hits.append(choose_k(noise, random_state=seed).best == 1)
    hits.append(choose_k(load_iris().data, random_state=seed).best in (2, 3))
    hits.append(choose_k(three_topics(seed), random_state=seed).best == 3)
    hits.append(choose_k(load_digits().data, random_state=seed).best == 10)
    assert sum(hits) >= 9, hits


def test_sparse_counts_are_compared_by_direction_after_reduction():
    X, _ = documents(600, v=80, k=3, seed=1)
    result = choose_k(X, range(1, 7), random_state=0)
    assert result.best == 3
    assert "truncated SVD" in result.notes[-1]
    assert all(row.bic is None for row in result.table)
    scaled = sp.csr_array(sp.diags_array(np.linspace(1, 50, 600)) @ X)
    assert choose_k(scaled, range(1, 7), random_state=0).best == 3


@pytest.mark.parametrize("method", ["spherical", "ward", "average", "kmedoids"])
def test_other_methods_find_them_too(method):
    X = planted(3, 4, seed=3, n=150)
    if method == "spherical":  # directions, not places
        X = np.eye(4)[np.arange(150) % 3] * 8 + np.random.default_rng(0).normal(size=(150, 4))
    result = choose_k(X, range(1, 6), method=method, random_state=0, **QUICK)
    assert result.best == 3


def test_estimators_of_others_are_welcome():
    X = planted(3, 3, seed=5, n=150)
    few = {"n_references": 5, "n_resamples": 3, "random_state": 0}
    theirs = choose_k(X, range(1, 5), method=TheirTree(), **few)
    assert theirs.best == 3
    mixture = choose_k(
        X, range(1, 5), method=GaussianMixture(init_params="k-means++", n_init=2), **few
    )
    assert mixture.best == 3
    bics = [row.bic for row in mixture.table]
    assert int(np.argmin(bics)) == 2
    expected = (
        GaussianMixture(3, init_params="k-means++", n_init=5, random_state=0).fit(X).bic(X)
    )
    assert mixture[3].bic == pytest.approx(expected, rel=0.01)


# --- It says what it did ---


def test_the_figures_are_those_of_the_measures():
    from tacit.measure import davies_bouldin_score, silhouette_score

    X = planted(3, 2, seed=1, n=300)
    result = choose_k(X, range(1, 5), random_state=0, **QUICK)
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(X)
    row = result[3]
    assert row.inertia == pytest.approx(KMeans(3, n_init=10, random_state=0).fit(X).inertia_)
    assert row.silhouette == pytest.approx(silhouette_score(X, labels))
    assert row.davies_bouldin == pytest.approx(davies_bouldin_score(X, labels))
    total = ((X - X.mean(axis=0)) ** 2).sum()
    assert row.explained == pytest.approx(1 - row.inertia / total)
    assert result[1].silhouette is None
    assert row.stability > 0.95
    assert result.knee == knee_of((1, 2, 3, 4), np.array([row.inertia for row in result.table]))
    assert min(result.table, key=lambda row: row.bic).k == 3


def test_long_tables_are_sampled_and_it_says_so():
    X = planted(3, 2, seed=2, n=5000)
    result = choose_k(X, range(1, 6), max_rows=400, random_state=0, **QUICK)
    assert result.best == 3
    assert result.rows == 400
    assert result.notes[0] == "These figures are of 400 of the 5,000 rows, drawn at random."
    table = choose_k(Table.of(X), range(1, 6), max_rows=400, random_state=0, **QUICK)
    assert table == result


def test_wide_rows_are_reduced_and_it_says_so():
    X = planted(3, 150, seed=2, n=200)
    result = choose_k(X, range(1, 5), random_state=0, **QUICK)
    assert result.best == 3
    assert "of 150 columns were reduced to 50" in result.notes[-1]


def test_it_prints_and_goes_to_json_and_pandas():
    result = choose_k(planted(3, 2, seed=1, n=120), range(1, 5), random_state=0, **QUICK)
    lines = str(result).splitlines()
    assert lines[0] == "3 clusters."
    assert [line.endswith("*") for line in lines].count(True) == 1
    assert json.loads(json.dumps(result.to_dict()))["best"] == 3
    frame = result.to_frame()
    assert list(frame.index) == [1, 2, 3, 4]
    assert frame.loc[3, "stability"] == result[3].stability
    assert "<table" in result._repr_html_()
    with pytest.raises(KeyError, match="k=9 was not tried"):
        result[9]


def test_the_same_seed_gives_the_same_bits_on_any_engine():
    X = planted(3, 3, seed=4, n=200)
    runs = [
        choose_k(X, range(1, 5), random_state=7, engine=engine, **QUICK)
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    assert runs[0] == runs[1] == runs[2]
    assert choose_k(X, range(1, 5), random_state=8, **QUICK).table != runs[0].table


def test_a_plain_kmeans_is_the_method_of_that_name():
    X = planted(2, 2, seed=0, n=100)
    named = choose_k(X, range(1, 4), random_state=0, **QUICK)
    by_estimator = choose_k(X, range(1, 4), method=KMeans(n_init=3), random_state=0, **QUICK)
    assert by_estimator == named


def test_nothing_given_is_changed():
    X = planted(2, 2, seed=0, n=100)
    before, model = X.copy(), KMeans(5, tol=1e-3)
    choose_k(X, range(1, 4), method=model, random_state=0, **QUICK)
    assert np.array_equal(X, before)
    assert model.get_params()["n_clusters"] == 5
    assert not hasattr(model, "labels_")


def test_callbacks_hear_of_every_data_set_and_may_stop():
    X = planted(2, 2, seed=0, n=100)
    steps = []
    choose_k(X, range(1, 4), random_state=0, callbacks=[steps.append], **QUICK)
    assert [step.number for step in steps] == list(range(1, 21))
    assert [step.done for step in steps] == [False] * 19 + [True]
    result = choose_k(
        X, range(1, 4), random_state=0, callbacks=[lambda step: step.number == 8], **QUICK
    )
    assert result.notes == ("Stopped after 8 of 20 data sets.",)
    with pytest.raises(RuntimeError, match="too few for a decision"):
        choose_k(X, range(1, 4), random_state=0, callbacks=[lambda step: True], **QUICK)


# --- Degenerate and wrong input ---


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (np.ones((20, 3)), "All 20 rows are equal"),
        (np.zeros((1, 2)), "only k = 1"),
        (np.arange(6.0).reshape(3, 2), "only k = 1"),
    ],
)
def test_where_there_is_nothing_to_compare_it_says_so(X, said):
    result = choose_k(X, random_state=0)
    assert result.best == 1
    assert said in result.reasons[0]
    assert "Left out k = 2" in result.notes[-1]


def test_few_distinct_rows_are_their_own_clusters():
    X = np.repeat(np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]]), 20, axis=0)
    result = choose_k(X, range(1, 9), random_state=0, **QUICK)
    assert [row.k for row in result.table] == [1, 2, 3]
    assert np.isfinite([row.inertia for row in result.table]).all()


def test_rows_without_direction_are_left_out():
    X, _ = documents(200, v=40, k=2, seed=0)
    X = sp.vstack([X, sp.csr_array((5, 40))], format="csr")
    result = choose_k(X, range(1, 4), random_state=0, **QUICK)
    assert result.notes[0] == "Left out 5 rows that are all zero: no direction."
    with pytest.raises(ValueError, match="all rows are zero"):
        choose_k(sp.csr_array((9, 4)), range(1, 4))


@pytest.mark.parametrize(
    ("X", "options", "error", "message"),
    [
        (np.eye(9), {"ks": [0, 1]}, ValueError, "1 or more"),
        (np.eye(9), {"ks": [1.5]}, TypeError, "needs several integers"),
        (np.eye(9), {"ks": 3}, TypeError, "needs several integers"),
        (np.eye(9), {"method": "magic"}, ValueError, "'magic'.* is unknown"),
        (np.eye(9), {"method": KMeans}, TypeError, "needs a clusterer"),
        (np.eye(9), {"method": object()}, TypeError, "needs a clusterer"),
        (np.eye(9), {"n_references": 1}, ValueError, "from 2 up"),
        (np.eye(9), {"engine": "warp"}, ValueError, "unknown"),
        (np.full((9, 2), np.nan), {}, ValueError, "row 0, column 0"),
        (np.zeros(9), {}, ValueError, "ndim=1"),
        (np.eye(9) * 1e200, {}, ValueError, "Rescale"),
        (np.eye(9) * 1e-200, {}, ValueError, "Rescale"),
        (np.zeros((0, 2)), {}, ValueError, "no rows"),
    ],
)
def test_wrong_input_is_refused_with_the_way_out(X, options, error, message):
    with pytest.raises(error, match=message):
        choose_k(X, **options)


def test_distances_are_sent_elsewhere():
    from tacit.cluster import KMedoids

    with pytest.raises(ValueError, match="stability"):
        choose_k(np.eye(9), method=KMedoids(2, metric="precomputed"))


# --- Its parts ---


def row(k, gap=0.0, silhouette=0.5):
    return KRow(k, 1.0, 0.0, silhouette, gap=gap, gap_error=0.01,
                null_silhouette=0.1, null_stability=0.5)  # fmt: skip


def test_the_decision_is_as_documented():
    table = [KRow(1, 1.0, 0.0), *(row(k) for k in (2, 3, 4))]
    above = np.array([np.nan, 9.0, 9.0, 9.0])
    gain, clear, apart = np.array([0.0, 0.2, 0.3, 0.9]), np.ones(4), np.ones(4)
    stable = Evidence(above, np.array([1.0, 0.97, 0.95, 0.5]), gain, clear, apart)
    assert decide(table, stable)[0] == 3  # the largest stable number
    cut = stable._replace(clear=np.array([0.0, 0.1, 0.2, 1.0]))
    assert decide(table, cut)[0] == 4  # stable, but hardly sharper than a cloud cut in two
    vague = Evidence(above, np.array([1.0, 0.7, 0.7, 0.5]), gain, clear, apart)
    assert decide(table, vague)[0] == 4  # nothing stable: the largest gain
    loose = vague._replace(gain=np.array([0.0, 0.1, 0.24, 0.1]))
    assert decide(table, loose)[0] == 1  # hardly found again better than chance
    chance = Evidence(np.array([np.nan, 3.0, 3.9, 1.0]), np.ones(4), gain, clear, apart)
    assert decide(table, chance)[0] == 1  # not above chance
    pieces = stable._replace(apart=np.array([1.0, 0.6, 0.4, 0.0]))
    assert decide(table, pieces)[0] == 3  # gaps at some number are enough
    best, reasons = decide(table, stable._replace(apart=np.array([1.0, 0.4, 0.0, 0.0])))
    assert best == 1  # no gaps: pieces of something continuous
    assert "without a gap" in reasons[0]
    peak = [KRow(1, 1.0, 0.0, gap=0.0), row(2, 0.1), row(3, 0.5), row(4, 0.2)]
    touching = Evidence(above, np.array([1.0, 0.97, 0.7, 0.5]), gain, clear, apart)
    assert decide(peak, touching)[0] == 3  # a clear peak of the gap, recognizable clusters
    duller = [*peak[:2], row(3, 0.5, silhouette=0.3), peak[3]]
    assert decide(duller, touching)[0] == 2  # but not if they are much less sharp
    assert gap_peak(peak) == 2
    assert gap_peak(table[1:]) is None


def test_the_knee_is_where_the_curve_bends():
    assert knee_of((1, 2, 3, 4), np.array([10.0, 2.0, 1.5, 1.0])) == 2
    assert knee_of((1, 2), np.array([10.0, 2.0])) is None
    assert knee_of((1, 2, 3), np.array([5.0, 5.0, 5.0])) is None


def test_references_have_the_shape_of_the_rows_and_no_clusters():
    X = planted(2, 3, seed=0, n=4000) * [1.0, 5.0, 0.2]
    reference = fit_reference(X, unit=False)
    cloud = draw(reference, "normal", np.uint64(1))
    assert np.allclose(cloud.mean(axis=0), X.mean(axis=0), atol=0.1 * X.std(axis=0).max())
    assert np.allclose(np.cov(cloud.T), np.cov(X.T), rtol=0.1, atol=0.1 * X.var(axis=0).max())
    box = draw(reference, "box", np.uint64(1))
    turned = (box - reference.mean) @ reference.axes
    assert (turned >= reference.low - 1e-9).all()
    assert (turned <= reference.high + 1e-9).all()
    round_rows = draw(fit_reference(X, unit=True), "normal", np.uint64(2))
    assert np.allclose(np.linalg.norm(round_rows, axis=1), 1.0)
    radial = draw(reference, "radial", np.uint64(3))
    near = fit_reference(radial, unit=False)
    assert np.allclose(np.sort(near.radii), np.sort(reference.radii), rtol=0.1)


def annulus(n, rng):
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.1 * rng.normal(size=(n, 2))


def sphere(n, rng):
    rows = rng.normal(size=(n, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows + 0.05 * rng.normal(size=rows.shape)


def curve(n, rng):
    t = rng.uniform(-1, 1, n)
    return np.stack([t, t**2], axis=1) + 0.03 * rng.normal(size=(n, 2))


def bands(n, rng):
    """Three, so long that centers cut them across."""
    return np.stack([20 * rng.random(n), 3 * rng.integers(3, size=n) + rng.normal(0, 0.4, n)]).T


@pytest.mark.parametrize("make", [curve, bands])
def test_pieces_without_gaps_are_no_clusters(make):
    X = make(500, np.random.default_rng(0))
    result = choose_k(X, range(1, 13), random_state=0, **QUICK)
    assert result.best == 1
    assert "without a gap" in result.reasons[0]


@pytest.mark.parametrize(
    "make",
    [annulus, sphere, lambda n, rng: rng.standard_t(3, size=(n, 3))],
    ids=["ring", "sphere", "heavy tails"],
)
def test_empty_middles_and_heavy_tails_are_no_clusters(make):
    X = make(500, np.random.default_rng(0))
    assert choose_k(X, range(1, 9), random_state=0, **QUICK).best == 1


def topics(n, seed, k=4, v=400, length=12):
    """Short documents of k topics over Zipf words, as counts."""
    rng = np.random.default_rng(seed)
    common = 1 / np.arange(1, v + 1)
    words = []
    for _ in range(n):
        topic = np.where(np.arange(v) % k == rng.integers(k), common, 0.0)
        p = 0.4 * common / common.sum() + 0.6 * topic / topic.sum()
        words.append(rng.choice(v, size=rng.integers(length // 2, 2 * length), p=p))
    return words, v


def count_words(words, v):
    rows = np.repeat(np.arange(len(words)), [len(each) for each in words])
    cells = (np.ones(len(rows)), (rows, np.concatenate(words)))
    return sp.csr_array(cells, shape=(len(words), v))


def test_words_dealt_out_at_random_have_no_clusters():
    words, v = topics(800, seed=0)
    assert choose_k(count_words(words, v), range(1, 9), random_state=0, **QUICK).best == 4
    dealt = np.random.default_rng(1).permutation(np.concatenate(words))
    ends = np.cumsum([len(each) for each in words])[:-1]
    X = count_words(np.split(dealt, ends), v)
    result = choose_k(X, range(1, 9), random_state=0, **QUICK)
    assert result.best == 1
    assert "dealt out" in result.reasons[0]
    rows = TruncatedSVD(20, random_state=0).fit_transform(X)
    options = {"unit": True, "random_state": 0, **QUICK}
    assert choose_k(rows, range(1, 9), words=X, **options).best == 1
    with pytest.raises(ValueError, match="a row for each of 800 rows"):
        choose_k(rows, range(1, 9), words=X[:5], **options)


def test_dealing_keeps_the_sizes_of_documents_and_of_words():
    X = count_words(*topics(200, seed=2))
    indices = X.indices.copy()
    deal_words(indices, X.indptr, X.shape[1], np.uint64(3))
    assert not np.array_equal(indices, X.indices)
    assert np.array_equal(np.bincount(indices), np.bincount(X.indices))
    for first, last in pairwise(X.indptr):
        assert len(np.unique(indices[first:last])) == last - first


def test_an_answer_is_a_value():
    a = ChosenK(2, (row(2),), ("because",))
    assert a == ChosenK(2, (row(2),), ("because",))
    assert a.headline == "2 clusters."


def units(n, d, k, seed, width=0.3):
    """Rows of length one around k directions, and which."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(k, d))
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    truth = rng.integers(k, size=n)
    rows = centers[truth] + width * rng.normal(size=(n, d)) / np.sqrt(d)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), truth


@pytest.mark.parametrize("n", [700, 40])
def test_figures_agree_with_scikit_learn(n):
    rows, truth = units(n, 8, 3, seed=6, width=1.5)
    rng = np.random.default_rng(7)
    several = [truth, rng.integers(5, size=n), np.zeros(n, int)]
    inertia, silhouette = unit_figures(rows, several)
    assert np.isnan(silhouette[2])
    for labels, within, sharp in zip(several[:2], inertia, silhouette, strict=False):
        assert sharp == pytest.approx(silhouette_score(rows, labels), abs=1e-5)
        total, k = ((rows - rows.mean(axis=0)) ** 2).sum(), int(labels.max()) + 1
        ratio = (total - within) * (n - k) / (within * (k - 1))
        assert ratio == pytest.approx(calinski_harabasz_score(rows, labels))


def test_a_row_alone_has_no_silhouette_and_equal_rows_have_none_to_speak_of():
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert unit_figures(rows, [np.array([0, 0, 1])])[1][0] == pytest.approx(2 / 3)
    same = np.repeat([[0.6, 0.8]], 4, axis=0)
    assert abs(unit_figures(same, [np.array([0, 0, 1, 1])])[1][0]) <= 1
