"""The table of README.md, taken from RESULTS.md: `python -m benchmarks.readme_table` renews it.

A row of `ROWS` names a case of a benchmark and the rival to compare with. The figures come from
RESULTS.md, and a test checks that README.md has them, so the table cannot drift from what was
measured. Cases that Tacit loses belong in it too.
"""

import re
from pathlib import Path

from benchmarks.report import RESULTS

__all__ = ["BEGIN", "END", "README", "ROWS", "cases", "render", "renew"]

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- begin measured -->", "<!-- end measured -->"

# (task, benchmark, case, rival, how to show the quality: a name and a format)
ROWS = (
    ("Explore 18,846 posts: clean, count, map, group", "explore_news",
     "20 Newsgroups without headers", "scikit-learn pipeline", "V-measure {:.2f}"),
    ("Count the words of documents in a file", "counts", "file, a document per line", "polars",
     "equal counts"),
    ("TF-IDF", "counts", "tf-idf", "scikit-learn", "equal weights"),
    ("k-means, 1,000,000 x 16, k = 64", "kmeans", "1M x 16, k=64", "faiss", "inertia {:,.0f}"),
    ("k-means, 60,000 x 784, k = 10", "kmeans", "60k x 784, k=10", "scikit-learn elkan",
     "equal inertia"),
    ("k-medoids, 10,000 items, k = 30", "kmedoids", "10,000 items, k=30, float32",
     "kmedoids (Rust)", "loss {:,.0f}"),
    ("Ward's tree of 20,000 rows", "agglomerative", "ward, 20,000 rows",
     "fastcluster linkage_vector", "equal heights"),
    ("Gaussian mixture, 16 full components", "gaussian", "200,000 x 20, 16 components, full",
     "scikit-learn", "-log L {:.3f}"),
    ("Truncated SVD, 100,000 x 50,000, k = 100", "truncated_svd",
     "100k x 50k Zipf, k=100, float32", "scikit-learn arpack", "captured {:,.0f}"),
    ("MDS by SMACOF, 2,000 items", "mds", "SMACOF, 2,000 items", "scikit-learn",
     "stress {:.4f}"),
    ("LDA by Gibbs sampling, 200 topics", "gibbs", "200 topics, 30 passes, two workers",
     "tomotopy", "-log-likelihood of a token {:.3f}"),
    ("LDA by variational Bayes, 20 topics", "variational", "20 topics, batch", "scikit-learn",
     "-bound of a post {:,.0f}"),
    ("Word vectors from 16.5 million words", "word2vec", "skip-gram, whole text, two threads",
     "gensim", "analogies and similarities {:.3f}"),
    ("Factorize 100,000 ratings by SGD", "factorization_sgd", "MovieLens 100k", "Surprise",
     "RMSE {:.3f}"),
    ("Factorize 2.2 million ratings by ALS", "als", "2,200,000 generated ratings", "cmfrec",
     "RMSE {:.3f}"),
    ("Implicit feedback by ALS, 1.1 million counts", "implicit_als",
     "1,100,000 generated counts, cholesky", "implicit", "loss {:.3f}"),
    ("Logistic regression, 20 classes of posts", "logistic", "20 Newsgroups TF-IDF, C=1",
     "scikit-learn sag", "objective {:.4f}"),
    ("Silhouette of 50,000 rows", "clustering", "silhouette, 50,000 x 16, k=20", "scikit-learn",
     "equal to 1e-14"),
    ("Edit distances of all pairs of sentences", "edit_distance", "levenshtein, sentences",
     "rapidfuzz cdist", "equal distances"),
    ("Edit distance, one pair per call", "edit_distance", "levenshtein, pairs", "rapidfuzz",
     "equal distances"),
    ("Train a 5-gram model, from text to an ARPA file", "ngrams", "training, order 5",
     "KenLM lmplz", "perplexity {:.2f}"),
    ("Score a text with a 3-gram model, one thread", "ngrams", "scoring a text, a thread",
     "KenLM", "equal scores"),
    ("Score sentence by sentence", "ngrams", "scoring one by one", "KenLM", "equal scores"),
    ("Correct misspelled words", "spelling", "test set 2", "symspellpy lookup",
     "right {:.1%}"),
)  # fmt: skip


def cases(text: str) -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    """The tables of RESULTS.md: by benchmark and case, then by contender, then by column. The
    quality is under "quality" whatever the benchmark calls it."""
    found: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    benchmark = case = ""
    head: list[str] = []
    for line in text.splitlines():
        if line.startswith("## "):
            benchmark = line[3:].strip()
        elif line.startswith("### "):
            case, head = line[4:].strip(), []
        elif line.startswith("|") and not line.startswith("| --"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not head:
                head = cells
                head[head.index("target") + 1] = "quality"
            else:
                rows = found.setdefault((benchmark, case), {})
                rows[cells[0]] = dict(zip(head, cells, strict=True))
    return found


def render(text: str) -> str:
    """The table as Markdown, from the text of RESULTS.md."""
    measured = cases(text)
    lines = [
        "| task | rival | rival's time | Tacit's | times as fast | quality: rival / Tacit |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    for task, benchmark, case, rival, quality in ROWS:
        rows = measured[benchmark, case]
        tacit, other = rows.get("Tacit, ARPA", rows["Tacit"]), rows[rival]
        name = re.sub(r" (linkage_vector|cdist|lookup|pipeline|elkan|arpack|sag)$", "", rival)
        shown = quality
        if "{" in quality:
            # The name of the measure once, then both figures.
            label, figure = re.fullmatch(r"(.*?) ?(\{.*)", quality).groups()
            figures = (figure.format(float(row["quality"])) for row in (other, tacit))
            shown = f"{label} {' / '.join(figures)}".strip()
        cells = task, name, seconds(other), seconds(tacit), other["ratio"], shown
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def seconds(row: dict[str, str]) -> str:
    value = float(row["median s"])
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"


def renew(readme: str, results: str) -> str:
    """README's text with its table renewed."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{render(results)}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(
        renew(README.read_text(encoding="utf-8"), RESULTS.read_text(encoding="utf-8")),
        encoding="utf-8",
    )
