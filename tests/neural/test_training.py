"""What the networks share: the extra, the draws, the order of rows, one gradient check."""

import subprocess
import sys

import numpy as np
import pytest

from tacit.core.randoms import key
from tacit.data import Table
from tacit.data.shuffled_rows import shuffled_chunks
from tacit.neural.autoencoder import AutoencoderNetwork
from tacit.neural.layers import fold, jax, key_words, normal, uniform
from tests.neural.test_gan import check_gradient


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_importing_tacit_and_its_command_line_does_not_import_jax():
    code = "import sys, tacit, tacit.neural, tacit.cli.neural; print('jax' in sys.modules)"
    assert run(code).stdout == "False\n"


def test_without_the_extra_one_line_names_the_command(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b\n1,2\n3,4\n", encoding="utf8")
    code = f"""
import sys
sys.modules["jax"] = None
from tacit.cli.main import main
import tacit.neural
try:
    tacit.neural.Autoencoder
except ImportError as error:
    print(error)
print(main(["neural", "train", {str(rows)!r}, "--model", {str(tmp_path / "m")!r}]))
"""
    done = run(code)
    message, code = done.stdout.splitlines()
    assert "pip install 'tacit-learn[neural]'" in message
    assert code == "2"
    assert len(done.stderr.splitlines()) == 1
    assert "pip install 'tacit-learn[neural]'" in done.stderr


def test_draws_are_uniform_normal_and_independent():
    @jax.jit
    def draws(words):
        return uniform(words, (200, 300)), normal(fold(words, 1), (200, 300))

    u, z = (np.asarray(each, np.float64) for each in draws(key_words(key(7))))
    assert 0 <= u.min() < u.max() < 1
    counts = np.bincount((16 * u).astype(int).ravel(), minlength=16)
    assert np.square(counts - u.size / 16).sum() / (u.size / 16) < 40  # chi-squared, 15 degrees
    assert abs(z.mean()) < 0.02
    assert abs(z.std() - 1) < 0.02
    assert abs((z**4).mean() - 3) < 0.15
    for a, b in ((u[:-1], u[1:]), (u[:, :-1], u[:, 1:]), (u, z)):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.02
    again, _ = draws(key_words(key(7)))
    other, _ = draws(key_words(key(8)))
    np.testing.assert_array_equal(again, u.astype(np.float32))
    assert abs(np.corrcoef(np.ravel(other), u.ravel())[0, 1]) < 0.02


@pytest.mark.parametrize(
    "changes", [{}, {"tied": True, "l1": 0.1}, {"loss": "cross-entropy", "sparsity": 0.5}]
)
def test_the_gradient_of_an_autoencoder_is_that_of_finite_differences(changes):
    settings = {
        "sizes": (4, 5, 4), "activation": "tanh", "code_activation": "sigmoid",
        "loss": "squared", "tied": False, "noise": None, "noise_level": 0.0, "l1": 0.0,
        "sparsity": None, "learning_rate": 0.1, "weight_decay": 0.0, "steps": 0,
    }  # fmt: skip
    network = AutoencoderNetwork(**{**settings, **changes})
    rng = np.random.default_rng(0)
    rows, mask = rng.random((3, 4)), np.array([1.0, 1.0, 0.0])
    with jax.enable_x64(True):
        params = jax.tree_util.tree_map(
            lambda leaf: leaf.astype(np.float64),
            network.start(np.uint64(3), np.zeros(4), {})["params"],
        )
        objective = jax.jit(lambda params: network.objective(params, rows, rows, mask)[0])
        check_gradient(objective, params, rng)


def test_chunks_hold_every_used_row_once_in_an_order_of_the_pass(tmp_path):
    rows = np.arange(100.0)[:, None]
    used = np.arange(100) % 10 != 3
    np.save(tmp_path / "rows.npy", rows)
    in_memory, on_disk = Table.from_array(rows), Table.from_npy(tmp_path / "rows.npy", 17)
    passes = []
    for number in (0, 1):
        chunks = list(shuffled_chunks(in_memory, 32, 5, number, used=used))
        assert [len(chunk) for chunk in chunks] == [32, 32, 26]
        passes.append(np.concatenate(chunks)[:, 0])
        np.testing.assert_array_equal(np.sort(passes[-1]), rows[used][:, 0])
        again = np.concatenate(list(shuffled_chunks(on_disk, 32, 5, number, used=used)))
        np.testing.assert_array_equal(again[:, 0], passes[-1])
    assert (passes[0] != passes[1]).any()
