"""The tables and columns of a recording, as one value; docs/recording.md mirrors it, which a test checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Type = Literal["integer", "number", "text", "flag", "instant", "integers"]


@dataclass(frozen=True)
class Field:
    """A column: its type, whether a recording must have it, and whether its values may be missing."""

    name: str
    type: Type
    meaning: str
    required: bool = False
    nullable: bool = False


@dataclass(frozen=True)
class TableSchema:
    """A table: one Parquet file of that name. An optional table may be left out as a whole."""

    name: str
    required: bool
    fields: tuple[Field, ...]

    @property
    def needed(self) -> tuple[Field, ...]:
        """The columns that the table cannot do without."""
        return tuple(field for field in self.fields if field.required)


def _must(name: str, type: Type, meaning: str) -> Field:
    return Field(name, type, meaning, required=True)


def _version(when: str) -> tuple[Field, ...]:
    """The measurements of one version of a page, in `pages` of the first one and in `changes` of each later one."""
    return (
        Field("bytes", "integer", f"length of the source {when}"),
        Field("text_bytes", "integer", f"length of the text {when}"),
        Field("words", "integer", f"number of words {when}"),
        Field("images", "integer", f"number of images {when}"),
        Field("tables", "integer", f"number of tables {when}"),
        Field("out_internal", "integer", f"distinct link targets within the site {when}"),
        Field("out_external", "integer", f"distinct link targets elsewhere {when}"),
    )


SITES = TableSchema(
    "sites",
    True,
    (
        _must("site_id", "integer", "number of the site; unique, not negative"),
        _must("days", "number", "how many days the site was watched"),
        Field("repo", "text", "name of the site; unique"),
        Field("kind", "text", "sort of site, such as docs, blog, list"),
        Field("ref", "text", "branch or other part of the source that was watched"),
        Field("licence", "text", "licence of the content"),
        Field("window_start", "instant", "date and time of day 0", nullable=True),
        Field("commits", "integer", "updates of the site while it was watched"),
        Field("tip", "text", "name of the last update"),
        Field("paths", "integer", "pages that the site had, before any were left out"),
        Field("pages", "integer", "pages that are in the recording"),
        Field("changes", "integer", "changes that are in the recording"),
    ),
)

PAGES = TableSchema(
    "pages",
    True,
    (
        _must("page_id", "integer", "number of the page; unique, not negative"),
        _must("site_id", "integer", "its site"),
        _must("born_day", "number", "day of creation; zero or negative if the page existed on day 0"),
        Field("died_day", "number", "day of deletion; missing if the page outlives the recording", True, True),
        Field("path", "text", "its address within the site"),
        Field("life", "integer", "0; 1, 2, ... for a page made again under an address that had been deleted"),
        Field("prior_changes", "integer", "changes known from before day 0", nullable=True),
        Field("last_prior_day", "number", "day (zero or negative) of the last of those", nullable=True),
        *_version("on day 0 or at birth"),
        Field("emails", "integer", "number of e-mail addresses on day 0 or at birth"),
        Field("path_depth", "integer", "number of folders in its address"),
        Field("ext", "text", "ending of its address"),
    ),
)

CHANGES = TableSchema(
    "changes",
    True,
    (
        _must("page_id", "integer", "the page that changed"),
        _must("day", "number", "exact time of the change; above 0, at most the site's days, within the page's life"),
        *_version("after the change"),
        Field("d_words_added", "integer", "words (counted with repetition) that the change added"),
        Field("d_words_removed", "integer", "words that it removed"),
        Field("cosine", "number", "cosine similarity of the bags of words before and after", nullable=True),
        Field("chi2_p", "number", "p-value of a chi-squared test that both draw on one distribution", nullable=True),
        Field("new_internal", "integer", "link targets within the site that the version before did not have"),
        Field("new_external", "integer", "link targets elsewhere that the version before did not have"),
        Field("lost_internal", "integer", "link targets within the site that only the version before had"),
        Field("lost_external", "integer", "link targets elsewhere that only the version before had"),
        Field("mass_commit", "flag", "whether much of the site changed at the same moment"),
    ),
)

LINKS = TableSchema(
    "links",
    False,
    (
        _must("page_id", "integer", "the page that links"),
        _must("day_from", "number", "day since which it does; 0 if it did on day 0"),
        Field("day_to", "number", "day from which it no longer does; missing if it does to the end", True, True),
        _must("internal", "flag", "whether the target is on the same site"),
        Field("target_page", "integer", "the target's page_id where it is a page of the recording", True, True),
        Field("target", "text", "the target's address where it is not", nullable=True),
    ),
)

TERMS = TableSchema(
    "terms",
    False,
    (
        _must("page_id", "integer", "the page"),
        _must("when", "text", "start: the version of day 0 or of birth; end: the last one, where it differs"),
        _must("bucket", "integers", "hashed words: CRC-32 of the lower-case UTF-8 word mod 2^18, ascending"),
        _must("count", "integers", "how often each of them occurs"),
        _must("total", "integer", "number of words of the version in all"),
    ),
)

TEXTS = TableSchema(
    "texts",
    False,
    (
        _must("page_id", "integer", "the page"),
        _must("day", "number", "time of the version; 0 or its birth for a page's first one"),
        _must("text", "text", "the version's text without mark-up"),
    ),
)

SCHEMA: dict[str, TableSchema] = {table.name: table for table in (SITES, PAGES, CHANGES, LINKS, TERMS, TEXTS)}
