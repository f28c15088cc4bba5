"""Training n-gram models and scoring text, against KenLM's lmplz and Python module, and NLTK.

training  from a file of text to a model in a file: modified Kneser-Ney of order 3 and 5 on the
          16.5 million words of enwiki_text8style where TACIT_DATA has them, in sentences of 20
          words, else on generated Zipf words; a hundredth is held out. lmplz writes an ARPA
          file, Tacit its own file or an ARPA file. Both are programs, so the time of Tacit
          includes the start of the command; the notes have the processor time and the peak
          of memory of each program. lmplz comes with KenLM's sources, not with the package;
          it must be on the PATH, else it is left out. "200 MB" is the same with that limit on
          memory. The quality is the perplexity of the held-out text by the models in the
          files.
NLTK      has no model of this size to offer: it gets 2,000 sentences and Kneser-Ney of order
          3. The quality is the perplexity of 50 more; NLTK's without the words that it gives
          probability zero.
scoring   log10 of every held-out sentence of 20 words, by models from the same ARPA file
          (``kenlm.Model`` holds a probing hash table, and has one thread). One by one is a
          call for each.
"""

import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

TOKENS = 16_500_000
LENGTH = 20  # words to a sentence
HELD: dict[str, Any] = {}  # models that a contender opened in its first call


def cases(scale: float) -> list[Case]:
    return [
        *(training(order, memory, scale) for memory in (None, 200e6) for order in (3, 5)),
        Case(
            "training, NLTK",
            partial(small, scale),
            (Contender("Tacit", tacit_small), nltk("NLTK", nltk_small)),
            lambda data, answer: answer["ppl"],
            measure="perplexity",
            targets={"NLTK": 20.0},
        ),
        *(scoring(*each, scale) for each in (("a thread", 1, 1.0), ("two threads", 2, 1.8))),
        Case(
            "scoring one by one",
            partial(arpa, scale),
            (Contender("Tacit", tacit_one_by_one), kenlm("KenLM", kenlm_scores)),
            lambda data, answer: float(np.sum(answer["scores"])),
            measure="log10 of the text",
            lower_is_better=False,
            tolerance=1e-5,
        ),
    ]


def training(order: int, memory: float | None, scale: float) -> Case:
    train = partial(tacit_train, order=order, memory=memory)
    return Case(
        f"training, order {order}{'' if memory is None else ', 200 MB'}",
        partial(corpus, scale),
        (
            Contender("Tacit, ARPA", partial(train, arpa=True)),
            Contender("Tacit", partial(train, arpa=False)),
            Contender(
                "KenLM lmplz", partial(lmplz_train, order=order, memory=memory),
                package="kenlm", install="kenlm", rival="lmplz",
            ),
        ),
        partial(held_out_perplexity, order=order),
        measure="perplexity",
        tolerance=1e-3,
        targets={"lmplz": 2.0 if memory is None else 1.0},
        warmup=lambda data: {**data, "path": data["little"]},
        repeats=1,
    )  # fmt: skip


def scoring(name: str, most: int, wanted: float, scale: float) -> Case:
    return Case(
        f"scoring a text, {name}",
        partial(arpa, scale),
        (
            Contender("Tacit", partial(tacit_scores, most=most)),
            kenlm("KenLM", kenlm_scores),
        ),
        lambda data, answer: float(np.sum(answer["scores"])),
        measure="log10 of the text",
        lower_is_better=False,
        tolerance=1e-5,
        targets={"KenLM": wanted},
        repeats=15,
    )


# --- Data ---


def corpus(scale: float, folder: Path) -> Data:
    """A file of text, a smaller one, and sentences that are in neither."""
    whole, origin = articles(int(TOKENS * scale))
    words = " ".join(whole).split()
    lines = [" ".join(words[i : i + LENGTH]) for i in range(0, len(words), LENGTH)]
    cut = max(1, len(lines) // 100)
    path, little = folder / "text.txt", folder / "little.txt"
    path.write_text("\n".join(lines[cut:]) + "\n", encoding="utf-8")
    little.write_text("\n".join(lines[cut : 2 * cut]) + "\n", encoding="utf-8")
    held_out = lines[:cut]
    count = sum(line.count(" ") + 1 for line in lines[cut:])
    about = f"{origin}; {count:,} words, {len(words) - count:,} held out"
    return {
        "path": str(path), "little": str(little), "folder": str(folder), "held_out": held_out,
        "about": about,
    }  # fmt: skip


def articles(tokens: int) -> tuple[list[str], str]:
    home = data_folder()
    path = None if home is None else home / "enwiki_text8style" / "enwiki.txt.gz"
    if path is not None and path.exists():
        lines, seen = [], 0
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                lines.append(line.strip())
                seen += line.count(" ") + 1
                if seen >= tokens:
                    break
        return lines, "enwiki_text8style"
    rng = np.random.default_rng(0)
    # Each word depends on the one before, so that longer n-grams repeat as they do in text.
    steps = rng.zipf(1.3, tokens).clip(max=50_000)
    ids = np.where(rng.random(tokens) < 0.5, steps, np.roll(steps, 1) * 7 % 50_000)
    words = [f"w{i}" for i in ids]
    return [" ".join(words[i : i + 500]) for i in range(0, tokens, 500)], "generated words"


def small(scale: float, folder: Path) -> Data:
    home = data_folder()
    if home is not None and (home / "ptb").exists():
        with gzip.open(home / "ptb" / "ptb.valid.txt.gz", "rt", encoding="utf-8") as file:
            lines, origin = [line.split() for line in file], "Penn Treebank, validation part"
    else:
        found, origin = articles(60_000)
        words = " ".join(found).split()
        lines = [words[i : i + 20] for i in range(0, len(words), 20)]
    n = max(20, int(2000 * scale))
    about = f"{origin}; {n:,} sentences"
    return {"text": lines[:n], "test": lines[n : n + 50], "about": about}


def arpa(scale: float, folder: Path) -> Data:
    """An ARPA file of order 3, and text to score with it."""
    from tacit.language import NGramModel, write_arpa

    data = dict(corpus(min(scale, 0.3), folder))
    model = NGramModel(3).fit(data["path"])
    path = folder / "model.arpa"
    write_arpa(model, path)
    count = sum(model.ngram_counts_)
    each, less = (m._tables.nbytes / count for m in (model, model.quantized()))
    about = f"{data['about']}; {count:,} n-grams of {each:.1f} bytes, {less:.1f} quantized"
    repeated = data["held_out"] * max(1, 20_000 // len(data["held_out"]))
    return {"arpa": str(path), "sentences": repeated, "about": about}


def held_out_perplexity(data: Data, answer: Answer, *, order: int) -> float:
    import tacit
    from tacit.language import read_arpa

    path = answer["path"][0]
    model = read_arpa(path) if path.endswith(".arpa") else tacit.load(path, mmap=True)
    assert len(model.ngram_counts_) == order
    return model.perplexity(data["held_out"]).ppl


# --- Contenders ---


def tacit_train(
    data: Data, threads: int, *, order: int, memory: float | None, arpa: bool
) -> Answer:
    path = Path(data["folder"], f"tacit-{order}{'.arpa' if arpa else '.safetensors'}")
    limit = "1TB" if memory is None else str(int(memory))
    command = [sys.executable, "-m", "tacit", "lm", "train", data["path"], "--quiet"]
    command += ["--order", str(order), "--workers", str(threads), "--memory", limit]
    return run_command([*command, "--arpa" if arpa else "--out", str(path)], path)


def lmplz_train(data: Data, threads: int, *, order: int, memory: float | None = None) -> Answer:
    if shutil.which("lmplz") is None:
        raise FileNotFoundError("lmplz is not on the PATH; build KenLM from its sources")
    path = Path(data["folder"], f"lmplz-{order}.arpa")
    size = "4G" if memory is None else f"{int(memory)}b"
    command = ["lmplz", "-o", str(order), "-S", size, "-T", data["folder"]]
    return run_command([*command, "--text", data["path"], "--arpa", str(path)], path)


def run_command(command: list[str], path: Path) -> Answer:
    """Run a program that writes a model; its processor time and its peak of memory."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with status {process.returncode}")
    cpu = round(used.ru_utime + used.ru_stime, 1)
    return {"path": [str(path)], "cpu s": cpu, "peak MB": round(used.ru_maxrss / 1000)}


def tacit_small(data: Data, threads: int) -> Answer:
    from tacit.language import NGramModel

    model = NGramModel(3, smoothing="kneser-ney").fit(data["text"])
    return {"ppl": model.perplexity(data["test"]).ppl}


def nltk_small(data: Data, threads: int) -> Answer:
    from nltk.lm import KneserNeyInterpolated
    from nltk.lm.preprocessing import padded_everygram_pipeline

    grams, words = padded_everygram_pipeline(3, data["text"])
    model = KneserNeyInterpolated(3, discount=0.75)
    model.fit(grams, words)
    logs = []
    for sentence in data["test"]:
        marked = ["<s>", "<s>", *model.vocab.lookup(sentence), "</s>"]
        logs += [model.score(marked[i], marked[i - 2 : i]) for i in range(2, len(marked))]
    return {"ppl": float(np.exp(-np.mean([np.log(p) for p in logs if p > 0])))}


def tacit_scores(data: Data, threads: int, *, most: int) -> Answer:
    from tacit.core.engines import Threads

    model = tacit_model(data).set_params(engine=Threads(min(threads, most)))
    return {"scores": model.score_sentences(data["sentences"])}


def tacit_one_by_one(data: Data, threads: int) -> Answer:
    score = tacit_model(data).score
    return {"scores": np.array([score(sentence) for sentence in data["sentences"]])}


def tacit_model(data: Data) -> Any:
    from tacit.language import read_arpa

    if "tacit" not in HELD:
        HELD["tacit"] = read_arpa(data["arpa"])
    return HELD["tacit"]


def kenlm_scores(data: Data, threads: int) -> Answer:
    import kenlm as package

    if "kenlm" not in HELD:
        HELD["kenlm"] = package.Model(data["arpa"])
    score = HELD["kenlm"].score
    return {"scores": np.array([score(sentence) for sentence in data["sentences"]])}


def kenlm(name: str, run: Callable) -> Contender:
    return Contender(name, run, package="kenlm", install="kenlm", rival="KenLM")


def nltk(name: str, run: Callable) -> Contender:
    return Contender(name, run, package="nltk", install="nltk", rival="NLTK")
