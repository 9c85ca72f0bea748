"""What a synthetic web is made of: populations of pages, how they change and gain links, how sites grow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from recrawl.registry import Registry
from recrawl.simulate.synthetic.rhythms import Rhythm


@dataclass(frozen=True)
class Gain:
    """New links: a `share` of the pages gains them at all, each of their changes with probability `chance`.

    How many at once is a discrete Pareto variable: P(count >= k) = (k / scale) ** -tail for k above the page's scale,
    which is log-normal, so that some pages always gain many.
    """

    share: float = 0.0
    chance: float = 0.0
    tail: float = 1.6
    spread: float = 0.6


@dataclass(frozen=True)
class Spell:
    """When pages change at all; the days are drawn once per site, between two shares of the window.

    A season comes round every `season_days`, and pages change in the first `awake_days` of each.
    """

    begins: tuple[float, float] | None = None
    ceases: tuple[float, float] | None = None
    season_days: float = 0.0
    awake_days: float = 0.0


@dataclass(frozen=True)
class Population:
    """Pages of one sort: where they lie, in which rhythm they change, how they gain links.

    Populations with a `host` live together on sites of their own, `hosts` of them; all others mix on ordinary sites.
    """

    folder: str  # "{month}" in it becomes the year and month of birth, "{page}" a folder for each page alone
    share: float
    rhythm: Rhythm
    internal: Gain = Gain()
    external: Gain = Gain()
    ext: str = "html"
    words: float = 400.0  # median
    host: str = ""
    hosts: int = 1
    spell: Spell | None = None  # None: always
    lives: tuple[float, float] = (0.0, 1.0)  # shares of the window: all pages appear and vanish together

    @property
    def section(self) -> str:
        """The first folder."""
        return self.folder.split("/")[0]


@dataclass(frozen=True)
class Stories:
    """Pages whose words change by stories: some lead, the others take up a leader's story some days later.

    A leader has a new story with probability `again` the day after one, and `rise` after a day without. A follower
    repeats each story of its leader, of the same topic, with probability `taken` after a lag of its own, and has one of
    its own with probability `own` per day. Every page has its typing errors mended now and then (`mended` per day).
    """

    leaders: float = 0.08  # share of the pages: about a dozen followers to a leader
    again: float = 0.3
    rise: float = 0.6
    taken: float = 0.9
    own: float = 0.03
    mended: float = 0.1
    longest_lag: int = 4  # days


@dataclass(frozen=True)
class Preset:
    """A synthetic web. Rates are per day; `births` and `deaths` are of a page, `mass_edits` of a site."""

    name: str
    days: float  # the default length
    populations: tuple[Population, ...]
    site_pages: float = 58.15  # on average
    site_spread: float = 1.3  # log-spread of the sizes of sites
    site_mix: float = 6.0  # near 0 all pages of a site are of one population, far above 1 it has all as the web has
    topic_mix: float = 12.0  # the same for the sites of a topic
    on_topic: float = 0.7  # share of a site's pages that are of the site's topic
    births: float = 0.0
    deaths: float = 0.0
    mass_edits: float = 0.0
    quiet_days: float = 0.0  # share of the days on which all pages change less,
    quiet: float = 1.0  # by this factor
    out_internal: float = 4.0  # links of a page at the start, on average
    out_external: float = 0.7
    stray: float = 0.1  # share of pages that lie in a folder of another population
    stories: Stories | None = None  # pages of the first population tell and repeat stories, and all pages have texts

    def __post_init__(self) -> None:
        if not math.isclose(sum(p.share for p in self.populations), 1.0, abs_tol=1e-9):
            raise ValueError(f"the shares of preset {self.name} do not sum to 1")

    @property
    def bustle(self) -> float:
        """The mean of the days' factors."""
        return 1.0 - self.quiet_days * (1.0 - self.quiet)


presets: Registry[Preset] = Registry("preset")
