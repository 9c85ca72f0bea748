"""Paragraphs of short English sentences, drawn at random: what a made-up news site might say."""

from __future__ import annotations

import random

SUBJECTS = (
    "The council", "A farmer", "The museum", "Our reporter", "The harbour", "A teacher", "The railway", "The orchestra",
    "A young engineer", "The weather office", "The football club", "A bakery", "The library", "The mayor",
    "The old theatre", "The hospital", "A local brewer", "The university", "The bus company", "A painter", "The market",
    "The fire brigade", "A beekeeper", "A fisherman",
)  # fmt: skip
VERBS = (
    "opens", "repairs", "plans", "loses", "finds", "praises", "sells", "paints", "measures", "closes", "visits", "wins",
    "explains", "moves", "saves", "doubts",
)  # fmt: skip
OBJECTS = (
    "the stone bridge", "a new garden", "the winter timetable", "three prizes", "a rare map", "the river path",
    "two hundred apples", "an early concert", "the city budget", "a wooden boat", "the night train", "the clock tower",
    "a field of barley", "the swimming pool", "an empty warehouse", "the spring fair", "a letter from Lisbon",
    "the cup final", "a faster ferry", "the town archive", "a box of glass", "the north road",
    "the school", "the lighthouse",
)  # fmt: skip
WHEN = ("today", "this week", "after the rain", "at last", "once more", "before dawn", "in May", "for the children")
SENTENCES = 6


def paragraph(draws: random.Random) -> str:
    """Return a paragraph of six sentences."""
    return " ".join(
        f"{draws.choice(SUBJECTS)} {draws.choice(VERBS)} {draws.choice(OBJECTS)} {draws.choice(WHEN)}."
        for _ in range(SENTENCES)
    )
