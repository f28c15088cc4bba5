"""Topic models: what documents are about, found without labels."""

from tacit.core.lazy import attach

__all__ = ["GibbsLDA", "LatentDirichletAllocation"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "GibbsLDA": "tacit.topics.lda_gibbs",
        "LatentDirichletAllocation": "tacit.topics.lda_variational",
    },
)
