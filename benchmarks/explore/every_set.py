"""Every collection of text at hand, a sample of each, as tables of documents.

    python -m benchmarks.explore.every_set [NAME ...]

prints the first paragraphs of the report of each, the levels of its groups, and their names.
These are to be judged by eye; ``tests/explore/test_names_of_every_set.py`` checks what they
must not hold.
"""

import gzip
import html
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["SETS", "load", "named_groups"]

HOME = Path(os.environ.get("TACIT_DATA", "."))
MOST = 1500  # documents


def lines(path: str) -> list[dict[str, Any]]:
    with gzip.open(HOME / path, "rt", encoding="utf8") as file:
        return [json.loads(line) for line in file]


def even(rows: list, most: int = MOST) -> list:
    """An even sample."""
    step = max(1, -(-len(rows) // most))
    return rows[::step]


def newsgroups(strip: bool = False) -> list[dict[str, Any]]:
    rows = even(lines("newsgroups/train.jsonl.gz"))
    keep = (lambda t: t.partition("\n\n")[2]) if strip else (lambda t: t)
    return [{"text": keep(row["text"]), "label": row["label"]} for row in rows]


def spam() -> list[dict[str, Any]]:
    with gzip.open(HOME / "sms_spam/SMSSpamCollection.tsv.gz", "rt", encoding="utf8") as file:
        return even([{"text": line.partition("\t")[2].strip()} for line in file])


def files(folder: str, pattern: str) -> list[dict[str, Any]]:
    found = []
    for path in sorted((HOME / folder).glob(pattern)):
        if path.suffix == ".gz":
            with gzip.open(path, "rt", encoding="utf8") as file:
                found.append({"text": file.read(), "title": path.name.split(".")[0]})
    return found


def chapters(rows: list[dict[str, Any]], words: int) -> list[dict[str, Any]]:
    """Long texts in parts of about as many words."""
    parts = []
    for row in rows:
        said = row["text"].split(" ")
        parts += [{"text": " ".join(said[i : i + words]), "work": row["title"]}
                  for i in range(0, len(said), words)]  # fmt: skip
    return parts


def federalist() -> list[dict[str, Any]]:
    import csv

    csv.field_size_limit(2**30)
    with gzip.open(HOME / "federalist/federalist.csv.gz", "rt", encoding="utf8") as file:
        return [{"text": r["text"], "author": r["author"]} for r in csv.DictReader(file)]


def brown() -> list[dict[str, Any]]:
    rows = lines("brown_tagged/brown.jsonl.gz")
    return [
        {"text": " ".join(word for sentence in row["sents"] for word, _ in sentence),
         "category": row["category"]}
        for row in rows
    ]  # fmt: skip


def wiki() -> list[dict[str, Any]]:
    with gzip.open(HOME / "enwiki_text8style/enwiki.txt.gz", "rt", encoding="utf8") as file:
        return even([{"text": line[:6000]} for line in file if line.strip()], 1000)


def senses(word: str) -> list[dict[str, Any]]:
    rows = even(lines(f"senseval/{word}.jsonl.gz"))
    return [{"text": " ".join(row["tokens"])} for row in rows]


def docstring_rows() -> list[dict[str, Any]]:
    from tacit.datasets import docstrings

    return even([{"text": text} for text in docstrings().documents])


SETS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "newsgroups": newsgroups,
    "newsgroups, no headers": lambda: newsgroups(strip=True),
    "ag_news": lambda: even(lines("ag_news/ag_news.jsonl.gz")),
    "movie_reviews": lambda: even(
        [{"text": r["text"]} for r in lines("movie_reviews/movie_reviews.jsonl.gz")], 700
    ),
    "sms_spam": spam,
    "langid": lambda: [{"text": r["text"]} for r in even(lines("langid/sentences.jsonl.gz"))],
    "oz": lambda: files("oz", "*.txt.gz"),
    "oz, parts": lambda: chapters(files("oz", "*.txt.gz"), 3000),
    "federalist": federalist,
    "shakespeare, parts": lambda: chapters(files("shakespeare/works", "*.gz"), 2000),
    "enwiki": wiki,
    "brown": brown,
    "senseval, line": lambda: senses("line"),
    "senseval, interest": lambda: senses("interest"),
    "docstrings": docstring_rows,
}


def load(name: str) -> Any:
    """A set as an Arrow table."""
    import pyarrow as pa

    rows = SETS[name]()
    return pa.table({key: [row.get(key) for row in rows] for key in rows[0]})


def named_groups(name: str, k: int | None = None) -> Any:
    """The project of a set, explored quickly."""
    import tacit

    stages = ["groups"]
    return tacit.explore(load(name), effort="quick", text="text", k=k, stages=stages)


def first_paragraphs(project: Any) -> list[str]:
    """The head of the report of a project, as plain text."""
    page = project.report().read_text("utf8")
    found = re.findall('<p class="stand">(.*?)</p>', page, re.DOTALL)
    return [html.unescape(re.sub("<[^>]+>", "", each)) for each in found]


def main() -> None:
    import tacit

    for name in sys.argv[1:] or SETS:
        start = time.perf_counter()
        project = tacit.explore(load(name), effort="quick", text="text")
        groups = project._context.facts("groups")
        n, spent = project.summary["documents"], time.perf_counter() - start
        levels = ", ".join(f"{k} ({firm} firm)" for k, firm in project.summary["levels"])
        print(f"\n## {name}: {n:,} documents, levels of groups: {levels or 'none'}, "
              f"{spent:.0f} s\n", flush=True)  # fmt: skip
        for paragraph in first_paragraphs(project):
            print(f"> {paragraph}\n>")
        print()
        for group in groups.get("groups", []):
            print(f"- {group['size']:,} {group['verdict']}: **{' · '.join(group['name'])}**"
                  f" [{group['title'][:60]}]")  # fmt: skip
            for node in groups.get("nodes", []):
                parent = groups["nodes"][node["parent"]] if node["parent"] >= 0 else {}
                if parent.get("chosen") == group["group"]:
                    print(f"  - {node['size']:,}: {' · '.join(node['name'])}")


if __name__ == "__main__":
    main()
