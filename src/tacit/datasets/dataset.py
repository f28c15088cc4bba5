"""The form of every data set."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Documents or rows, with targets and metadata.

    Attributes
    ----------
    name : str
    documents : list of str, or None where the set is of numbers or word pairs
    data : array or None
        Rows of numbers; or of words, for word pairs.
    target : array or None
        For each document or row an index into ``target_names``, or a number to predict.
    target_names : list of str
        The names of the classes; empty where the target is a number.
    metadata : dict of str to list
        Further columns, one value per document or row, such as "id".
    extra : dict
        Data about the set as a whole, such as a word list or the names of columns.
    description : str
    licence : str
        The terms of use, as far as known. Check them before you republish anything.

    Examples
    --------
    >>> import numpy as np
    >>> Dataset("toy", ["good", "bad"], target=np.array([1, 0]), target_names=["no", "yes"])
    Dataset 'toy': 2 documents, 2 classes
    """

    name: str
    documents: list[str] | None = None
    data: "np.ndarray | None" = None
    target: "np.ndarray | None" = None
    target_names: list[str] = field(default_factory=list)
    metadata: dict[str, list] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    description: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        if self.documents is None and self.data is None:
            raise ValueError(f"The data set {self.name!r} has neither documents nor data.")
        columns: dict[str, Any] = {"data": self.data, "target": self.target, **self.metadata}
        for column, values in columns.items():
            if values is not None and len(values) != len(self):
                raise ValueError(
                    f"The data set {self.name!r} has {len(values)} values of {column} for "
                    f"{len(self)} documents or rows."
                )

    def __len__(self) -> int:
        return len(self.documents if self.documents is not None else self.data)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        what = "documents" if self.documents is not None else "rows"
        parts = [f"{len(self):,} {what}"]
        if self.data is not None and self.data.ndim > 1:
            parts[0] += " of " + " x ".join(f"{size:,}" for size in self.data.shape[1:])
        if self.target_names:
            parts.append(f"{len(self.target_names)} classes")
        return f"Dataset {self.name!r}: {', '.join(parts)}"

    def take(self, places: Any) -> "Dataset":
        """Some of the documents or rows, with their targets and metadata.

        >>> Dataset("toy", ["a", "b", "c"], metadata={"id": [1, 2, 3]}).take([2, 0]).metadata
        {'id': [3, 1]}
        """
        places = [int(place) for place in places]

        def pick(values: Any) -> Any:
            return [values[i] for i in places] if isinstance(values, list) else values[places]

        return replace(
            self,
            documents=None if self.documents is None else pick(self.documents),
            data=None if self.data is None else pick(self.data),
            target=None if self.target is None else pick(self.target),
            metadata={name: pick(values) for name, values in self.metadata.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """A summary in plain values, without the documents and rows."""
        return {
            "name": self.name,
            "rows": len(self),
            "documents": self.documents is not None,
            "shape": None if self.data is None else list(self.data.shape),
            "target_names": self.target_names,
            "metadata": list(self.metadata),
            "extra": list(self.extra),
            "description": self.description,
            "licence": self.licence,
        }
