"""Non-stationary synthetic webs: silent pages begin to change, busy ones fall silent or move.

Each has ordinary sites, and beside them sites of its own on which one thing goes wrong for a crawler that only
returns to where it has seen changes.
"""

from __future__ import annotations

from recrawl.simulate.synthetic.makeup import Population, Preset, Spell, presets
from recrawl.simulate.synthetic.rhythms import Bursty, Never, Periodic, Poisson

SITE_PAGES = 600.0  # on average: large enough that a crawler cannot see all of a site


def _ordinary(share: float, spell: Spell | None = None) -> tuple[Population, ...]:
    """Return documentation, references, news and archives: about 4% of the pages change per week."""
    return (
        Population("docs/guide", 0.3 * share, Poisson(0.004, 1.6), spell=spell, ext="md", words=800),
        Population("reference", 0.3 * share, Poisson(0.0015, 1.2), spell=spell),
        Population("news/{month}", 0.05 * share, Bursty(Poisson(0.5, 0.7), on_days=5, off_days=40), spell=spell),
        Population("blog/{month}", 0.35 * share, Never(), words=600),
    )


@presets.add(
    "waking",
    formula="eight silent sites, 30% of the pages, begin to be edited between a fourth and half of the way; 364 days",
    source="synthetic; as sites of recordings that were silent for months",
)
def _waking() -> Preset:
    wakes = Spell(begins=(0.25, 0.5))
    sleeper = Population("manual", 0.3, Poisson(0.005, 1.0), host="sleeper", hosts=8, spell=wakes)
    return Preset("waking", 364, (*_ordinary(0.7), sleeper), site_pages=SITE_PAGES, mass_edits=0.003)


@presets.add(
    "archive",
    formula="one site, 28% of the pages: dated pages that never change, and pages alone in their folders of which "
    "6% change per week from a fourth of the way on; 364 days",
    source="synthetic; after a real site whose changes a crawler that samples by folder never found",
)
def _archive() -> Preset:
    wakes = Spell(begins=(0.25, 0.25))
    return Preset(
        "archive",
        364,
        (
            *_ordinary(0.72),
            Population("posts/{month}", 0.19, Never(), host="archive"),
            Population("tools/{page}", 0.09, Poisson(0.0085, 0.5), host="archive", spell=wakes),
        ),
        site_pages=SITE_PAGES,
        mass_edits=0.003,
    )


@presets.add(
    "moving",
    formula="on four sites all pages move to new addresses two fifths of the way; on four more a busy folder "
    "is given up between a fifth and three fifths of the way; 364 days",
    source="synthetic",
)
def _moving() -> Preset:
    given_up = Spell(ceases=(0.2, 0.6))
    edited = Poisson(0.008, 1.0)
    return Preset(
        "moving",
        364,
        (
            *_ordinary(0.6),
            Population("wiki", 0.1, edited, host="mover", hosts=4, lives=(0.0, 0.4)),
            Population("docs/wiki", 0.1, edited, host="mover", hosts=4, lives=(0.4, 1.0)),
            Population("live", 0.1, Poisson(0.005, 0.8), host="closing", hosts=4),
            Population("events", 0.1, Poisson(0.03, 0.5), host="closing", hosts=4, spell=given_up),
        ),
        site_pages=SITE_PAGES,
        mass_edits=0.003,
    )


@presets.add(
    "seasonal",
    formula="six sites, 30% of the pages, are edited for three weeks of every thirteen; 364 days",
    source="synthetic",
)
def _seasonal() -> Preset:
    term = Spell(season_days=91.0, awake_days=21.0)
    course = Population("courses", 0.3, Poisson(0.02, 0.8), host="school", hosts=6, spell=term)
    return Preset("seasonal", 364, (*_ordinary(0.7), course), site_pages=SITE_PAGES, mass_edits=0.003)


@presets.add(
    "small-site",
    formula="one site with 0.44% of the pages is edited whole every other day, in a quiet web; 57 days",
    source="synthetic; after a real site of 110 pages that a program edits",
)
def _small_site() -> Preset:
    return _with_bot("small-site", "data", None)


@presets.add(
    "small-late",
    formula="as small-site, each page alone in its folder; the edits begin a twentieth of the way, so that a warm-up "
    "of two days does not show them; 57 days",
    source="synthetic; after a real site of 110 pages that a program edits",
)
def _small_late() -> Preset:
    return _with_bot("small-late", "data/{page}", Spell(begins=(0.05, 0.05)))


def _with_bot(name: str, folder: str, spell: Spell | None) -> Preset:
    """At 25,000 pages the small site has 110, as the real one; of the other pages 0.1% change per day."""
    edited = Periodic(2.0, keep=0.97, jitter_days=0.02, together=True)
    return Preset(
        name,
        57,
        (
            Population("docs/guide", 0.3, Poisson(0.0006, 1.6), ext="md", words=800),
            Population("reference", 0.3, Poisson(0.0002, 1.2)),
            Population("blog/{month}", 0.3956, Never(), words=600),
            Population(folder, 0.0044, edited, host="bot", spell=spell),
        ),
        site_pages=SITE_PAGES,
        mass_edits=0.0005,
    )


@presets.add(
    "late",
    formula="nothing changes in the first twenty-fifth of the window, then site after site begins; 57 days",
    source="synthetic; as sites of recordings whose first two days show nothing",
)
def _late() -> Preset:
    begins = Spell(begins=(0.04, 0.15))
    return Preset("late", 57, _ordinary(1.0, begins), site_pages=SITE_PAGES)
