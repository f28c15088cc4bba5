"""Documents for the explorer's benchmarks, the same for every run.

News are the posts of 20 Newsgroups in the folder that TACIT_DATA names. More than there are of
them are made by drawing paragraphs of posts of one group, as many as a post has. Short
documents are generated: words of a Zipf law, some of them from a topic's own reordering of it.
"""

import gzip
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.harness import Unable

__all__ = ["bare", "news", "recombined", "write_short", "write_texts"]

QUOTE = re.compile(r"^(>|\||.*(writes|wrote)( in|:)|In article|.*says:)")
TOPICS, WIDTH = 60, 60_000  # of short documents: topics and words
CHUNK = 50_000


def news(n: int | None = None) -> tuple[list[str], np.ndarray]:
    """Posts of the training and the test set with their groups, in shuffled order."""
    given = os.environ.get("TACIT_DATA")
    folder = Path(given) / "newsgroups" if given else None
    if folder is None or not (folder / "train.jsonl.gz").exists():
        raise Unable("needs 20 Newsgroups: set TACIT_DATA to a folder that has newsgroups/")
    posts = []
    for part in ("train", "test"):
        with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf8") as file:
            posts += [json.loads(line) for line in file]
    order = np.random.default_rng(0).permutation(len(posts))[:n]  # sorted by group on disk
    return [posts[i]["text"] for i in order], np.array([posts[i]["label"] for i in order])


def bare(post: str) -> str:
    """A post without its header, what it quotes, and the signature."""
    body = post.partition("\n\n")[2]
    lines = [line for line in body.splitlines() if not QUOTE.match(line)]
    for i in range(len(lines) - 1, -1, -1):
        if not lines[i].strip("- \t"):  # the last empty or dashed line begins a signature
            lines = lines[:i] if i > 0 else lines
            break
    return "\n".join(lines)


def recombined(n: int, seed: int = 0) -> Iterator[str]:
    """Posts made of paragraphs of posts of the same group, each after a real header."""
    texts, groups = news()
    rng = np.random.default_rng(seed)
    split = [text.split("\n\n") for text in texts]
    pool: dict[str, list[str]] = {}
    for parts, group in zip(split, groups, strict=True):
        pool.setdefault(str(group), []).extend(parts[1:])
    for i in rng.integers(len(texts), size=n):
        others = pool[str(groups[i])]
        drawn = rng.integers(len(others), size=len(split[i]) - 1)
        yield "\n\n".join([split[i][0], *(others[j] for j in drawn)])


def write_texts(path: Path, texts: Iterator[str]) -> None:
    with path.open("w", encoding="utf8") as file:
        for text in texts:
            file.write(json.dumps({"text": text}) + "\n")


def write_short(path: Path, n: int, seed: int = 0) -> None:
    """A .csv file of n documents of 20 to 30 words; two in five are of the topic."""
    rng = np.random.default_rng(seed)
    law = 1 / np.arange(5, WIDTH + 5) ** 1.05
    reach = np.cumsum(law / law.sum())
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    names: dict[str, None] = {}
    while len(names) < WIDTH:
        names["".join(rng.choice(letters, size=rng.integers(3, 10)))] = None
    words = np.array(list(names), object)
    orders = np.array([rng.permutation(WIDTH) for _ in range(TOPICS)], np.int32)
    share = rng.dirichlet(np.full(TOPICS, 2.0))
    with path.open("w", encoding="utf8") as file:
        file.write("text,topic\n")
        for start in range(0, n, CHUNK):
            size = min(CHUNK, n - start)
            topic = rng.choice(TOPICS, size=size, p=share)
            lengths = rng.integers(20, 31, size)
            edges = np.concatenate([[0], np.cumsum(lengths)])
            drawn = np.minimum(np.searchsorted(reach, rng.random(edges[-1])), WIDTH - 1)
            own = rng.random(edges[-1]) < 0.4
            drawn[own] = orders[np.repeat(topic, lengths)[own], drawn[own]]
            text = words[drawn]
            file.writelines(
                f"{' '.join(text[edges[i] : edges[i + 1]])},{topic[i]}\n" for i in range(size)
            )
