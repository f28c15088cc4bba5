"""Documents that belong nowhere: strangers among news stories, and labels that do not apply.

Strangers: a German text, source code, base64, a recipe, filler Latin and spam among 800
stories of AG News, drawn five times. The quality is how many of the six are among the ten most
unusual documents, on average. The rivals work on the same tf-idf rows reduced to 100
directions: scikit-learn's local outlier factor and isolation forest. The notes give the
percentage of ordinary stories that are flagged.

Labels: five subjects of 20 Newsgroups without headers; 30 posts of each of three are labeled.
The quality is the percentage of posts of the other two that get none of these labels. The
rival rejects posts by the probability of a logistic regression, at the threshold that rejects
as many posts of the labeled subjects as Tacit did on average (15%). The notes give the
percentage of posts of the labeled subjects that are rejected, and the accuracy quoted and met
on the others.
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
SUBJECTS = (
    "rec.sport.hockey", "sci.space", "talk.politics.mideast", "comp.graphics", "rec.autos",
)  # fmt: skip
PER_LABEL, TRIALS = 30, 6
REJECTED = 0.15


def cases(scale: float) -> list[Case]:
    def strangers(folder: Path) -> Data:
        from tests.explore.strangers import STRANGERS

        given = os.environ.get("TACIT_DATA")
        path = Path(given or "") / "ag_news" / "ag_news.jsonl.gz"
        if given is None or not path.exists():
            raise Unable("needs AG News: set TACIT_DATA to a folder that has ag_news/")
        with gzip.open(path, "rt", encoding="utf8") as file:
            stories = [f"{row['title']}\n{row['text']}" for row in map(json.loads, file)]
        draws = []
        for seed in range(DRAWS):
            order = np.random.default_rng(seed).permutation(len(stories))[:STORIES]
            draws.append([*(stories[i] for i in order), *STRANGERS.values()])
        return {"draws": draws, "strangers": len(STRANGERS), "about": "AG News, 800 stories"}

    def labels(folder: Path) -> Data:
        texts, subjects = news()
        kept = [i for i, subject in enumerate(subjects) if subject in SUBJECTS]
        return {"texts": [bare(texts[i]) for i in kept], "truth": subjects[kept],
                "about": f"{len(kept):,} posts on five subjects"}  # fmt: skip

    common = {"lower_is_better": False, "tolerance": 0.0, "repeats": 1}
    return [
        Case("Six strangers among 800 stories", strangers, (TACIT, LOF, FOREST), found,
             measure="found of 6", warmup=one_draw, **common),
        Case("Three of five subjects labeled", labels, (TACIT_LABELS, PROBABILITY), rejected,
             measure="% none of these", **common),
    ]  # fmt: skip


def one_draw(data: Data) -> Data:
    return {**data, "draws": data["draws"][:1]}


def found(data: Data, answer: Answer) -> float:
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
    k, hits, flagged = data["strangers"], [], []
    for texts in data["draws"]:
        score = scores(texts)
        best = np.argsort(-score, kind="stable")[:TOP]
        hits.append(int((best >= len(texts) - k).sum()))
        flagged.append(float(np.mean(score[:-k] > limit)))
    return {"found": float(np.mean(hits)), "% flagged": round(100 * float(np.mean(flagged)), 2)}


def reduced(texts: list[str]) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.5).fit_transform(texts)
    return TruncatedSVD(100, random_state=0).fit_transform(words)


# --- Labels ---


def draws(truth: np.ndarray):
    """Three subjects, and the posts of each that are labeled."""
    for trial in range(TRIALS):
        rng = np.random.default_rng(trial)
        known = rng.permutation(SUBJECTS)[:3]
        rows = [rng.choice(np.flatnonzero(truth == name), PER_LABEL, False) for name in known]
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
    for known, rows in draws(truth):
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
    for known, rows in draws(truth):
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
