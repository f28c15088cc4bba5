"""How good a clustering, a classifier, a language model or a recommender is."""

from tacit.core.lazy import attach

__all__ = [
    "BootstrapDifference", "Calibration", "Confusion", "CrossValidation", "Gap", "McNemar",
    "RankingReport", "Scatter", "TaskGain", "accuracy_score", "adjusted_mutual_info_score",
    "adjusted_rand_score", "average_precision", "best_matching_accuracy", "by_task",
    "calibration", "calinski_harabasz_score", "completeness_score", "confusion",
    "cross_entropy", "cross_validate", "davies_bouldin_score", "dunn_score", "entropy",
    "gap_statistic", "homogeneity_completeness_v_measure", "homogeneity_score", "inertia",
    "kl_divergence", "leave_one_out", "log_loss", "mae", "mcnemar", "mutual_info_score",
    "ndcg", "normalized_mutual_info_score", "paired_bootstrap", "perplexity", "precision_at",
    "precision_recall_f", "purity", "rand_score", "rank_items", "recall_at", "reciprocal_rank",
    "rmse", "scatter", "silhouette_samples", "silhouette_score", "v_measure_score",
    "wilson_interval",
]  # fmt: skip

HOMES = {
    "tacit.classify.task_gain": "TaskGain by_task",  # fits classifiers, so it lives there
    "tacit.cluster.gap": "Gap gap_statistic",  # fits k-means
    "tacit.measure.agreement": """
        adjusted_mutual_info_score adjusted_rand_score best_matching_accuracy completeness_score
        homogeneity_completeness_v_measure homogeneity_score mutual_info_score
        normalized_mutual_info_score purity rand_score v_measure_score""",
    "tacit.measure.center_scores": "calinski_harabasz_score davies_bouldin_score inertia",
    "tacit.measure.classification": """
        Calibration Confusion accuracy_score calibration confusion log_loss precision_recall_f
        wilson_interval""",
    "tacit.measure.cross_validation": "CrossValidation cross_validate leave_one_out",
    "tacit.measure.dunn": "dunn_score",
    "tacit.measure.information": "cross_entropy entropy kl_divergence perplexity",
    "tacit.measure.pair_scatter": "Scatter scatter",
    "tacit.measure.ranking": """
        RankingReport average_precision mae ndcg precision_at rank_items recall_at
        reciprocal_rank rmse""",
    "tacit.measure.significance": "BootstrapDifference McNemar mcnemar paired_bootstrap",
    "tacit.measure.silhouette": "silhouette_samples silhouette_score",
}
__getattr__, __dir__ = attach(
    __name__, names={name: home for home, names in HOMES.items() for name in names.split()}
)
