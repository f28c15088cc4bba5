"""Latent semantic analysis: documents and words as directions in one space."""

import numpy as np
import scipy.sparse as sp

from tacit.explore.stage import Context, Output

__all__ = ["find_meaning", "use_words"]

DIRECTIONS = {"quick": 50, "normal": 100, "thorough": 200}
MOST_SHARE = 0.5  # of the documents that a word may be in
LEAST_DOCUMENTS = 3  # that a word must be in, of a collection of a hundred or more


def find_meaning(context: Context) -> Output:
    """Rows of length one for documents and for words; words are near each other that occur
    in the same documents, or in documents that do."""
    from tacit.data.unit_rows import unit_rows
    from tacit.decompose import TruncatedSVD
    from tacit.text import TfidfTransformer

    if why := context.skipped("counts"):
        return Output(skipped=why)
    counts = context.matrix("counts", "counts")
    used = use_words(context.arrays("counts")["document_counts"], counts.shape[0])
    n, width = counts.shape[0], len(used)
    if n < 3 or width < 3:
        return Output(skipped=f"{n:,} documents with {width:,} words to compare them by.")
    chosen = sp.csr_array(counts[:, used])
    weights = TfidfTransformer(sublinear_tf=True, engine=context.engine).fit_transform(chosen)
    directions = min(DIRECTIONS[context.settings.effort], width - 1, n - 1)
    svd = TruncatedSVD(
        directions,
        random_state=context.settings.seed,
        engine=context.engine,
        callbacks=list(context.callbacks),
    )
    rows, blank = unit_rows(svd.fit_transform(weights))
    words, _ = unit_rows((svd.components_ * svd.singular_values_[:, None]).T)
    return Output(
        arrays={
            "rows": rows.astype(np.float32),
            "blank": blank,
            "words": words.astype(np.float32),
            "used": used.astype(np.int64),
        },
        facts={
            "directions": directions,
            "words": width,
            "explained": float(svd.explained_variance_ratio_.sum()),
            "blank": int(blank.sum()),
        },
    )


def use_words(document_counts: np.ndarray, n: int) -> np.ndarray:
    """The words that are in some documents and not in most."""
    least = LEAST_DOCUMENTS if n >= 100 else 2 if n >= 10 else 1
    most = max(MOST_SHARE * n, least)
    return np.flatnonzero((document_counts >= least) & (document_counts <= most))
