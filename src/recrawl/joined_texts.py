"""Texts joined by line feeds, taken apart only when one of them is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload


class JoinedTexts(Sequence[str]):
    """As many texts as are joined here, one at least; none of them has a line feed.

    >>> anchors = JoinedTexts("Home\\n\\nNews", 3)
    >>> len(anchors), list(anchors), anchors[2]
    (3, ['Home', '', 'News'], 'News')
    """

    __slots__ = ("_count", "_parts", "joined")

    def __init__(self, joined: str, count: int) -> None:
        self.joined = joined
        self._count = count
        self._parts: list[str] | None = None

    def parts(self) -> list[str]:
        """Return the texts."""
        if self._parts is None:
            self._parts = self.joined.split("\n")
        return self._parts

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts())

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self.parts()[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.parts() == list(other)

    def __repr__(self) -> str:
        return repr(self.parts())

    __hash__ = None  # type: ignore[assignment]  # as a list


def joined(texts: Sequence[str]) -> str:
    """Return texts joined by line feeds."""
    return texts.joined if isinstance(texts, JoinedTexts) else "\n".join(texts)
