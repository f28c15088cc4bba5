"""``python -m benchmarks.sklearn_suites``: scikit-learn's and SciPy's own tests on our classes.

The installed packages include their tests. This runs those of the classes and functions that
Tacit has under the same name, with Tacit's put in their place, and counts the tests that use
one of ours. A failure is a documented difference or concerns private internals where the lists
below say so, and is otherwise ours to mend:

    documented difference   docs/coming_from_scikit_learn.md gives the reason
    private internals       the test calls functions, attributes or messages that are not public
    to mend                 everything else; the command ends with status 1 where there is one

Each module runs in a process of its own.
"""

import argparse
import fnmatch
import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

SUITES = [
    "sklearn.cluster.tests.test_k_means",
    "sklearn.cluster.tests.test_hierarchical",
    "sklearn.decomposition.tests.test_pca",
    "sklearn.decomposition.tests.test_truncated_svd",
    "sklearn.decomposition.tests.test_online_lda",
    "sklearn.mixture.tests.test_gaussian_mixture",
    "sklearn.mixture.tests.test_mixture",
    "sklearn.manifold.tests.test_mds",
    "sklearn.manifold.tests.test_classical_mds",
    "sklearn.tests.test_naive_bayes",
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.linear_model.tests.test_perceptron",
    "sklearn.linear_model.tests.test_passive_aggressive",
    "sklearn.svm.tests.test_svm",
    "sklearn.feature_extraction.tests.test_text",
    "sklearn.metrics.cluster.tests.test_common",
    "sklearn.metrics.cluster.tests.test_supervised",
    "sklearn.metrics.cluster.tests.test_unsupervised",
    "sklearn.metrics.tests.test_classification",
    "sklearn.model_selection.tests.test_validation",
    "sklearn.feature_selection.tests.test_from_model",
    "sklearn.tests.test_pipeline",
    "sklearn.tests.test_calibration",
    "sklearn.tests.test_multiclass",
    "scipy.cluster.tests.test_hierarchy",
]

# Where a name lives there, and our package that has it too.
SHARED = {
    "sklearn.cluster": ("tacit.cluster", "KMeans MiniBatchKMeans AgglomerativeClustering"),
    "sklearn.decomposition": ("tacit.decompose", "PCA TruncatedSVD"),
    "sklearn.decomposition ": ("tacit.topics", "LatentDirichletAllocation"),
    "sklearn.mixture": ("tacit.mixture", "GaussianMixture"),
    "sklearn.manifold": ("tacit.decompose", "MDS ClassicalMDS"),
    "sklearn.naive_bayes": ("tacit.classify", "MultinomialNB BernoulliNB ComplementNB"),
    "sklearn.linear_model": (
        "tacit.classify", "LogisticRegression Perceptron PassiveAggressiveClassifier",
    ),
    "sklearn.svm": ("tacit.classify", "LinearSVC"),
    "sklearn.feature_extraction.text": (
        "tacit.text", "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer",
    ),
    "sklearn.metrics": (
        "tacit.measure",
        """accuracy_score log_loss adjusted_mutual_info_score adjusted_rand_score
        completeness_score homogeneity_score homogeneity_completeness_v_measure
        mutual_info_score normalized_mutual_info_score rand_score v_measure_score
        silhouette_score silhouette_samples calinski_harabasz_score davies_bouldin_score
        """,
    ),
    "sklearn.model_selection": ("tacit.measure", "cross_validate"),
    "scipy.cluster.hierarchy": ("tacit.cluster", "linkage"),
}  # fmt: skip
ALSO_IN = {"sklearn.metrics": "sklearn.metrics.cluster"}

# Test ids, with wildcards, and the reason.
INTERNALS: dict[str, str] = {}
DIFFERENCES: dict[str, str] = {}


# --- The plugin that runs inside pytest ---


class Exchange:
    """Puts our objects in place of theirs, and notes which tests use one of ours."""

    def __init__(self) -> None:
        self.used = False
        self.ours: dict[int, Any] = {}  # by the id of theirs

    def install(self) -> None:
        from tacit.core.estimator import Estimator

        exchange = self

        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
            exchange.used = True
            return object.__new__(cls)

        Estimator.__new__ = __new__  # type: ignore[method-assign,assignment]
        for place, (home, names) in SHARED.items():
            theirs = importlib.import_module(place.strip())
            ours = importlib.import_module(home)
            for name in names.split():
                if not hasattr(ours, name):
                    continue
                mine = self.watched(getattr(ours, name))
                self.ours[id(getattr(theirs, name))] = mine
                if place.startswith("scipy"):  # its tests look up what a function supports
                    from scipy._lib._array_api import xp_capabilities_table as supported

                    supported[mine] = supported[getattr(theirs, name)]
                setattr(theirs, name, mine)
                if place in ALSO_IN and hasattr(importlib.import_module(ALSO_IN[place]), name):
                    setattr(importlib.import_module(ALSO_IN[place]), name, mine)

    def watched(self, mine: Any) -> Any:
        if isinstance(mine, type):
            return mine

        @functools.wraps(mine)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.used = True
            return mine(*args, **kwargs)

        return call

    def pytest_itemcollected(self, item: Any) -> None:
        """Also what a test module imports from private modules."""
        names = vars(item.module)
        for name, value in list(names.items()):
            if id(value) in self.ours:
                names[name] = self.ours[id(value)]

    def pytest_runtest_setup(self, item: Any) -> None:
        self.used = False

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.when != "call":
            return
        error, outcome = "", "passed"
        if call.excinfo is not None:
            error = f"{call.excinfo.typename}: {call.excinfo.value}"[:400]
            skipped = call.excinfo.typename in ("Skipped", "XFailed")
            outcome = "skipped" if skipped else "failed"
        if outcome == "failed" and item.get_closest_marker("xfail"):
            outcome = "skipped"
        record = {
            "test": item.module.__name__.rpartition(".")[2]
            + "::"
            + item.nodeid.partition("::")[2],
            "outcome": outcome, "used": self.used, "error": error,
        }  # fmt: skip
        with open(os.environ["SKLEARN_SUITES_OUT"], "a", encoding="utf8") as out:
            out.write(json.dumps(record) + "\n")


def pytest_configure(config: Any) -> None:
    exchange = Exchange()
    exchange.install()
    config.pluginmanager.register(exchange)


# --- The command ---


def run_suite(suite: str, keyword: str, show: bool) -> list[dict[str, Any]]:
    """The tests of one module, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "records"
        out.touch()
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "benchmarks.sklearn_suites", "--pyargs",
            suite, "-c", os.devnull, "-p", "no:cacheprovider", "--no-header", "-W", "default",
            "--rootdir", folder, "--tb", "short" if show else "no",
        ]  # fmt: skip
        if keyword:
            command += ["-k", keyword]
        done = subprocess.run(
            command,
            env={
                **os.environ,
                "SKLEARN_SUITES_OUT": str(out),
                "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), os.getcwd()]),
            },
            stdout=None if show else subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        records = [json.loads(line) for line in out.read_text("utf8").splitlines()]
        if not records and not keyword:  # a refused argument where the module is imported
            lines = (done.stdout or "").splitlines()
            error = next((line for line in lines if line.startswith("ERROR")), "did not run")
            test = suite.rpartition(".")[2] + "::"
            records = [{"test": test, "outcome": "failed", "used": True, "error": error}]
    return [{"suite": suite, **record} for record in records]


def verdict(record: dict[str, Any]) -> str:
    """passed, skipped, a documented difference, private internals or to mend."""
    if record["outcome"] != "failed":
        return str(record["outcome"])
    lists = {"documented difference": DIFFERENCES, "private internals": INTERNALS}
    for name, known in lists.items():
        if any(fnmatch.fnmatchcase(record["test"], pattern) for pattern in known):
            return name
    return "to mend"


VERDICTS = ["passed", "documented difference", "private internals", "to mend"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sklearn_suites", description=__doc__.splitlines()[0]
    )
    parser.add_argument("suites", nargs="*", metavar="WORD", help="only modules with this word")
    parser.add_argument("-k", default="", metavar="EXPR", help="only these tests, as in pytest")
    parser.add_argument("--json", metavar="FILE", help="write the outcome of every test")
    parser.add_argument("--show", action="store_true", help="pytest's own output too")
    options = parser.parse_args(arguments)
    chosen = [s for s in SUITES if not options.suites or any(w in s for w in options.suites)]
    total: Counter[str] = Counter()
    everything = []
    for suite in chosen:
        records = [r for r in run_suite(suite, options.k, options.show) if r["used"]]
        counts = Counter(verdict(record) for record in records)
        total += counts
        everything += [{**record, "verdict": verdict(record)} for record in records]
        print(f"{suite:52}", *(f"{counts[name]:5} {name}" for name in VERDICTS), flush=True)
    print(f"{'all':52}", *(f"{total[name]:5} {name}" for name in VERDICTS))
    if options.json:
        Path(options.json).write_text(json.dumps(everything, indent=1), encoding="utf8")
    for record in everything:
        if record["verdict"] == "to mend":
            print(f"to mend: {record['test']}\n    {record['error'].splitlines()[0][:160]}")
    return 1 if total["to mend"] else 0


if __name__ == "__main__":
    sys.exit(main())
