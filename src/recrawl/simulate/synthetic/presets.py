"""Synthetic webs as values: which populations of pages a web has, how its sites grow and link.

To add a preset, write a function under `@presets.add(name, ...)` that returns a `Preset`.
"""

from __future__ import annotations

from recrawl.simulate.synthetic import restless
from recrawl.simulate.synthetic.makeup import Gain, Population, Preset, Stories, presets
from recrawl.simulate.synthetic.rhythms import Bursty, Drifting, Never, Periodic, Poisson

__all__ = ["Gain", "Population", "Preset", "preset", "presets", "restless"]

FEW = Gain(0.5, 0.04)
RARE = Gain(0.2, 0.01)


@presets.add(
    "brdc12",
    formula="15.7% of the pages change per day: a quarter on most days, all alike, the others hardly ever; 57 days",
    source="the crawl of Santos et al. 2014, tables 1 and 2; likeness within sites as in recordings of real sites",
)
def _brdc12() -> Preset:
    """Imitate the Brazilian crawl: a quarter of the pages changes on most days, all at nearly the same rate.

    Table 1 gives 58.15 pages per site and 57 days; 15.7% is what random visits find in table 2. The two modes and the
    quiet days were fitted to the estimators of table 2 relative to nad (two days of warm-up, 5% per day):

        ChangeRate / nad's    aad   gad   cg    sad   rand  age    nad itself
        table 2              .946  .912  .932  .761  .219  .245    .716
        here                 .997  .997  .959  .756  .270  .280    .930

    (means of 4 webs of 15,000 pages and 3 windows each; NDCG differs little). Where all pages of a mode change at the
    same rate, a page found changed twice is no better than one found changed once, and cg, which weighs it most,
    loses. aad and gad stay level with nad. Levels are higher than in the table: where 15.7% change per day and a visit
    finds any change since the last one, more can be found; table 2 as a whole fits 5.5% per day: `brdc12-found`.

    Of the variance of the pages' rates .42 lies between sites and .57 between directories; on 63 real sites, recorded
    over a year, it is .40 and .49 if all pages count the same, .46 and .58 if all sites do.
    """
    often = Periodic(keep=0.68, alike=140.0, jitter_days=0.5)
    return Preset(
        "brdc12",
        57,
        (
            Population("noticias/{month}", 0.16, often, FEW, RARE, words=500),
            Population("forum", 0.1, often, FEW, RARE, ext="php", words=700),
            Population("produtos", 0.2, Poisson(0.005, 0.85), FEW, RARE, words=300),
            Population("arquivo/{month}", 0.54, Never(), words=600),
        ),
        quiet_days=0.3,
        quiet=0.6,
        site_mix=1.8,
        stray=0.5,
    )


@presets.add(
    "brdc12-found",
    formula="random visits find 15.7% of the pages changed: 5.5% change per day, few often, half never; 57 days",
    source="the crawl of Santos et al. 2014, tables 1 and 2",
)
def _brdc12_found() -> Preset:
    """Imitate the Brazilian crawl by what visits found in it: ChangeRates within .07 of table 2.

        ChangeRate   nad   aad   gad   cg    sad   rand  age
        table 2     .716  .678  .654  .667  .545  .157  .175
        here        .654  .656  .654  .657  .522  .153  .179

    Fitted to these figures and their NDCGs, with the share of pages that change per day left free. It does not
    separate nad, aad, gad and cg as the table does.
    """
    daily = Periodic(keep=0.94, alike=2.0, jitter_days=0.02)
    return Preset(
        "brdc12-found",
        57,
        (
            Population("noticias/{month}", 0.033, daily, FEW, RARE, words=500),
            Population(
                "forum", 0.149, Periodic(keep=0.07, alike=30.0, jitter_days=0.5), FEW, RARE, ext="php", words=700
            ),
            Population("produtos", 0.353, Poisson(0.026, 0.9), FEW, RARE, words=300),
            Population("arquivo/{month}", 0.465, Never(), words=600),
        ),
    )


@presets.add(
    "weekly-links",
    formula="30% of the pages gain internal and 8% external links per week, heavy-tailed counts; 70 days",
    source="the crawls of Dang et al. 2022, figures 3 to 5",
)
def _weekly_links() -> Preset:
    """Imitate the link dynamics of the ten weekly crawls: half the pages never gain a link, many do each week."""
    lists = Bursty(Periodic(keep=0.9, weekend=0.5, jitter_days=0.2), on_days=60, off_days=10)
    return Preset(
        "weekly-links",
        70,
        (
            Population("list", 0.16, lists, Gain(1.0, 0.5, 1.5, 0.8), Gain(0.35, 0.15, 1.4)),
            Population("news/{month}", 0.20, Poisson(0.3, 0.8), Gain(0.9, 0.55, 1.5), Gain(0.35, 0.4, 1.4)),
            Population("product", 0.22, Poisson(0.08, 1.0), Gain(0.8, 0.5, 1.5), Gain(0.25, 0.3, 1.5)),
            Population("forum", 0.07, Poisson(1.0, 0.8), ext="php", external=Gain(0.15, 0.15)),
            Population("about", 0.12, Poisson(0.02, 1.0)),
            Population("archive/{month}", 0.23, Never()),
        ),
        out_internal=12.0,
        out_external=2.1,
    )


@presets.add(
    "topic-links",
    formula="a page's topic decides how often it gains links, from never to weekly; half of the pages never; 70 days",
    source="the premise of Dang et al. 2022: related pages gain links alike",
)
def _topic_links() -> Preset:
    """Let related pages gain links alike, so that looking around can show what it is worth.

    All sites of a topic have nearly the same mixture of populations, and the populations differ in their link change
    rates more than the pages within one: Spearman's rho of a page's rate and the mean of its topic is about 0.7 for
    internal and 0.6 for external links, where `weekly-links` has 0.2 and 0.1; the paper finds 0.8 for related pages.
    """
    return Preset(
        "topic-links",
        70,
        (
            Population("list", 0.13, Periodic(keep=0.9, jitter_days=0.2), Gain(1.0, 0.6, 1.5, 0.6), Gain(1.0, 0.2)),
            Population("news/{month}", 0.14, Poisson(0.3, 0.3), Gain(1.0, 0.6, 1.5), Gain(1.0, 0.15, 1.5)),
            Population("product", 0.18, Poisson(0.1, 0.3), Gain(1.0, 0.5, 1.6), Gain(1.0, 0.05, 1.6)),
            Population("about", 0.25, Poisson(0.02, 0.5)),
            Population("archive/{month}", 0.30, Never()),
        ),
        site_mix=200.0,
        topic_mix=0.1,
        on_topic=0.98,
        out_internal=12.0,
        out_external=2.1,
    )


@presets.add(
    "stories",
    formula="pages with texts: leaders bring new stories every other day, followers repeat them some days later; "
    "half of the pages never change; 182 days",
    source="the premise of Radinsky & Bennett 2013: pages that predict pages",
)
def _stories() -> Preset:
    """Have pages that follow other pages with a lag, and significant changes often enough to be predicted.

    Whether a page of the first population has changed differs from one day to the next on about half of the days.
    """
    return Preset(
        "stories",
        182,
        (Population("news", 0.5, Never(), FEW, RARE), Population("archive", 0.5, Never())),
        site_pages=30.0,
        stories=Stories(),
    )


@presets.add(
    "mixed",
    formula="a bit of everything: daily, weekly, bursty, drifting and random pages, mass edits, births and deaths",
    source="synthetic",
)
def _mixed() -> Preset:
    """Mix every rhythm there is."""
    workdays = Periodic(keep=0.9, alike=8.0, weekend=0.3, jitter_days=0.05)
    posts = Bursty(Poisson(2.0, 0.7), on_days=3, off_days=40)
    return Preset(
        "mixed",
        120,
        (
            Population("news/{month}", 0.08, workdays, Gain(0.9, 0.4, 1.5), Gain(0.4, 0.2)),
            Population("events", 0.07, Periodic(7.0, keep=0.9, jitter_days=0.1), Gain(0.8, 0.5), Gain(0.3, 0.2)),
            Population("blog/{month}", 0.20, posts, Gain(0.6, 0.3), Gain(0.6, 0.2, 1.5), words=600),
            Population("docs/guide", 0.20, Poisson(0.015, 1.3), Gain(0.6, 0.3), Gain(0.3, 0.15), ext="md", words=800),
            Population("wiki", 0.12, Drifting(Poisson(0.04, 1.0), 2.0), Gain(0.8, 0.4), Gain(0.3, 0.2), words=900),
            Population("forum", 0.05, Poisson(0.4, 1.0), Gain(0.5, 0.2), Gain(0.3, 0.2), ext="php"),
            Population("files", 0.28, Never(), ext="pdf", words=1500),
        ),
        site_spread=1.6,
        births=0.0012,
        deaths=0.0005,
        mass_edits=0.006,
        out_internal=8.0,
        out_external=1.5,
    )


@presets.add(
    "poisson",
    formula="each page is Poisson with its own known rate (pages.true_rate), log-normal: median 0.02 per day; 120 days",
    source="the model of Cho & Garcia-Molina 2003",
)
def _poisson() -> Preset:
    """Follow the textbook exactly, so that estimates can be compared with the truth."""
    return Preset("poisson", 120, (Population("pages", 1.0, Poisson(0.02, 1.6), FEW, RARE),))


def preset(name: str) -> Preset:
    """Return the preset of that name."""
    return presets[name].make()
