"""The map of the documents, and the documents most like each."""

from tacit.explore.stages.stage import Context, Output

__all__ = ["draw_map"]

STEPS = {"quick": 300, "normal": 600, "thorough": 1200}
MANY = 100_000  # documents, from where on a step is dear and detail cannot be seen


def draw_map(context: Context) -> Output:
    """Documents as points in the plane, and how far the map can be trusted."""
    from tacit.decompose import NeighborMap

    if why := context.skipped("meaning"):
        return Output(skipped=why)
    rows = context.arrays("meaning")["rows"]
    steps = STEPS[context.settings.effort] * min(1.0, (MANY / max(len(rows), 1)) ** 0.5)
    model = NeighborMap(
        n_steps=int(steps),
        random_state=context.settings.seed,
        engine=context.engine,
        callbacks=list(context.callbacks),
    ).fit(rows)
    return Output(
        arrays={
            "points": model.embedding_,
            "neighbors": model.neighbors_,
            "squares": model.squares_,
        },
        facts={"kept": model.kept_, "recall": model.recall_},
    )
