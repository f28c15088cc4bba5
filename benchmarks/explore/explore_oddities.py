"""Documents that belong nowhere: strangers among news stories, and labels that do not apply.

Strangers: a German text, source code, base64, a recipe, filler Latin and spam among 800
stories of AG News, drawn five times. The quality is how many of the six are among the ten most
unusual documents, on average. The rivals work on the same tf-idf rows reduced to 100
directions: scikit-learn's local outlier factor and isolation forest. The notes give the
percentage of ordinary stories that are flagged. The score was developed with these; in the
other case, six other strangers (a French text, a table, a poem, log lines, a repeated word,
JSON) are among 800 stories, posts, film reviews, sentences of reviews, and text messages, one
draw each. Some of the posts are stranger than they are.

Labels: three subjects of five are labeled, in 20 Newsgroups without headers (two sets of five
subjects; the method was developed with the first), and three of four in AG News; 10 or 30
documents of each. The quality is the percentage of documents of the other subjects that get
none of these labels. The rival rejects documents by the probability of a logistic regression,
at the threshold that rejects a tenth of the labeled documents in cross-validation, which is
what Tacit aims at. The notes give the percentage of documents of the labeled subjects that are
rejected, and the accuracy quoted and met on the others.
"""

import gzip
import json
import os
from pathlib import Path

import numpy as np

from benchmarks.explore._texts import bare, news
from benchmarks.harness import Answer, Case, Contender, Data, Unable

__all__ = ["cases"]

STORIES, DRAWS, TOP = 800, 5, 10
SUBJECTS = {
    "five subjects": (
        "rec.sport.hockey", "sci.space", "talk.politics.mideast", "comp.graphics", "rec.autos",
    ),
    "five other subjects": (
        "sci.med", "misc.forsale", "soc.religion.christian", "rec.motorcycles", "sci.crypt",
    ),
}  # fmt: skip
LABELED, TRIALS = 3, 6  # subjects; draws
REJECTED = 0.1


def cases(scale: float) -> list[Case]:
    def strangers(folder: Path) -> Data:
        from tests.explore.strangers import STRANGERS

        texts = stories()
        draws = [drawn(texts, STRANGERS, seed) for seed in range(DRAWS)]
        return {"draws": draws, "strangers": len(STRANGERS), "about": "AG News, 800 stories"}

    def other_strangers(folder: Path) -> Data:
        from tests.explore.strangers import OTHERS

        posts = [post for post in map(bare, news()[0]) if post.strip()]
        hosts = [stories(), posts, *reviews_and_messages()]
        draws = [drawn(texts, OTHERS, seed=20) for texts in hosts]
        return {"draws": draws, "strangers": len(OTHERS), "about": "five collections, 800 each"}

    def posts(name: str, each: int):
        def load(folder: Path) -> Data:
            texts, subjects = news()
            kept = [i for i, subject in enumerate(subjects) if subject in SUBJECTS[name]]
            return {"texts": [bare(texts[i]) for i in kept], "truth": subjects[kept],
                    "each": each, "about": f"{len(kept):,} posts on {name}"}  # fmt: skip

        return load

    def labeled_stories(each: int):
        def load(folder: Path) -> Data:
            rows = read("ag_news/ag_news.jsonl.gz")[::2]
            return {"texts": [f"{row['title']}\n{row['text']}" for row in rows],
                    "truth": np.array([str(row["label"]) for row in rows]), "each": each,
                    "about": f"AG News, {len(rows):,} stories on four subjects"}  # fmt: skip

        return load

    common = {"lower_is_better": False, "tolerance": 0.0, "repeats": 1}
    of_labels = {"measure": "% none of these", **common}
    found = [
        Case("Six strangers among 800 stories", strangers, (TACIT, LOF, FOREST), hits,
             measure="found of 6", warmup=one_draw, **common),
        Case("Six other strangers in five collections", other_strangers, (TACIT, LOF, FOREST),
             hits, measure="found of 6", warmup=one_draw, **common),
    ]  # fmt: skip
    for each in (10, 30):
        for name in SUBJECTS:
            found.append(Case(f"Three of {name} labeled, {each} posts each", posts(name, each),
                              (TACIT_LABELS, PROBABILITY), rejected, **of_labels))  # fmt: skip
        found.append(Case(f"Three of four subjects labeled, {each} stories each",
                          labeled_stories(each), (TACIT_LABELS, PROBABILITY), rejected,
                          **of_labels))  # fmt: skip
    return found


def read(name: str) -> list[dict]:
    given = os.environ.get("TACIT_DATA")
    path = Path(given or "") / name
    if given is None or not path.exists():
        raise Unable(f"needs {name}: set TACIT_DATA to a folder that has it")
    with gzip.open(path, "rt", encoding="utf8") as file:
        return [json.loads(line) for line in file]


def stories() -> list[str]:
    rows = read("ag_news/ag_news.jsonl.gz")
    return [f"{row['title']}\n{row['text']}" for row in rows]


def reviews_and_messages() -> list[list[str]]:
    reviews = [row["text"] for row in read("movie_reviews/movie_reviews.jsonl.gz")]
    sentences = [row["text"] for row in read("movie_reviews/rt_polarity.jsonl.gz")]
    path = Path(os.environ["TACIT_DATA"]) / "sms_spam/SMSSpamCollection.tsv.gz"
    with gzip.open(path, "rt", encoding="utf8") as file:
        messages = [line.partition("\t")[2].strip() for line in file]
    return [reviews, sentences, messages]


def drawn(texts: list[str], strangers: dict[str, str], seed: int) -> list[str]:
    """Some texts, and the strangers after them."""
    order = np.random.default_rng(seed).permutation(len(texts))[:STORIES]
    return [*(texts[i] for i in order), *strangers.values()]


def one_draw(data: Data) -> Data:
    return {**data, "draws": data["draws"][:1]}


def hits(data: Data, answer: Answer) -> float:
    return float(answer["found"])


def rejected(data: Data, answer: Answer) -> float:
    return float(answer["rejected"])


# --- Strangers ---


def tacit_scores(data: Data, threads: int) -> Answer:
    import tacit

    def scores(texts: list[str]) -> np.ndarray:
        project = tacit.explore(texts, effort="quick", stages=["outliers"])
        return np.array(project.document_columns()["unfamiliarity"])

    return ranked(data, scores, 1.0)


def local_outliers(data: Data, threads: int) -> Answer:
    from sklearn.neighbors import LocalOutlierFactor

    def scores(texts: list[str]) -> np.ndarray:
        model = LocalOutlierFactor(n_neighbors=20).fit(reduced(texts))
        return -model.negative_outlier_factor_

    return ranked(data, scores, 1.5)  # scikit-learn's limit


def forest(data: Data, threads: int) -> Answer:
    from sklearn.ensemble import IsolationForest

    def scores(texts: list[str]) -> np.ndarray:
        rows = reduced(texts)
        return -IsolationForest(random_state=0).fit(rows).score_samples(rows)

    return ranked(data, scores, 0.5)


def ranked(data: Data, scores, limit: float) -> Answer:
    k, counts, flagged = data["strangers"], [], []
    for texts in data["draws"]:
        score = scores(texts)
        best = np.argsort(-score, kind="stable")[:TOP]
        counts.append(int((best >= len(texts) - k).sum()))
        flagged.append(float(np.mean(score[:-k] > limit)))
    return {
        "found": float(np.mean(counts)),
        "% flagged": round(100 * float(np.mean(flagged)), 2),
    }


def reduced(texts: list[str]) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.5).fit_transform(texts)
    return TruncatedSVD(100, random_state=0).fit_transform(words)


# --- Labels ---


def draws(data: Data):
    """Three subjects, and the documents of each that are labeled."""
    truth = data["truth"]
    for trial in range(TRIALS):
        rng = np.random.default_rng(trial)
        known = rng.permutation(np.unique(truth))[:LABELED]
        rows = [rng.choice(np.flatnonzero(truth == n), data["each"], False) for n in known]
        yield known, np.concatenate(rows)


def summary(truth: np.ndarray, known, rows, names: np.ndarray, quoted: float) -> list[float]:
    """Rejected of other subjects, rejected of these, accuracy on those that were not."""
    rest = np.setdiff1d(np.arange(len(truth)), rows)
    inside = np.isin(truth[rest], known)
    none = names[rest] == ""
    right = (names[rest] == truth[rest])[inside & ~none]
    return [*(float(x.mean()) for x in (none[~inside], none[inside], right)), quoted]


def as_answer(found: list[list[float]]) -> Answer:
    mean = 100 * np.mean(found, axis=0)
    names = ("% of labeled subjects", "% right", "% quoted")
    notes = {name: round(float(x), 1) for name, x in zip(names, mean[1:], strict=True)}
    return {"rejected": float(mean[0]), **notes}


def tacit_labels(data: Data, threads: int) -> Answer:
    import tacit

    truth, out = data["truth"], []
    project = tacit.explore(data["texts"], effort="quick", stages=["outliers"])
    for known, rows in draws(data):
        answer = project.spread({int(i): str(truth[i]) for i in rows})
        classes = np.array([*answer["classes"], "", ""])
        names = classes[np.asarray(answer["names"])]
        out.append(summary(truth, known, rows, names, answer["check"]["accuracy"]))
    return as_answer(out)


def by_probability(data: Data, threads: int) -> Answer:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.preprocessing import normalize

    truth, out = data["truth"], []
    features = normalize(reduced(data["texts"]))
    for known, rows in draws(data):
        model, y = LogisticRegression(C=10.0, max_iter=1000), truth[rows]
        unseen = cross_val_predict(model, features[rows], y, cv=5, method="predict_proba")
        limit = np.quantile(unseen.max(axis=1), REJECTED)
        quoted = float(np.mean(np.unique(y)[unseen.argmax(axis=1)] == y))
        chances = model.fit(features[rows], y).predict_proba(features)
        names = model.classes_[chances.argmax(axis=1)].astype(object)
        names[chances.max(axis=1) < limit] = ""
        out.append(summary(truth, known, rows, names, quoted))
    return as_answer(out)


SK = {"package": "sklearn", "install": "scikit-learn"}
TACIT = Contender("Tacit", tacit_scores)
LOF = Contender("local outlier factor", local_outliers, rival="local outlier factor", **SK)
FOREST = Contender("isolation forest", forest, rival="isolation forest", **SK)
TACIT_LABELS = Contender("Tacit", tacit_labels)
PROBABILITY = Contender("low probability", by_probability, rival="scikit-learn", **SK)
