"""A file that breaks off: what can be read is used, and the exit code says so."""

import gzip

import numpy as np
import pytest

COMMANDS = {
    "mixture": ["mixture", "FILE", "-k", "2"],
    "reduce": ["reduce", "FILE", "-k", "2"],
    "neural": ["neural", "train", "FILE", "--layers", "2", "--passes", "1", "--model", "MODEL"],
    "recommend train": ["recommend", "train", "FILE", "--model", "biases", "--out", "MODEL"],
    "recommend evaluate": [
        "recommend",
        "evaluate",
        "FILE",
        "--model",
        "biases",
        "--folds",
        "2",
    ],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_truncated_file_gives_its_rows_and_exit_code_3(command, tmp_path, tacit):
    if command == "neural":
        pytest.importorskip("optax")
    path, model = tmp_path / "rows.csv.gz", tmp_path / "model.safetensors"
    rng = np.random.default_rng(0)
    lines = ["user,item,rating"]
    lines += [f"{u},{i},{1 + rng.integers(5)}" for u in range(40) for i in rng.permutation(60)]
    compressed = gzip.compress("\n".join(lines).encode())
    path.write_bytes(compressed[: len(compressed) // 2])
    named = {"FILE": path, "MODEL": model}
    arguments = [named.get(each, each) for each in COMMANDS[command]]
    run = tacit(*arguments)
    assert run.code == 3
    assert "--allow-partial" in run.err
    assert run.out
    assert tacit(*arguments, "--allow-partial").code == 0


def test_a_truncated_text_besides_the_first_is_answered_too(tmp_path, tacit):
    text, cut, model = tmp_path / "a.txt", tmp_path / "b.txt.gz", tmp_path / "m.safetensors"
    rng = np.random.default_rng(0)
    lines = "\n".join(" ".join(rng.choice(["oil", "gas", "sea"], 9)) for _ in range(500))
    text.write_text(lines)
    cut.write_bytes(gzip.compress(lines.encode())[:-200])
    assert tacit("lm", "train", text, "-o", 2, "--out", model).code == 0
    run = tacit("lm", "perplexity", model, text, "--cache", cut)
    assert run.code == 3
    assert str(cut) in run.err
    assert run.out
