"""Names of columns, labels, items, users, authors and words come from strangers: whatever a
command prints of them, nothing reaches the terminal but text."""

import json
import sys

import numpy as np
import pytest

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\x08"
DRAW = np.random.default_rng(0)
WORDS = {"sea": ["ship", "whale", "sail", "mast"], "bread": ["dough", "oven", "flour", "rye"]}


def texts(kind, n=12):
    return [" ".join(DRAW.choice(WORDS[kind], 30)) for _ in range(n)]


def labeled(path):
    """Documents whose ids and labels are hostile."""
    rows = [
        {"id": f"{EVIL}{kind}{i}", "label": EVIL + kind, "author": EVIL + kind, "text": text}
        for kind in WORDS
        for i, text in enumerate(texts(kind))
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def numbers(path):
    """Rows whose columns and ids are hostile."""
    lines = [f'name,"{EVIL}a","{EVIL}b"']
    rows = enumerate(DRAW.normal(size=(30, 2)))
    lines += [f'"{EVIL}{i}",{x:.3f},{y:.3f}' for i, (x, y) in rows]
    path.write_text("\n".join(lines))
    return path


def ratings(path):
    """Ratings by hostile users of hostile items."""
    lines = ["user,item,rating"]
    for user in range(8):
        for item in range(6):
            if (user + item) % 4:
                lines.append(f'"{EVIL}u{user}","{EVIL}i{item}",{1 + (user * item) % 5}')
    path.write_text("\n".join(lines))
    return path


def sentences(path):
    """Sentences with a hostile word."""
    lines = [f"the {EVIL}{i % 3} saw the {EVIL}{(i + 1) % 3} again" for i in range(40)]
    path.write_text("\n".join(lines))
    return path


COMMANDS = {
    "classify": (labeled, [
        "classify train {data} --model naive-bayes --out {model}",
        "classify predict {model} {data}",
        "classify evaluate {model} {data}",
        "classify explain {model} ship whale",
        "model show {model}",
    ]),
    "label": (labeled, ["label {data}"]),
    "authors": (labeled, ["authors {data} --block 30 --most-frequent --words 8"]),
    "senses": (labeled, ["senses ship {data} -k 2 --model {model}"]),
    "topics": (labeled, ["topics {data} -k 2 --model {model}", "topics show {model}",
                         "topics infer {model} {data}"]),
    "cluster": (numbers, ["cluster {data} --id name -k 2 --model {model}",
                          "cluster {data} --id name -k 2 --out -"]),
    "mixture": (numbers, ["mixture {data} --id name -k 2"]),
    "reduce": (numbers, ["reduce {data} --id name -k 1"]),
    "compare": (numbers, ["compare {data} {data}"]),
    "recommend": (ratings, [
        "recommend train {data} --out {model} --factors 2",
        "recommend for {model} EVILu1",
        "recommend similar {model} EVILi1",
        "recommend explain {model} EVILu0 EVILi0",
        "recommend for {model} EVILnobody",
    ]),
    "lm": (sentences, [
        "lm train {data} --out {model} --order 2",
        "lm next {model} the",
        "lm generate {model} --seed 1",
        "lm complete {model} the",
        "lm score {model} {data}",
        "lm perplexity {model} {data}",
    ]),
    "words": (sentences, [
        "words train {data} --tokenizer whitespace --min-count 1 --method ppmi --size 3 "
        "--out {model}",
        "words near {model} the",
        "words near {model} EVIL0",
        "words analogy {model} the saw again",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_hostile_names_do_not_reach_the_terminal(name, tacit, tmp_path, monkeypatch, recwarn):
    make, lines = COMMANDS[name]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")  # no colors of our own
    data = make(tmp_path / f"data.{'jsonl' if make is labeled else 'csv'}")
    if make is sentences:
        data = data.rename(tmp_path / "data.txt")
    for line in lines:
        words = line.format(data=data, model=tmp_path / "m.safetensors").split()
        run = tacit(*(word.replace("EVIL", EVIL) for word in words))
        assert run.code in (0, 2, 4), (line, run.err)
        assert run.out or run.err, line
        odd = {c for c in run.out + run.err if not (c.isprintable() or c in "\n\t")}
        assert not odd, (line, odd)
