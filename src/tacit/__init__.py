"""Find the structure in data nobody has labeled, text first.

    import tacit                                # light: nothing heavy is loaded yet
    from tacit.cluster import KMeans            # scikit-learn's names and manners
    KMeans(8, random_state=0).fit(X).save("groups.safetensors")
    model = tacit.load("groups.safetensors")

Subpackages load when first used.
"""

from tacit._version import __version__
from tacit.core.lazy import attach

__all__ = ["__version__", "load"]

__getattr__, __dir__ = attach(
    __name__,
    submodules=[
        "classify",
        "cluster",
        "core",
        "data",
        "datasets",
        "decompose",
        "explore",
        "language",
        "linear",
        "measure",
        "mixture",
        "plot",
        "recommend",
        "search",
        "text",
    ],
    names={"load": "tacit.core.modelfile"},
)
