"""Find the structure in data nobody has labeled, text first.

    import tacit

    project = tacit.explore("letters/")        # a folder, a file, a list of str, a dataframe
    project.clusters                           # groups, and how sure they are
    project.search("whaling voyage")
    project.report("report.html")

The models behind it have scikit-learn's names and methods, one subpackage for each task:

    from tacit.cluster import KMeans
    KMeans(8, random_state=0).fit(X).save("groups.safetensors")
    model = tacit.load("groups.safetensors")

Subpackages load when first used.
"""

from typing import TYPE_CHECKING

from tacit._version import __version__
from tacit.core.lazy import attach

__all__ = [
    "explore", "load",
    "classify", "cluster", "data", "datasets", "decompose", "language", "measure", "mixture",
    "neural", "plot", "recommend", "search", "style", "text", "topics", "words",
    "__version__",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit import (
        classify,
        cluster,
        data,
        datasets,
        decompose,
        language,
        measure,
        mixture,
        neural,
        plot,
        recommend,
        search,
        style,
        text,
        topics,
        words,
    )
    from tacit.core.modelfile import load
    from tacit.explore.project.project import explore_documents as explore
else:
    __getattr__, __dir__ = attach(__name__, callable_packages=["explore"])
