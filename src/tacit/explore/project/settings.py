"""What a run of the stages is asked for: seed, number of groups, effort, stages, memory."""

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["EFFORTS", "Choice", "Settings", "as_topics"]

MOST_TOPICS = 250  # themes; the page numbers them in a byte
EFFORTS = ("quick", "normal", "thorough")


@dataclass(frozen=True)
class Settings:
    """What the user may choose."""

    seed: int = 0
    k: int | None = None  # None chooses
    effort: str = "normal"  # or "quick", "thorough"
    clean: bool = True  # decode markup, set aside headers, signatures, repeated passages
    topics: int | None = None  # how many themes; None chooses, 0 is none

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return asdict(self)

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Settings":
        """Settings from a record, which is untrusted or of another version."""
        seed, k, effort = values.get("seed"), values.get("k"), values.get("effort")
        topics = values.get("topics")
        return cls(
            seed if isinstance(seed, int) else 0,
            k if isinstance(k, int) else None,
            effort if effort in ("quick", "thorough") else "normal",
            values.get("clean") is not False,
            topics if type(topics) is int and topics >= 0 else None,
        )


@dataclass(frozen=True)
class Choice:
    """Which stages run, and how: what a plan decides before the work starts."""

    source: str | None = None  # the fingerprint of the documents, where it is known
    left_out: dict[str, str] = field(default_factory=dict)  # why, by stage
    efforts: dict[str, str] = field(default_factory=dict)  # by stage, where lower than asked
    stages: tuple[str, ...] | None = None  # those asked for; None is all
    memory: int | None = None  # bytes to stay within
    text_bytes: int = 0  # of the documents, where the source is known

    def asked(self) -> dict[str, Any]:
        """What it was made for, as JSON values: the next run is planned by it too."""
        stages = None if self.stages is None else list(self.stages)
        return {"stages": stages, "memory": self.memory}


def as_topics(topics: int | str | None) -> int | None:
    """A number of themes as the settings hold it: None chooses, 0 is none.

    >>> as_topics("auto"), as_topics("none"), as_topics(12)
    (None, 0, 12)
    """
    if topics is None or topics == "auto":
        return None
    if topics == "none":
        return 0
    if type(topics) is not int or not 1 <= topics <= MOST_TOPICS:
        raise ValueError(
            f"topics={topics!r} must be \"auto\", \"none\" or a number from 1 to {MOST_TOPICS}."
        )
    return topics
