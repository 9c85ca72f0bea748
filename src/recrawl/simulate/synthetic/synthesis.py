"""Synthetic webs as recordings: the tables of a preset, drawn from a seed.

    preset -> sites and pages -> changes -> links -> versions -> terms or texts -> tables

Every stage draws from its own stream of random numbers, so one seed gives one web, to the byte.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.progress import Advance, silent
from recrawl.recording.recording import Recording
from recrawl.recording.write import to_arrays
from recrawl.simulate.synthetic.addresses import WINDOW_START, hosts, paths, targets
from recrawl.simulate.synthetic.edits import EditHistory, draw_history
from recrawl.simulate.synthetic.inhabitants import TOPICS, Pages, Sites, draw_pages, draw_sites, wind_clocks
from recrawl.simulate.synthetic.presets import Preset, preset
from recrawl.simulate.synthetic.stories import measured, tell, texts_table, write_texts
from recrawl.simulate.synthetic.topic_words import TopicWords, draw_terms
from recrawl.simulate.synthetic.versions import Edits, FirstVersions, draw_edits, draw_first_versions
from recrawl.simulate.synthetic.webgraph import LinkCounts, LinkIntervals, count_links, draw_links

TABLES = ("sites", "pages", "changes", "links", "terms")
MOST_PAGES = 10_000_000
MOST_PAGE_DAYS = 2e9
MOST_TOLD_DAYS = 1e6  # of webs with a text per version


@dataclass(frozen=True)
class SyntheticWeb:
    """A synthetic web in columns, before it is written down as tables."""

    preset: Preset
    days: float
    sites: Sites
    pages: Pages
    rate: FloatArray  # expected changes per day by each page's own rhythm
    history: EditHistory
    links: LinkIntervals
    counts: LinkCounts
    first: FirstVersions
    edits: Edits
    terms: TopicWords | None
    texts: tuple[list[str], list[str]] | None = None  # of first and of later versions, where the web has stories


def synthesize(
    name: str | Preset,
    pages: int,
    days: float | None = None,
    seed: int = 0,
    *,
    only: Collection[str] = TABLES,
) -> Recording:
    """Return a synthetic recording in memory, without the tables that are not in `only`."""
    tables = generate(name, pages, days, seed, only=only)
    kind = name if isinstance(name, str) else name.name
    return Recording.from_arrays(to_arrays(tables), f"synthetic {kind}")


def generate(
    name: str | Preset,
    pages: int,
    days: float | None = None,
    seed: int = 0,
    *,
    only: Collection[str] = TABLES,
    advance: Advance = silent,
) -> dict[str, pa.Table]:
    """Return the tables of a synthetic web of `pages` pages, those born on the way included."""
    chosen = preset(name) if isinstance(name, str) else name
    web = draw_web(chosen, pages, chosen.days if days is None else days, seed, terms="terms" in only, advance=advance)
    advance(6, 7, "tables")
    makers = {"sites": sites_table, "pages": pages_table, "changes": changes_table}
    tables = {table: make(web) for table, make in makers.items()}
    if "links" in only:
        tables["links"] = links_table(web, tables)
    if web.texts is not None:
        tables["texts"] = texts_table(web.pages, web.history, web.texts)
    elif web.terms is not None:
        tables["terms"] = terms_table(web.terms)
    advance(7, 7, "tables")
    return tables


def draw_web(
    chosen: Preset, pages: int, days: float, seed: int, *, terms: bool = True, advance: Advance = silent
) -> SyntheticWeb:
    """Draw a web stage by stage."""
    check_size(pages, days, seed)
    if chosen.stories is not None and pages * days > MOST_TOLD_DAYS:
        raise InputError(
            f"{pages} pages over {days:g} days are too many for texts: at most {MOST_TOLD_DAYS:g} page-days, "
            f"{int(MOST_TOLD_DAYS / days)} pages"
        )
    streams = iter([np.random.Generator(np.random.SFC64([seed, stage])) for stage in range(5)])
    advance(0, 7, "pages")
    rng = next(streams)
    sites, mixture = draw_sites(chosen, pages, rng)
    columns = draw_pages(chosen, sites, mixture, days, rng)
    clocks = wind_clocks(chosen, columns, days, rng)
    advance(1, 7, "changes")
    history = draw_history(chosen, sites, columns, clocks, days, next(streams))
    telling, of_stories = None, np.random.Generator(np.random.SFC64([seed, 5]))
    if chosen.stories is not None:
        history, telling = tell(chosen.stories, columns, history, days, of_stories)
    advance(2, 7, "links")
    links = draw_links(chosen, sites, columns, history, next(streams))
    counts = count_links(links, columns, history)
    advance(4, 7, "versions")
    rng = next(streams)
    first = draw_first_versions(chosen, columns, counts, rng)
    edits = draw_edits(first, history, counts, rng)
    advance(5, 7, "terms")
    texts = None
    if telling is not None:
        texts = write_texts(columns, history, telling, of_stories)
        first, edits = measured(history, first, edits, texts)
    words = draw_terms(columns, first, history, edits, next(streams)) if terms and texts is None else None
    return SyntheticWeb(
        chosen,
        days,
        sites,
        columns,
        clocks.mean_rate(days) * chosen.bustle if telling is None else telling.rate,
        history,
        links,
        counts,
        first,
        edits,
        words,
        texts,
    )


def check_size(pages: int, days: float, seed: int) -> None:
    """Refuse sizes that make no web, or one that would not fit."""
    if pages <= 0:
        raise InputError(f"a web needs at least one page, not {pages}")
    if pages > MOST_PAGES:
        raise InputError(f"{pages} pages are too many: at most {MOST_PAGES}")
    if not (math.isfinite(days) and days > 0):
        raise InputError(f"a web needs a positive number of days, not {days:g}")
    if days < 1 / 24 or pages * days > MOST_PAGE_DAYS:
        raise InputError(f"{pages} pages over {days:g} days: at least an hour and at most {MOST_PAGE_DAYS:g} page-days")
    if seed < 0:
        raise InputError(f"a seed is zero or a positive number, not {seed}")


def sites_table(web: SyntheticWeb) -> pa.Table:
    """One row per site."""
    count = len(web.sites)
    site_of_change = web.pages.site[web.history.page]
    start = np.full(count, WINDOW_START.astype("M8[ms]"))
    kinds = pa.array([population.section for population in web.preset.populations])
    return pa.table(
        {
            "site_id": np.arange(count, dtype=np.int32),
            "repo": hosts(web.sites),
            "ref": pa.repeat("synthetic", count),
            "kind": kinds.take(pa.array(web.sites.kind)),
            "licence": pa.repeat("CC0-1.0", count),
            "window_start": pa.array(start).cast(pa.timestamp("ms", "UTC")),
            "days": np.full(count, web.days, dtype=np.float32),
            "commits": _moments(site_of_change, web.history.day, count),
            "tip": pa.repeat(web.preset.name, count),
            "paths": web.sites.size.astype(np.int32),
            "pages": web.sites.size.astype(np.int32),
            "changes": np.bincount(site_of_change, minlength=count).astype(np.int32),
        }
    )


def _moments(site: npt.NDArray[np.int32], day: npt.NDArray[np.float32], count: int) -> npt.NDArray[np.int32]:
    """Count each site's distinct moments of change."""
    keys = np.sort((site.astype(np.uint64) << np.uint64(32)) | day.view(np.uint32))
    first = np.ones(len(keys), dtype=np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    return np.bincount((keys[first] >> np.uint64(32)).astype(np.int64), minlength=count).astype(np.int32)


def pages_table(web: SyntheticWeb) -> pa.Table:
    """One row per page, with three columns that only a synthetic web can have: rhythm, true_rate and topic."""
    pages, first, history = web.pages, web.first, web.history
    path, ext, depth = paths(web.preset, web.sites, pages)
    rhythms = pa.array([population.rhythm.name for population in web.preset.populations])
    return pa.table(
        {
            "page_id": np.arange(len(pages), dtype=np.int32),
            "site_id": pages.site,
            "path": path,
            "life": np.zeros(len(pages), dtype=np.int16),
            "born_day": pages.born,
            "died_day": pa.array(pages.died, mask=np.isinf(pages.died)),
            "prior_changes": history.prior,
            "last_prior_day": pa.array(history.last_prior, mask=np.isnan(history.last_prior)),
            "bytes": first.bytes,
            "text_bytes": first.text_bytes,
            "words": first.words,
            "images": first.images,
            "tables": first.tables,
            "out_internal": web.counts.first[0],
            "out_external": web.counts.first[1],
            "emails": first.emails,
            "path_depth": depth,
            "ext": ext,
            "rhythm": rhythms.take(pa.array(pages.population)),
            "true_rate": web.rate,
            "topic": pa.array(TOPICS).take(pa.array(pages.topic)),
        }
    )


def changes_table(web: SyntheticWeb) -> pa.Table:
    """One row per change, ordered by page and day."""
    edits, counts = web.edits, web.counts
    return pa.table(
        {
            "page_id": web.history.page,
            "day": web.history.day,
            "bytes": edits.bytes,
            "text_bytes": edits.text_bytes,
            "words": edits.words,
            "d_words_added": edits.added,
            "d_words_removed": edits.removed,
            "cosine": edits.cosine,
            "chi2_p": edits.chi2_p,
            "images": edits.images,
            "tables": edits.tables,
            "out_internal": counts.held[0],
            "out_external": counts.held[1],
            "new_internal": counts.new[0],
            "new_external": counts.new[1],
            "lost_internal": counts.lost[0],
            "lost_external": counts.lost[1],
            "mass_commit": web.history.mass,
        }
    )


def links_table(web: SyntheticWeb, tables: dict[str, pa.Table]) -> pa.Table:
    """One row per link interval, ordered by page and day."""
    path, host = (
        tables[table].column(column).combine_chunks() for table, column in (("pages", "path"), ("sites", "repo"))
    )
    target_page, target = targets(web.sites, web.pages, web.links, path, host)
    day_from, day_to = web.links.days(web.history, web.pages)
    return pa.table(
        {
            "page_id": web.links.page,
            "day_from": day_from,
            "day_to": pa.array(day_to, mask=np.isnan(day_to)),
            "target": target,
            "internal": web.links.internal,
            "target_page": target_page,
        }
    )


def terms_table(terms: TopicWords) -> pa.Table:
    """One row per page for its first version, and one more for its last where it changed."""
    when = pa.array(["start", "end"]).take(pa.array(terms.last.astype(np.int8)))
    start = pa.array(terms.start)
    return pa.table(
        {
            "page_id": terms.page,
            "when": when,
            "bucket": pa.LargeListArray.from_arrays(start, pa.array(terms.bucket)),
            "count": pa.LargeListArray.from_arrays(start, pa.array(terms.count)),
            "total": terms.total,
        }
    )
