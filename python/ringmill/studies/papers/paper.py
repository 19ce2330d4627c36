"""What a paper brings to the comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ringmill.studies.papers.sheets import Sheet

#: A comparison as JSON has it: ``rows``, each with a figure of the paper and ours, and what holds for them.
Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be chosen of a comparison that counts cycles of the compact core; others ignore it.

    Attributes
    ----------
        word_bits: bits of a prime: 32, 36, 52, 54 or 60.
        bus_bits: bits of memory a cycle; the paper's if ``None``.
        latency: cycles to the first beat of memory.
        effort: passes scheduled in search of each plan; as many as the figure is worth if ``None``.
    """

    word_bits: int = 54
    bus_bits: int | None = None
    latency: int = 40
    effort: int | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its rows, and how they are shown.

    Attributes
    ----------
        name: what ``ringmill compare`` calls it.
        subject: what is compared, in a few words.
        reference: authors, title, and where it appeared.
        page: its page in ``docs/papers``.
        heading: of its section in the report.
        facts: counts and measures ours; the result has ``rows``.
        sheets: the rows as tables.
        introduction: what the section of the report begins with.
        notes: what holds for all figures, and what explains differences, a paragraph each.
        brief: settings for the main job, whose time is short.
    """

    name: str
    subject: str
    reference: str
    page: str
    heading: str
    facts: Callable[[Settings], Facts]
    sheets: Callable[[list[Facts]], list[Sheet]]
    introduction: Callable[[Facts], str]
    notes: Callable[[Facts], list[str]]
    brief: Settings = Settings()
