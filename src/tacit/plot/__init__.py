"""Pictures, one function each. matplotlib is imported when one is drawn: the extra ``plot``.

Every function takes ``ax=None``, draws into it or into a new figure, and returns the Axes.
A file does not have the name of a function (``dendrogram`` lives in ``dendrogram_picture``): a
module and a function of one name would hide each other.
"""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = ["author_map", "biplot", "cluster_map", "codes", "contact_sheet", "decision_regions",
           "dendrogram", "filters", "item_map", "kmeans_steps", "loss_curves", "losses",
           "rank_error", "reconstructions", "rmse_by_rank", "rolling_attribution", "samples",
           "scree", "silhouette"]  # fmt: skip

if TYPE_CHECKING:
    from tacit.plot.author_picture import author_map, rolling_attribution
    from tacit.plot.biplot_picture import biplot
    from tacit.plot.dendrogram_picture import dendrogram
    from tacit.plot.image_picture import contact_sheet, filters, reconstructions, samples
    from tacit.plot.kmeans_steps_picture import kmeans_steps
    from tacit.plot.loss_picture import losses
    from tacit.plot.map_picture import cluster_map, item_map
    from tacit.plot.rank_picture import rank_error, rmse_by_rank
    from tacit.plot.regions_picture import decision_regions
    from tacit.plot.scree_picture import scree
    from tacit.plot.silhouette_picture import silhouette
    from tacit.plot.training_picture import codes, loss_curves
else:
    __getattr__, __dir__ = attach(__name__)
