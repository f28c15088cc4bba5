"""Autoencoders: against PCA, with noise, sparse, from files, interrupted, and forged."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from sklearn.datasets import load_digits

import tacit
from tacit.core import Checkpoint, DataError, ModelFileError
from tacit.core.tensorfile import open_tensors, write_tensors
from tacit.data import Table
from tacit.neural import Autoencoder


def leading(X, k):
    """The first principal directions, and the squared error of a row in their space."""
    centered = X - X.mean(axis=0)
    vectors = np.linalg.svd(centered, full_matrices=False)[2][:k].T
    return vectors, float(
        np.square(centered - centered @ vectors @ vectors.T).sum(axis=1).mean()
    )


@pytest.fixture(scope="module")
def ellipsoid():
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    return rng.normal(size=(512, 8)) * [5, 4, 3, 1, 0.8, 0.6, 0.4, 0.3] @ axes + 10


@pytest.fixture(scope="module")
def digits():
    return load_digits().data.astype(np.float32) / 16


def small(**changes):
    """One network for many tests: it is compiled once."""
    settings = {"layers": (3,), "max_iter": 3, "batch_size": 128, "random_state": 0}
    return Autoencoder(**{**settings, **changes})


@pytest.mark.parametrize("tied", [False, True])
def test_a_linear_autoencoder_spans_the_space_of_pca_and_reaches_its_error(ellipsoid, tied):
    model = Autoencoder(
        (3,), activation="identity", tied=tied, learning_rate=0.02, schedule="cosine",
        max_iter=300, batch_size=128, random_state=0,
    ).fit(ellipsoid)  # fmt: skip
    vectors, error = leading(ellipsoid, 3)
    found = model.encoder_weights_[0] if tied else model.decoder_weights_[0].T
    assert np.degrees(subspace_angles(found, vectors)).max() < 1
    assert -model.score(ellipsoid) == pytest.approx(error, rel=0.005)
    assert error <= -model.score(ellipsoid)  # nothing linear is better
    assert len(model.decoder_weights_) == (0 if tied else 1)


def test_a_deep_autoencoder_follows_a_curve_that_pca_cannot():
    turn = np.random.default_rng(0).uniform(-1, 1, size=1024)
    X = np.stack([turn, turn**2, turn**3], axis=1)
    model = Autoencoder(
        (16, 1), activation="tanh", learning_rate=0.01, max_iter=60, batch_size=128,
        random_state=0,
    ).fit(X)  # fmt: skip
    assert -model.score(X) < 0.5 * leading(X, 1)[1]
    assert model.losses_[-1] < model.losses_[0]


@pytest.mark.parametrize(
    ("noise", "level"), [("masking", 0.3), ("gaussian", 0.3), ("salt-and-pepper", 0.2)]
)
def test_a_denoising_autoencoder_lowers_the_error_of_noisy_digits(digits, noise, level):
    rng = np.random.default_rng(1)
    train, clean = digits[:1500], digits[1500:]
    model = Autoencoder(
        (48,), code_activation="relu", noise=noise, noise_level=level, learning_rate=0.005,
        max_iter=25, batch_size=128, random_state=0,
    ).fit(train)  # fmt: skip
    hit = rng.random(clean.shape) < level
    noisy = {
        "masking": np.where(hit, 0, clean),
        "gaussian": clean + level * rng.normal(size=clean.shape),
        "salt-and-pepper": np.where(hit, rng.integers(2, size=clean.shape), clean),
    }[noise].astype(np.float32)
    before = np.square(noisy - clean).sum(axis=1).mean()
    after = np.square(model.reconstruct(noisy) - clean).sum(axis=1).mean()
    assert after < 0.6 * before


@pytest.mark.parametrize("share", [0.9])
def test_a_sparse_autoencoder_has_the_requested_share_of_zeros(digits, share):
    model = Autoencoder(
        (96,), sparsity=share, learning_rate=0.005, max_iter=15, batch_size=128, random_state=0
    ).fit(digits)
    codes = model.transform(digits)
    assert np.mean(codes == 0) == pytest.approx(share, abs=0.01)
    assert model.zero_fraction_ == pytest.approx(share, abs=0.01)
    assert codes.shape[1] > digits.shape[1]  # over-complete
    assert -model.score(digits) < 0.5 * digits.var(axis=0).sum()  # and it still says something


def test_a_penalty_on_codes_makes_zeros(ellipsoid):
    model = small(l1=1.0, layers=(12,), learning_rate=0.02, max_iter=40).fit(ellipsoid)
    assert model.zero_fraction_ > 0.65  # half of them without a penalty
    assert np.mean(model.transform(ellipsoid) == 0) > 0.65
    assert model.losses_[-1] > model.errors_[-1]  # which has no penalty in it


def test_cross_entropy_returns_probabilities(digits):
    model = small(loss="cross-entropy").fit(digits)
    back = model.reconstruct(digits)
    assert back.min() >= 0
    assert back.max() <= 1
    with pytest.raises(ValueError, match=r"takes values from 0 to 1, but .*squared"):
        small(loss="cross-entropy").fit(digits + 1)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(ellipsoid):
    first, again, other = (small(random_state=s).fit(ellipsoid) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.encoder_weights_[0], again.encoder_weights_[0])
    assert first.losses_ == again.losses_
    assert (first.encoder_weights_[0] != other.encoder_weights_[0]).any()


def test_rows_of_a_file_a_sparse_matrix_and_an_array_give_the_same_fit(ellipsoid, tmp_path):
    rows = np.where(np.abs(ellipsoid - 10) > 1, ellipsoid, 0.0)
    np.save(tmp_path / "rows.npy", rows)
    whole = small().fit(rows)
    for X in (Table.from_npy(tmp_path / "rows.npy", block_rows=100), sp.csr_array(rows)):
        model = small().fit(X)
        np.testing.assert_allclose(
            model.encoder_weights_[0], whole.encoder_weights_[0], rtol=1e-4, atol=1e-6
        )
        np.testing.assert_allclose(
            model.transform(X), whole.transform(rows), rtol=1e-3, atol=1e-5
        )
    assert small().fit(Table.from_array(rows)).losses_ == whole.losses_


def test_sparse_rows_are_made_dense_by_mini_batches_only():
    rng = np.random.default_rng(0)
    rows = sp.random_array((4000, 5000), density=0.001, rng=rng, format="csr")
    model = Autoencoder((2,), max_iter=1, batch_size=100, random_state=0)
    tracemalloc.start()
    model.fit(rows)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 0.7 * 4 * 4000 * 5000  # the matrix in float32


def test_early_stopping_keeps_the_best_weights(ellipsoid):
    model = small(
        early_stopping=True, max_iter=100, n_iter_no_change=3, tol=0.05
    ).fit(ellipsoid)
    assert model.converged_
    assert model.n_iter_ < 100
    assert len(model.validation_errors_) == model.n_iter_
    held = min(model.validation_errors_)
    assert held == pytest.approx(-model.score(ellipsoid), rel=0.5)
    assert model.validation_errors_[-1] >= held


def test_a_fit_that_was_cut_off_resumes_with_the_same_bits(ellipsoid, tmp_path):
    settings = {"early_stopping": True, "max_iter": 6}
    whole = small(**settings).fit(ellipsoid)
    path = tmp_path / "fit.checkpoint"

    def interrupt(step):
        if step.number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small(**settings, callbacks=[Checkpoint(path, every=0), interrupt]).fit(ellipsoid)
    assert path.exists()
    resumed = small(**settings, callbacks=[Checkpoint(path)]).fit(ellipsoid)
    assert not path.exists()
    assert resumed.losses_ == whole.losses_
    assert resumed.validation_errors_ == whole.validation_errors_
    np.testing.assert_array_equal(resumed.encoder_weights_[0], whole.encoder_weights_[0])


def test_callbacks_receive_every_pass_and_may_stop_the_fit(ellipsoid):
    seen = []

    def stop(step):
        seen.append((step.name, step.number, len(step.losses)))
        return step.number == 2

    model = small(max_iter=9, callbacks=[stop]).fit(ellipsoid)
    assert seen == [("Autoencoder", 1, 1), ("Autoencoder", 2, 2)]
    assert model.n_iter_ == 2


def test_encoder_and_decoder_are_callables_of_their_own(ellipsoid):
    model = small().fit(ellipsoid)
    encode, decode = model.encoder_, model.decoder_
    np.testing.assert_array_equal(encode(ellipsoid), model.transform(ellipsoid))
    np.testing.assert_array_equal(decode(encode(ellipsoid)), model.reconstruct(ellipsoid))
    assert encode(ellipsoid.astype(np.float32)).dtype == np.float32


def test_columns_far_from_zero_do_not_disturb_the_fit(ellipsoid):
    near, far = small().fit(ellipsoid), small().fit(ellipsoid + 1e5)
    assert far.score(ellipsoid + 1e5) == pytest.approx(near.score(ellipsoid), rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": ()}, r"layers=\(\)\) needs numbers of units"),
        ({"layers": (0,)}, r"layers=\(0,\)\) needs numbers of units"),
        ({"layers": (2.5,)}, "needs numbers of units"),
        ({"noise": "masking", "noise_level": 2.0}, "needs a probability"),
        ({"device": "gpu"}, r"device='gpu'\) found no such device: JAX sees cpu"),
        ({"learning_rate": 1e12, "activation": "relu"}, "Lower learning_rate"),
        ({"early_stopping": True, "validation_fraction": 0.999999}, "leaves no row"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(ellipsoid, changes, message):
    if changes.get("device") == "gpu":
        jax = pytest.importorskip("jax")
        if any(device.platform == "gpu" for device in jax.devices()):
            pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match=message):
        small(**changes).fit(ellipsoid)


def test_bad_rows_are_refused_with_their_place(ellipsoid, tmp_path):
    bad = ellipsoid.copy()
    bad[300, 2] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    table = Table.from_npy(tmp_path / "bad.npy", block_rows=100)
    with pytest.raises(DataError, match=r"row 300, column 2.*NaN"):
        small().fit(table)
    model = small().fit(ellipsoid)
    with pytest.raises(DataError, match="row 300, column 2"):
        model.transform(table)
    with pytest.raises(ValueError, match=r"as large as 1e\+200"):
        small().fit(np.full((4, 8), 1e200))
    with pytest.raises(ValueError, match="codes of 3 columns"):
        model.inverse_transform(ellipsoid)


def test_one_row_and_equal_rows_are_learned_without_nan():
    for rows in (np.ones((1, 8)), np.full((50, 8), 7.0)):
        model = small().fit(rows)
        assert np.isfinite(model.losses_).all()
        assert np.isfinite(model.reconstruct(rows)).all()


def test_a_model_file_comes_back_with_the_same_answers(ellipsoid, tmp_path):
    for tied in (False, True):
        model = small(tied=tied).fit(ellipsoid)
        model.save(tmp_path / "model.safetensors")
        again = tacit.load(tmp_path / "model.safetensors")
        np.testing.assert_array_equal(
            again.reconstruct(ellipsoid), model.reconstruct(ellipsoid)
        )


def forge(path, change):
    """Rewrite a model file with other arrays or another document."""
    with open_tensors(path, kind="model") as file:
        document, tensors = file.document, dict(file.read())
    change(document, tensors)
    write_tensors(path, document, tensors)


@pytest.mark.parametrize(
    "change",
    [
        lambda d, t: t.update({"encoder_weights_.0": t["encoder_weights_.0"][:, :2]}),
        lambda d, t: t.update({"encoder_biases_.0": t["encoder_biases_.0"][:2]}),
        lambda d, t: t.update(
            {"encoder_weights_.0": np.full_like(t["encoder_weights_.0"], np.nan)}
        ),
        lambda d, t: d["fitted"].update({"scale_": 0.0}),
        lambda d, t: d["fitted"].update({"decoder_weights_": []}),
        lambda d, t: d["params"].update({"layers": 5}),
        lambda d, t: d["params"].update({"activation": "exec"}),
    ],
)
def test_a_forged_model_file_is_refused(ellipsoid, tmp_path, change):
    path = tmp_path / "model.safetensors"
    small().fit(ellipsoid).save(path)
    forge(path, change)
    with pytest.raises(ModelFileError):
        tacit.load(path)
