"""How good a clustering, a classifier, a language model or a recommender is."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "BootstrapDifference", "Calibration", "Confusion", "CrossValidation", "Gap", "McNemar",
    "RankingReport", "Scatter", "TaskGain", "accuracy_score", "adjusted_mutual_info_score",
    "adjusted_rand_score", "average_precision", "best_matching_accuracy", "by_task",
    "calibration", "calinski_harabasz_score", "completeness_score", "confusion",
    "cross_entropy", "cross_predict", "davies_bouldin_score", "dunn_score", "entropy",
    "gap_statistic", "homogeneity_completeness_v_measure", "homogeneity_score", "inertia",
    "kl_divergence", "leave_one_out", "log_loss", "mae", "mcnemar", "mutual_info_score",
    "ndcg", "normalized_mutual_info_score", "paired_bootstrap", "perplexity", "precision_at",
    "precision_recall_f", "purity", "rand_score", "rank_items", "recall_at", "reciprocal_rank",
    "rmse", "scatter", "silhouette_samples", "silhouette_score", "v_measure_score",
    "wilson_interval",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.classify.task_gain import TaskGain, by_task
    from tacit.cluster.gap import Gap, gap_statistic
    from tacit.measure.agreement import (
        adjusted_mutual_info_score,
        adjusted_rand_score,
        best_matching_accuracy,
        completeness_score,
        homogeneity_completeness_v_measure,
        homogeneity_score,
        mutual_info_score,
        normalized_mutual_info_score,
        purity,
        rand_score,
        v_measure_score,
    )
    from tacit.measure.center_scores import (
        calinski_harabasz_score,
        davies_bouldin_score,
        inertia,
    )
    from tacit.measure.classification import (
        Calibration,
        Confusion,
        accuracy_score,
        calibration,
        confusion,
        log_loss,
        precision_recall_f,
        wilson_interval,
    )
    from tacit.measure.cross_validation import CrossValidation, cross_predict, leave_one_out
    from tacit.measure.information import cross_entropy, entropy, kl_divergence, perplexity
    from tacit.measure.pair_scores import (
        Scatter,
        dunn_score,
        scatter,
        silhouette_samples,
        silhouette_score,
    )
    from tacit.measure.ranking import (
        RankingReport,
        average_precision,
        mae,
        ndcg,
        precision_at,
        rank_items,
        recall_at,
        reciprocal_rank,
        rmse,
    )
    from tacit.measure.significance import (
        BootstrapDifference,
        McNemar,
        mcnemar,
        paired_bootstrap,
    )
else:
    __getattr__, __dir__ = attach(__name__)
