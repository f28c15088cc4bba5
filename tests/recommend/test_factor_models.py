"""What all factor models promise: predictions, rankings, explanations, new users, files."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import tacit
from tacit.core import ModelFileError, Serial, Threads
from tacit.core.tensorfile import open_tensors, write_tensors
from tacit.data import Ratings
from tacit.measure import rmse
from tacit.recommend import (
    ALS,
    AttributeRecommender,
    BiasedSGD,
    Biases,
    GlobalMean,
    ImplicitALS,
    ItemKNN,
    Popularity,
    UnknownIdWarning,
)
from tests.recommend.planted import planted

RATINGS = planted()
MODELS = {
    "ALS": lambda: ALS(3, random_state=0),
    "plain ALS": lambda: ALS(3, bias=False, weighted=False, reg=1.0, random_state=0),
    "nonnegative ALS": lambda: ALS(3, nonnegative=True, random_state=0),
    "implicit CG": lambda: ImplicitALS(3, random_state=0),
    "implicit Cholesky": lambda: ImplicitALS(3, solver="cholesky", random_state=0),
    "AdaGrad": lambda: BiasedSGD(3, random_state=0),
    "SGD": lambda: BiasedSGD(3, solver="sgd", n_epochs=40, random_state=0),
    "gradient": lambda: BiasedSGD(3, solver="gradient", random_state=0),
    "rows": lambda: BiasedSGD(3, solver="rows", random_state=0),
    "columns": lambda: BiasedSGD(3, solver="columns", random_state=0),
    "biases": lambda: Biases(),
    "mean": lambda: GlobalMean(),
    "popularity": lambda: Popularity(),
    "k-NN": lambda: ItemKNN(),
}
every_model = pytest.mark.parametrize("name", MODELS)
FACTORS = [name for name in MODELS if name not in ("biases", "mean", "popularity", "k-NN")]
every_factorization = pytest.mark.parametrize("name", FACTORS)


def positive(ratings):
    """Counts instead of ratings, for implicit feedback."""
    return Ratings.of(ratings.pairs(), np.maximum(np.round(ratings.values), 1))


def fitted(name, ratings=RATINGS):
    return MODELS[name]().fit(positive(ratings) if "implicit" in name else ratings)


def state_of(model):
    return [
        np.asarray(value)
        for name, value in sorted(vars(model).items())
        if name.endswith("_") and isinstance(value, np.ndarray | float | list)
    ]


@cache
def many(counts):
    """Past the size where threads start."""
    ratings = planted(700, 900, known=0.45)
    return positive(ratings) if counts else ratings


@every_model
def test_the_same_bits_on_any_number_of_threads(name):
    data = RATINGS if name == "k-NN" else many(counts="implicit" in name)
    few = {"max_iter": 2, "n_epochs": 2}
    found = []
    for engine in (Serial(), Threads(1), Threads(2), Threads(4)):
        model = MODELS[name]()
        known = {k: v for k, v in few.items() if k in model.get_params()}
        found.append(state_of(model.set_params(engine=engine, **known).fit(data)))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@every_model
def test_predictions_are_finite_and_one_pair_is_a_float(name):
    model = fitted(name)
    predicted = model.predict(RATINGS)
    assert predicted.shape == (len(RATINGS),)
    assert np.isfinite(predicted).all()
    user, item = RATINGS.pairs()[0]
    assert model.predict(user, item) == pytest.approx(predicted[0])
    assert model.predict([user, user], [item, item]).shape == (2,)
    low, high = RATINGS.scale
    clipped = model.predict(RATINGS, clip=True)
    if "implicit" not in name:
        assert low <= clipped.min()
        assert clipped.max() <= high


@every_model
def test_unknown_ids_are_answered_by_the_biases_and_said_so(name):
    model = fitted(name)
    with pytest.warns(UnknownIdWarning, match="1 of 2 pairs"):
        predicted = model.predict([("nobody", 0), ("u0", 0)])
    assert np.isfinite(predicted).all()
    assert model.known([("nobody", 0), ("u0", 0), ("u0", "nothing")]).tolist() == [
        False, True, False,
    ]  # fmt: skip
    ranked = model.recommend("nobody", 3)
    assert len(ranked) == 3
    assert "unknown" in ranked.notes[0]
    if isinstance(model, ALS | BiasedSGD | Biases) and model.mean_:
        assert predicted[0] == pytest.approx(model.mean_ + model.item_biases_[0], abs=1e-6)


@every_model
def test_rankings_leave_out_what_the_user_rated_unless_asked(name):
    model = fitted(name)
    seen = {item for user, item in RATINGS.pairs() if user == "u0"}
    ranked = model.recommend("u0", 1000)
    assert not seen & {*ranked.ids}
    assert len(ranked) + len(seen) == RATINGS.shape[1]
    scores = [each.score for each in ranked]
    assert scores == sorted(scores, reverse=True)
    assert len(model.recommend("u0", 1000, exclude_seen=False)) == RATINGS.shape[1]


@every_model
def test_similar_items_and_users_are_others_best_first(name):
    model = fitted(name)
    for similar, wanted in ((model.similar_items, 3), (model.similar_users, "u3")):
        ranked = similar(wanted, 5)
        assert wanted not in ranked.ids
        assert len(ranked) == 5
        scores = [each.score for each in ranked]
        assert scores == sorted(scores, reverse=True)
        with pytest.raises(KeyError, match="does not know"):
            similar("nobody")


@every_model
def test_an_explanation_adds_up_to_the_prediction(name):
    model = fitted(name)
    if name in ("popularity", "mean"):
        return
    why = model.explain("u1", 2, n=4)
    terms = sum(each.contribution for each in why.support) + why.others + why.rest
    total = why.mean + why.user_bias + why.item_bias + terms
    assert total == pytest.approx(why.prediction, abs=1e-5)
    assert why.prediction == pytest.approx(model.predict("u1", 2), abs=1e-5)
    assert len(why.support) <= 4
    rated = {item for user, item in RATINGS.pairs() if user == "u1"}
    assert {each.item for each in why.support} <= rated
    assert why.to_dict()["support"] is not None
    assert str(why)


@pytest.mark.parametrize("name", ["ALS", "plain ALS", "implicit Cholesky", "k-NN"])
def test_least_squares_and_neighbors_are_explained_without_rest(name):
    why = fitted(name).explain("u1", 2)
    assert abs(why.rest) < 1e-3


@every_model
def test_a_model_file_gives_the_same_predictions(name, tmp_path):
    model = fitted(name)
    model.save(tmp_path / "m.safetensors")
    again = tacit.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.predict(RATINGS), model.predict(RATINGS))
    assert again.recommend("u5").ids == model.recommend("u5").ids


def forge(source, target, change):
    with open_tensors(source, kind="model") as file:
        document, arrays = file.document, file.read()
    change(document, arrays)
    write_tensors(target, document, arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda d, a: a.update({"user_factors_": a["user_factors_"][:, :2].copy()}),
        lambda d, a: a.update({"user_factors_": a["user_factors_"][:-1].copy()}),
        lambda d, a: a["item_biases_"].__setitem__(0, np.nan),
        lambda d, a: a["ratings_.indices"].__setitem__(0, 10**6),
        lambda d, a: a["ratings_.indptr"].__setitem__(-1, 10**6),
        lambda d, a: a["ratings_.data"].__setitem__(0, np.inf),
        lambda d, a: a["item_ids_"].__setitem__(0, a["item_ids_"][1]),
        lambda d, a: d["fitted"].update({"mean_": "high"}),
        lambda d, a: d["fitted"].update({"scale_": [5.0, 1.0]}),
    ],
)
def test_a_forged_file_is_refused(change, tmp_path):
    fitted("ALS").save(tmp_path / "m.safetensors")
    forge(tmp_path / "m.safetensors", tmp_path / "forged.safetensors", change)
    with pytest.raises(ModelFileError):
        tacit.load(tmp_path / "forged.safetensors")


# --- New users, items, ratings ---


@every_factorization
def test_new_users_are_added_without_a_refit_with_a_receipt(name):
    pairs = np.array([user for user, _ in RATINGS.pairs()])
    new = np.isin(pairs, [f"u{each}" for each in range(10)])
    old = RATINGS.take(~new)
    known = Ratings.of(old.pairs(), old.values)
    guests = RATINGS.take(new)
    guests = Ratings.of(guests.pairs(), guests.values)
    if "implicit" in name:
        known, guests = positive(known), positive(guests)
    model = MODELS[name]().fit(known)
    before = model.item_factors_.copy()
    receipt = model.add_users(guests)
    assert receipt.added == 10
    assert receipt.ratings == len(guests)
    assert np.isfinite(receipt.refit_distance)
    np.testing.assert_array_equal(model.item_factors_, before)
    assert model.known(guests).all()
    assert not {*model.recommend("u1", 1000).ids} & {
        item for user, item in guests.pairs() if user == "u1"
    }
    with pytest.raises(ValueError, match="known already"):
        model.add_users(guests)
    with pytest.raises(ValueError, match="no item of these"):
        model.add_users([("stranger", "nothing", 1.0)])
    if name in ("ALS", "AdaGrad", "SGD"):
        assert rmse(guests.values, model.predict(guests)) < 0.6


@every_factorization
def test_new_items_are_added_without_a_refit(name):
    model = fitted(name)
    receipt = model.add_items([(f"u{each}", "new", 3.0) for each in range(20)])
    assert receipt.added == 1
    assert np.isfinite(model.predict("u50", "new"))


def test_ratings_of_unknown_items_are_left_out_and_counted():
    model = fitted("ALS")
    receipt = model.add_users([("guest", 0, 4.0), ("guest", "nothing", 2.0)])
    assert receipt.ratings == 1
    assert "1 ratings of unknown items were left out" in receipt.advice
    assert model.user_ids_[-1] == "guest"


@every_factorization
def test_partial_fit_takes_in_new_ratings_users_and_items(name):
    model = fitted(name)
    n, m = model.ratings_.shape
    model.partial_fit([("u0", 0, 5.0), ("guest", 0, 4.0), ("u0", "new", 1.0)])
    assert model.ratings_.shape == (n + 1, m + 1)
    assert model.known([("guest", "new")]).all()
    again = MODELS[name]().partial_fit(positive(RATINGS))  # not fitted yet
    assert again.ratings_.shape == (n, m)


def test_partial_fit_moves_a_prediction_towards_the_new_rating():
    model = fitted("ALS")
    before = model.predict("u0", 5)
    target = before + 2
    model.partial_fit([("u0", 5, target)])
    assert abs(model.predict("u0", 5) - target) < abs(before - target)


def test_fold_in_comes_within_a_percent_of_a_refit():
    ratings = planted(600, 100, known=0.3, noise=0.5, seed=3)
    train, test = ratings.split(0.2, random_state=0)
    guest = train.users < 100
    stay = train.take(~guest)
    stay = Ratings.of(stay.pairs(), stay.values)
    come = train.take(guest)
    model = ALS(3, random_state=0, max_iter=30).fit(stay)
    receipt = model.add_users(come.pairs(), come.values)
    refit = ALS(3, random_state=0, max_iter=30).fit(train)
    tested = test.take(test.users < 100)
    folded = rmse(tested.values, model.predict(tested))
    best = rmse(tested.values, refit.predict(tested))
    assert folded < 1.01 * best
    moved = rmse(model.predict(tested), refit.predict(tested))
    assert receipt.refit_distance == pytest.approx(moved, rel=1.0)


# --- Hostile input ---


@every_model
def test_one_rating_is_enough_and_none_is_an_error(name):
    model = MODELS[name]().fit([("a", "x", 3.0)])
    assert np.isfinite(model.predict("a", "x"))
    assert model.recommend("a").ids == []
    assert len(model.similar_items("x")) == 0
    with pytest.raises(ValueError, match="at least one rating"):
        MODELS[name]().fit([])


@every_model
def test_equal_ratings_do_not_break(name):
    same = [(u, i, 4.0) for u in range(6) for i in range(5)]
    model = MODELS[name]().fit(same)
    assert np.isfinite(model.predict(same[0][0], same[0][1]))


@pytest.mark.parametrize("name", ["ALS", "plain ALS", "nonnegative ALS", "AdaGrad"])
def test_values_that_overflow_are_an_error_that_says_so(name):
    huge = [(u, i, 1e30 * (1 + (u + i) % 3)) for u in range(6) for i in range(5)]
    with pytest.raises(ValueError, match="Scale the ratings down"), np.errstate(all="ignore"):
        MODELS[name]().fit(huge)


def test_wrong_arguments_are_refused():
    model = fitted("ALS")
    with pytest.raises(ValueError, match="whole number of at least 1"):
        model.recommend("u0", 0)
    with pytest.raises(ValueError, match="not a pair"):
        model.predict(["u0"])
    with pytest.raises(ValueError, match="as many"):
        model.predict(["u0", "u1"], [1, 2, 3])
    with pytest.raises(ValueError, match="n_factors"):
        ALS(0).fit(RATINGS)
    with pytest.raises(ValueError, match="takes counts"):
        ImplicitALS(2).fit([("a", "x", -1.0)])
    with pytest.raises(ValueError, match="needs the attributes"):
        AttributeRecommender().fit(RATINGS)


def test_a_sparse_matrix_is_no_list_of_pairs():
    model = Biases().fit(RATINGS)
    for ask in (model.predict, model.known):
        with pytest.raises(TypeError, match="takes pairs of user and item, not a sparse"):
            ask(sp.csr_array(np.eye(3)))
