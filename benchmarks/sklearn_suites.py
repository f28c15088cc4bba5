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
    "scipy.cluster.hierarchy": ("tacit.cluster", "linkage"),
}  # fmt: skip
ALSO_IN = {"sklearn.metrics": "sklearn.metrics.cluster"}

# Test ids, with wildcards, by the reason why they fail.
MESSAGE = "another message, or a warning where there was a deprecation"
VERBOSE = "progress goes to standard error"
PRIVATE = "private functions and attributes, or mocks of them"
INTERNALS = {
    PRIVATE: """
        test_k_means::test_kmeans_init_auto_with_initial_centroids*
        test_k_means::test_n_init_auto*
        test_k_means::test_sample_weight_init* test_k_means::test_sample_weight_zero*
        test_k_means::test_minibatch_kmeans_init_size
        test_gaussian_mixture::test_gaussian_mixture_precisions_init*
        test_gaussian_mixture::test_gaussian_mixture_all_init_does_not_estimate*
        test_online_lda::test_lda_preplexity_mismatch* test_online_lda::test_lda_dtype_match*
        test_pca::test_pca_svd_solver_auto* test_naive_bayes::test_check_alpha
        test_logistic::test_logreg_predict_proba_multinomial*
        test_logistic::test_logistic_cv_multinomial_score*
        test_logistic::test_logistic_regression_callback_support*
        test_logistic::test_newton_cholesky_fallback_to_lbfgs*
        test_logistic::test_logistic_cv* test_logistic::test_scores_attribute_layout_elasticnet
        test_passive_aggressive::test_classifier_accuracy*
        test_passive_aggressive::test_classifier_partial_fit*
        test_text::test_countvectorizer_sort_features_64bit_sparse_indices*
        test_text::test_vectorizer_stop_words_inconsistent
        test_text::test_stop_word_validation_custom_preprocessor* test_text::test_vectorizer
        test_text::test_feature_names test_text::test_tfidf_transformer_copy*""",
}
DIFFERENCES = {
    MESSAGE: """
        test_k_means::test_wrong_params* test_k_means::test_relocating_with_duplicates*
        test_k_means::test_kmeans_warns_less_centers_than_unique_points*
        test_k_means::test_minibatch_kmeans_warning_init_size
        test_k_means::test_warning_elkan_1_cluster
        test_k_means::test_warning_n_init_precomputed_centers*
        test_hierarchical::test_dist_threshold_invalid_parameters
        test_hierarchical::test_invalid_shape_precomputed_dist_matrix
        test_hierarchical::test_connectivity_fixing_non_lil
        test_hierarchical::test_precomputed_connectivity_metric_with_2_connected_components
        test_gaussian_mixture::test_check_* test_mixture::test_mixture_n_components_greater*
        test_pca::test_pca_validation* test_pca::test_n_components_mle_error*
        test_pca::test_sparse_pca_solver_error* test_naive_bayes::test_NB_partial_fit_no_first*
        test_naive_bayes::test_discretenb_provide_prior* test_naive_bayes::test_alpha*
        test_logistic::test_max_iter* test_logistic::test_l1_ratio_None_deprecated
        test_logistic::test_penalty_deprecated* test_logistic::test_penalty_none*
        test_logistic::test_lr_penalty_l1ratio_incompatible*
        test_logistic::test_l1_ratio_non_elasticnet
        test_logistic::test_logisticregression_warns_with_n_jobs
        test_passive_aggressive::test_class_deprecation* test_svm::test_linearsvc_parameters*
        test_text::test_tfidf_vectorizer_setter test_text::test_vectorizers_invalid_ngram_range*
        test_classification::test_log_loss test_classification::test_log_loss_y_pred_deprecation
        test_supervised::test_error_messages_on_wrong_input* test_common::test_inf_nan_input*
        test_classical_mds::test_classical_mds_wrong_inputs
        test_unsupervised::test_silhouette_score_integer_precomputed
        test_multiclass::test_multiclass_estimator_attribute_error*""",
    VERBOSE: """
        test_k_means::test_kmeans_verbose* test_online_lda::test_verbosity*
        test_k_means::test_minibatch_declared_convergence[[]0-10]""",
    "old batches fade, so that tol is met later":
        "test_k_means::test_minibatch_declared_convergence[[]0.0001-None]",
    "other first centers": "test_k_means::test_float_precision*",
    "an update more or less": """
        test_k_means::test_kmeans_relocated_clusters*
        test_k_means::test_minibatch_iter_steps""",
    "the whole tree, labels by size": """
        test_hierarchical::test_agglomerative_clustering_distances*
        test_hierarchical::test_agglomerative_clustering_with_distance_threshold*
        test_hierarchical::test_compute_full_tree""",
    "a function as metric takes two rows": "test_hierarchical::test_linkage_misc",
    "at least one iteration or component": """
        test_gaussian_mixture::test_max_iter_zero
        test_gaussian_mixture::test_init_means_not_duplicated*
        test_logistic::test_zero_max_iter* test_pca::test_pca_score3""",
    "a floor in place of reg_covar": "test_gaussian_mixture::test_regularisation",
    "no warning where converged_ is False":
        "test_gaussian_mixture::test_gaussian_mixture_fit_convergence_warning",
    "bound_ is bounds_": "test_online_lda::test_lda_fit_perplexity*",
    "whitening does not change the likelihood": "test_pca::test_pca_score[[]*",
    "rounding of fractions near 1":
        "test_pca::test_pca_n_components_mostly_explained_variance_ratio",
    "the solver is exact": """
        test_pca::test_pca_randomized_svd_n_oversamples* test_pca::test_n_components_none*
        test_truncated_svd::test_too_many_components*""",
    "what a solver of scikit-learn refuses is computed": """
        test_logistic::test_check_solver_option* test_logistic::test_large_sparse_matrix*
        test_logistic::test_liblinear_multiclass_raises*
        test_logistic::test_liblinear_with_large_values*""",
    "coordinate descent starts from zero": "test_logistic::test_warm_start[[]*",
    "weights without a penalty are determined up to rounding":
        "test_logistic::test_logistic_regression_solvers_multiclass_unpenalized*",
    "float32 weights from liblinear too": "test_logistic::test_dtype_match*",
    "averages, and all classes together": """
        test_passive_aggressive::test_classifier_correctness*
        test_passive_aggressive::test_passive_aggressive_classifier_vs_sgd*
        test_perceptron::test_perceptron_correctness* test_perceptron::test_perceptron_l1_ratio
        test_multiclass::test_ovo_ties*""",
    "the fit converges": "test_svm::test_linear_svm_convergence_warnings*",
    "missing documents are empty": "test_text::test_hashingvectorizer_nan_in_docs",
    "nothing is clipped or guessed": """
        test_classification::test_log_loss_eps* test_classification::test_log_loss_*warning*
        test_classification::test_d2_log_loss_score*""",
    "one label per row": "test_classification::test_multilabel_accuracy_score_subset_accuracy",
    "no labels are an error": "test_supervised::test_perfect_matches*",
    "an undefined score is 0.0 with a warning": """
        test_unsupervised::test_correct_labelsize
        test_unsupervised::test_calinski_harabasz_score
        test_unsupervised::test_davies_bouldin_score""",
    "a millionth of the largest distance is zero":
        "test_unsupervised::test_silhouette_nonzero_diag[[]float64]",
    "sparse distances are refused": "test_unsupervised::test_silhouette_samples_precomputed*",
    "metric_params": "test_classical_mds::test_classical_mds_metric_params",
    "a square matrix is refused":
        "test_hierarchy::TestLinkage::test_unsupported_uncondensed_distance_matrix_*",
}  # fmt: skip


# --- The plugin that runs inside pytest ---


class Exchange:
    """Puts our objects in place of theirs, and notes which tests use one of ours."""

    def __init__(self) -> None:
        self.used = False
        self.ours: dict[int, tuple[Any, Any]] = {}  # theirs and ours, by the id of theirs

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
                self.ours[id(getattr(theirs, name))] = getattr(theirs, name), mine
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
                names[name] = self.ours[id(value)][1]

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
        patterns = " ".join(known.values()).split()
        if any(fnmatch.fnmatchcase(record["test"], pattern) for pattern in patterns):
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
