"""URLs met lately: the page of each, whatever they are, and of no other."""

from __future__ import annotations

import random

import pytest

from recrawl.joined_texts import JoinedTexts
from recrawl.live import met_urls
from recrawl.live.met_urls import UNMET, MetUrls


@pytest.mark.parametrize("seed", range(4))
def test_it_is_a_mapping_from_urls_to_pages(seed: int) -> None:
    """Of any lengths, many alike in all but a letter, added a few at a time; as a dict has it."""
    draw, met, known = random.Random(seed), MetUrls(), dict[str, int]()
    urls = ["", *("x" * n for n in range(1, 200)), *(f"http://a.test/{n}" for n in range(3_000))]
    urls += [f"{url[:-1]}{letter}" for url in urls[20:200:7] for letter in "é\u4e2dz"]
    urls = list(dict.fromkeys(urls))
    draw.shuffle(urls)
    while urls:
        fresh, urls = urls[:400], urls[400:]
        pages = [draw.choice((-1, draw.randrange(2**31))) for _ in fresh]
        met.add(fresh, pages)
        known.update(zip(fresh, pages, strict=True))
        asked = draw.choices([*known, *urls], k=300)
        found, unmet = met.pages_of(JoinedTexts("\n".join(asked), len(asked)))
        assert found.tolist() == [known.get(url, UNMET) for url in asked] == met.pages_of(asked)[0].tolist()
        assert unmet == [place for place, url in enumerate(asked) if url not in known]
    assert len(met) == len(known)


def test_few_or_no_urls() -> None:
    """No text is not the same as one that is empty."""
    met = MetUrls()
    met.add([], [])
    assert met.pages_of([])[0].tolist() == []
    assert met.pages_of([""])[1] == [0]
    met.add([""], [3])
    assert met.pages_of(["", "a", ""])[0].tolist() == [3, UNMET, 3]


def test_what_finds_no_room_counts_as_not_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """So memory is bounded."""
    monkeypatch.setattr(met_urls, "_MOST_BYTES", 20)
    met = MetUrls()
    met.add(["a" * 10], [1])
    met.add(["b" * 11], [2])
    assert met.pages_of(["a" * 10, "b" * 11])[0].tolist() == [1, UNMET]
