"""Synthetic webs: each preset keeps its promises, and leaves a learner something to learn."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from recrawl.columns import FloatArray, IntArray
from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import InputError, UnknownNameError
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.recording.tables import Column
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.synthetic.presets import Preset, preset, presets
from recrawl.simulate.synthetic.synthesis import generate, synthesize

NAMES = [entry.name for entry in presets]


@cache
def web(name: str) -> Recording:
    """One web of each preset for all tests."""
    return synthesize(name, {"brdc12": 20_000, "poisson": 20_000, "stories": 300}.get(name, 8_000), seed=11)


def column(recording: Recording, table: str, name: str) -> Column:
    return recording.tables.column(table, name)


def changed_share(recording: Recording, length: int, gained: str | None = None) -> float:
    """Mean share of all pages that change (or gain such links) in a span of `length` days."""
    page, day = column(recording, "changes", "page_id"), column(recording, "changes", "day")
    spans = int(recording.end) // length
    number = np.ceil(day / length).astype(np.int64) - 1
    counts = number < spans
    if gained:
        counts &= column(recording, "changes", gained) > 0
    return len(np.unique(page[counts] * np.int64(spans) + number[counts])) / (spans * len(recording))


# -- presets ------------------------------------------------------------------------------------------------------


def test_brdc12_changes_as_the_brazilian_crawl() -> None:
    """15.7% of the pages change a day and a site has 58 pages on average; no page is born or dies (Santos 2014)."""
    crawl = web("brdc12")
    assert crawl.end == 57
    assert changed_share(crawl, 1) == pytest.approx(0.157, abs=0.008)
    assert len(crawl) / crawl.tables.rows("sites") == pytest.approx(58.15, rel=0.01)
    assert (crawl.born <= 0).all()
    assert np.isinf(crawl.died).all()


def test_brdc12_rates_are_bimodal() -> None:
    """Three of four pages hardly ever change, the others on most days at nearly one rate, and few lie between."""
    crawl = web("brdc12")
    page, day = column(crawl, "changes", "page_id"), column(crawl, "changes", "day")
    days = np.unique(page * 57 + np.ceil(day).astype(np.int64) - 1)
    share = np.bincount(days // 57, minlength=len(crawl)) / 57
    never, valley, often = ((share >= low) & (share < high) for low, high in ((0.0, 0.1), (0.1, 0.3), (0.4, 0.8)))
    assert never.mean() > 0.7
    assert often.mean() == pytest.approx(0.26, abs=0.02)
    assert valley.mean() < 0.01
    assert share[often].std() < 0.09  # that of chance alone is .065


def test_brdc12_has_quiet_days() -> None:
    """On three days of ten 0.6 times as many pages change as on the others, on all sites alike."""
    crawl = web("brdc12")
    day = np.ceil(column(crawl, "changes", "day")).astype(np.int64) - 1
    count = np.sort(np.bincount(day, minlength=57))
    assert count[:17].mean() / count[17:].mean() == pytest.approx(0.6, abs=0.03)
    assert count[16] < 0.75 * count[17]


def test_brdc12_ranks_the_estimators_as_table_2() -> None:
    """nad is best; cg, sad and age are as far behind it as in table 2, aad and gad less far (Santos 2014)."""
    crawl = synthesize("brdc12", 5_000, seed=2, only=())
    found = {name: mean_change_rate(crawl, name) for name in TABLE_2}
    assert found["rand"] < found["age"] < found["sad"] < found["cg"] < min(found["aad"], found["gad"])
    assert max(found["aad"], found["gad"]) < found["nad"]
    for name, apart in (("cg", 0.04), ("age", 0.06), ("rand", 0.07), ("aad", 0.06), ("gad", 0.1)):
        assert found[name] / found["nad"] == pytest.approx(TABLE_2[name] / TABLE_2["nad"], abs=apart), name


def test_brdc12_sites_are_as_alike_as_real_ones() -> None:
    """Of the variance of the pages' rates about .43 lies between sites, .55 between directories (63 real sites)."""
    crawl = web("brdc12")
    rate = np.asarray(column(crawl, "pages", "true_rate"), dtype=np.float64)
    folder = [f"{site}/{path.rsplit('/', 1)[0]}" for site, path in zip(crawl.site, crawl.page("path"), strict=True)]
    assert likeness(rate, crawl.site) == pytest.approx(0.43, abs=0.08)
    assert likeness(rate, np.unique(folder, return_inverse=True)[1]) == pytest.approx(0.55, abs=0.08)


def likeness(values: FloatArray, group: IntArray) -> float:
    """Covariance of the values of two pages of one group, as a share of the variance of all."""
    apart = values - values.mean()
    size, total, square = (np.bincount(group, weights) for weights in (None, apart, apart**2))
    pairs = size > 1
    mean = (total**2 - square)[pairs] / (size[pairs] * (size[pairs] - 1))
    return float((size[pairs] * mean).sum() / size[pairs].sum() / values.var())


def test_brdc12_found_is_near_table_2() -> None:
    """Every ChangeRate of table 2 within 0.08, also that of chance (Santos 2014)."""
    crawl = synthesize("brdc12-found", 5_000, seed=2, only=())
    for name, rate in TABLE_2.items():
        assert mean_change_rate(crawl, name) == pytest.approx(rate, abs=0.08), name


TABLE_2 = {"rand": 0.157, "age": 0.175, "nad": 0.716, "sad": 0.545, "aad": 0.678, "gad": 0.654, "cg": 0.667}


def mean_change_rate(recording: Recording, policy_name: str) -> float:
    """Mean ChangeRate at a budget of 5% a day, after two days of warm-up, over three windows of 19 days."""
    rates = []
    for start in (0.0, 19.0, 38.0):
        world = RecordedWorld(recording.window(start, start + 19))
        memory = world.memory(cycle_days=1.0, seed=1)
        policy = make_policy(policy_name, Setting(1, world))
        for cycle in range(19):
            chosen = EveryPage(policy) if cycle < 2 else policy
            budget = len(recording) if cycle < 2 else round(0.05 * len(recording))
            rounds = run_cycle(world, memory, chosen, budget, start + cycle + 1)
            if cycle >= 2:
                rates.append(np.concatenate([visits.changed for visits in rounds]).mean())
    return float(np.mean(rates))


def test_weekly_links_gains_links_as_the_weekly_crawls() -> None:
    """30% of the pages gain internal and 8% external links a week; 68 to 75% and 91 to 94% do not (Dang 2022)."""
    crawl = web("weekly-links")
    assert changed_share(crawl, 7, "new_internal") == pytest.approx(0.30, abs=0.03)
    assert changed_share(crawl, 7, "new_external") == pytest.approx(0.08, abs=0.015)


@pytest.mark.parametrize("name", ["new_internal", "new_external"])
def test_weekly_links_counts_are_heavy_tailed(name: str) -> None:
    """The number of new links a week spreads several times wider than its mean (Dang 2022, table 2)."""
    crawl = web("weekly-links")
    week = np.minimum((column(crawl, "changes", "day") / 7).astype(np.int64), 9)
    gained = np.bincount(column(crawl, "changes", "page_id") * 10 + week, column(crawl, "changes", name))
    assert gained.std() > 3 * gained.mean()
    assert gained.max() > 50 * gained.mean()


def test_poisson_pages_have_their_true_rate() -> None:
    """Counts of a Poisson page have mean and variance true_rate * days."""
    crawl = web("poisson")
    expected = column(crawl, "pages", "true_rate") * crawl.end
    count = np.bincount(column(crawl, "changes", "page_id"), minlength=len(crawl))
    assert count.sum() == pytest.approx(expected.sum(), rel=0.01)
    busy = expected > 5
    deviation = (count - expected)[busy] / np.sqrt(expected[busy])
    assert abs(deviation.mean()) < 0.05
    assert deviation.var() == pytest.approx(1.0, abs=0.06)


def test_poisson_rates_are_log_normal() -> None:
    """Rates have the preset's median and a heavy tail."""
    rate = np.asarray(column(web("poisson"), "pages", "true_rate"), dtype=np.float64)
    assert np.median(rate) == pytest.approx(0.02, rel=0.1)
    assert np.log(rate).std() == pytest.approx(1.6, rel=0.05)


def test_mixed_has_a_bit_of_everything() -> None:
    """Every rhythm occurs, pages are born and die, sites are edited as a whole."""
    crawl = web("mixed")
    rhythms = set(column(crawl, "pages", "rhythm"))
    assert rhythms == {"never", "poisson", "periodic", "bursty", "drifting"}
    assert ((crawl.born > 0) & (crawl.born < crawl.end)).sum() > 500
    assert np.isfinite(crawl.died).sum() > 200
    assert column(crawl, "changes", "mass_commit").any()


@pytest.mark.parametrize("name", ["brdc12", "brdc12-found", "weekly-links", "mixed", "poisson"])
def test_sites_have_heavy_tailed_sizes(name: str) -> None:
    """A tenth of the sites holds over a third of the pages, and no site is empty."""
    size = np.sort(np.asarray(column(web(name), "sites", "pages")))[::-1]
    assert size[-1] >= 1
    assert size[: len(size) // 10].sum() > size.sum() / 3


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_is_a_value(name: str) -> None:
    """Two makings of a preset are equal, and it knows its name."""
    assert preset(name) == preset(name)
    assert preset(name).name == name


def test_an_unknown_preset_suggests_the_nearest() -> None:
    """A slip of the finger is answered with the name that was meant."""
    with pytest.raises(UnknownNameError, match="did you mean 'weekly-links'"):
        synthesize("weeklylinks", 10)


@pytest.mark.parametrize(
    ("pages", "days", "seed"),
    [
        (0, 5, 0),
        (-1, 5, 0),
        (5, 0, 0),
        (5, -1, 0),
        (5, float("nan"), 0),
        (5, float("inf"), 0),
        (5, 5, -1),
        (10**9, 5, 0),
    ],
)
def test_impossible_sizes_are_refused(pages: int, days: float, seed: int) -> None:
    """No web without pages or days, nor one that cannot fit."""
    with pytest.raises(InputError):
        generate("mixed", pages, days, seed)


# -- what a learner could use -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_paths_are_unique_and_have_their_depth(name: str) -> None:
    """A path occurs once on a site, its depth is the number of its folders, and every site has a home page."""
    crawl = web(name)
    path = crawl.page("path")
    assert len({*zip(crawl.site.tolist(), path, strict=True)}) == len(crawl)
    assert [text.count("/") for text in path] == crawl.page("path_depth").tolist()
    assert [text.rsplit(".", 1)[1] for text in path] == crawl.page("ext").tolist()
    assert sum(text == "index.html" for text in path) == crawl.tables.rows("sites")


def test_folders_tell_of_change() -> None:
    """Pages in the news folder change more often than those in the archive, but a folder is no certainty."""
    crawl = web("brdc12")
    count = np.bincount(column(crawl, "changes", "page_id"), minlength=len(crawl))
    folder = np.array([text.split("/")[0] for text in crawl.page("path")])
    assert count[folder == "noticias"].mean() > 2 * count[folder == "arquivo"].mean()
    assert (count[folder == "noticias"] == 0).any()
    assert (count[folder == "arquivo"] > 30).any()


def test_links_stay_on_topic() -> None:
    """Internal links lead to pages of the same topic more often than chance within the site would."""
    crawl = web("mixed")
    topic = crawl.page("topic")
    source, target = column(crawl, "links", "page_id"), column(crawl, "links", "target_page")
    listed = target >= 0
    same = (topic[source[listed]] == topic[target[listed]]).mean()
    mate = np.random.default_rng(0).permutation(len(crawl))
    by_site = mate[np.argsort(crawl.site[mate], kind="stable")]  # a random page of the same site, nearly always
    chance = (topic[np.argsort(crawl.site, kind="stable")] == topic[by_site]).mean()
    assert same > chance + 0.1


def test_terms_follow_topics() -> None:
    """Pages of one topic share far more words than pages of two; rows hold at most 64 ascending buckets."""
    crawl = synthesize("mixed", 600, 60, seed=4)
    buckets, when, page = (column(crawl, "terms", name) for name in ("bucket", "when", "page_id"))
    assert all(len(row) <= 64 and (np.diff(row) > 0).all() and row[-1] < 2**18 for row in buckets)
    changed = np.unique(column(crawl, "changes", "page_id"))
    assert np.array_equal(page[when == "start"], np.arange(len(crawl)))
    assert np.array_equal(page[when == "end"], changed)
    words, topic = [set(row) for row in buckets[when == "start"]], crawl.page("topic")
    shared = np.array([len(words[i] & words[i + 1]) / 64 for i in range(len(crawl) - 1)])
    alike = topic[1:] == topic[:-1]
    assert shared[alike].mean() > 2 * shared[~alike].mean()


def test_one_seed_one_web() -> None:
    """The same seed gives the same tables, another seed other ones."""
    first, second, third = (generate("mixed", 300, 30, seed) for seed in (1, 1, 2))
    assert all(first[name].equals(second[name]) for name in first)
    assert not first["changes"].equals(third["changes"])


def test_tables_can_be_left_out() -> None:
    """Without links and terms the changes are the same, for benchmarks that need no more."""
    lean = synthesize("mixed", 200, 20, 1, only=()).tables
    assert not lean.has("links")
    assert not lean.has("terms")
    full, small = generate("mixed", 200, 20, 1), generate("mixed", 200, 20, 1, only=())
    assert full["changes"].equals(small["changes"])


def test_shares_must_sum_to_one() -> None:
    """A preset whose populations do not add up is refused when it is made."""
    with pytest.raises(ValueError, match="do not sum to 1"):
        Preset("half", 10, preset("poisson").populations * 2)
