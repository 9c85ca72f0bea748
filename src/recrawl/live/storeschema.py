"""The tables of a crawl's store, state.sqlite. Times are float days on the crawl's own clock.

Counters per page, host and cycle are kept by triggers, in the transaction of the visits that they count, so that what
is shown of a crawl needs no pass over its visits. A change of the tables is a new FORMAT, with a step in
`recrawl.live.upgrade`.
"""

from __future__ import annotations

APPLICATION_ID = 0x72637277  # "rcrw"
FORMAT = 5

TABLES = """
create table meta (
    key text primary key,
    value text not null
) strict;

create table hosts (
    host integer primary key,
    name text not null unique,
    added integer not null default 0,      -- 1: the user added pages of it, so it is in the scope
    gate text,                             -- politeness state as JSON, so that a restart keeps the delay
    signals_true integer not null default 0,   -- visits to pages that the host said had changed, and had
    signals_false integer not null default 0,  -- ... and had not
    pages integer not null default 0,          -- counters, kept by triggers
    fetched integer not null default 0,        -- pages that we have a copy of
    links integer not null default 0,          -- on its pages, as last seen
    unchanged integer not null default 0,      -- visits by outcome
    changed integer not null default 0,
    first integer not null default 0,
    gone integer not null default 0,
    failed integer not null default 0
) strict;

create table robots (
    origin text primary key,
    record text not null                   -- robots.txt as last fetched, as JSON
) strict, without rowid;

create table templates (                   -- pages discovered by the shape of their URL: bounds traps
    template text primary key,
    pages integer not null
) strict, without rowid;

create table pages (
    page integer primary key,              -- dense, from 0: the row of every column in memory
    url text not null,
    url_hash integer not null unique,      -- 64 bits of BLAKE2b, as a signed number
    host integer not null,
    first_seen_at real not null,
    found_on integer,                      -- the page whose visit showed it; null for a seed
    validators text not null default '{}', -- ETag and Last-Modified with how far they are believed, as JSON
    title text,
    digest blob,                           -- of the copy we hold; null until the first visit
    links_digest blob,                     -- of its links as last seen: the same digest, the same links
    misses integer not null default 0,     -- answers "not found" in a row
    canonical integer,                     -- the page that it is another name of; null: none
    links integer not null default 0,      -- on it, as last seen
    visits integer not null default 0,     -- counters, kept by triggers
    changes integer not null default 0,    -- visits that found a change
    last_visit_at real,
    last_change_at real,                   -- the last visit that found a change
    gone integer not null default 0        -- 1: the last visit that got an answer found it gone
) strict;

create table barred (                      -- pages that are not visited, and why (recrawl.eligibility.Bar)
    page integer primary key,
    reason integer not null
) strict;

create table host_bars (                   -- hosts that are not visited now, and why
    host integer primary key,
    reason integer not null
) strict;

create table asked_for (                   -- pages added while a process holds the crawl: it takes them in
    url text primary key,
    at real not null
) strict, without rowid;

create table wished (                      -- pages that the user wants visited soon
    page integer primary key,
    at real not null
) strict;

create table cycles (
    cycle integer primary key,
    at real not null,                      -- when its visits are due: the end of the cycle
    budget integer not null,
    policy text not null,
    heard integer,                         -- visits to sitemaps and feeds, part of the budget; null: not asked yet
    done integer not null default 0,
    unchanged integer not null default 0,  -- visits by outcome, kept by triggers
    changed integer not null default 0,
    first integer not null default 0,
    gone integer not null default 0,
    failed integer not null default 0
) strict;

create table plan (                        -- what the policy chose: leased until its visit is recorded
    cycle integer not null,
    page integer not null,                 -- key columns first: quick_check of SQLite 3.40 misreads others
    round integer not null,
    rank integer not null,
    primary key (cycle, page)
) strict, without rowid;

create table visits (
    visit integer primary key,
    page integer not null,
    cycle integer not null,
    at real not null,
    outcome integer not null,
    status integer not null,
    body_bytes integer not null,
    elapsed_s real not null,
    new_internal integer not null,
    new_external integer not null,
    change_size real not null,
    note text,
    unique (page, cycle)                   -- a page is visited at most once a cycle
) strict;

create table versions (
    visit integer primary key,
    page integer not null,
    digest blob not null,
    words integer not null,                -- -1 where nobody told
    warc text,                             -- null where no body may be kept
    offset integer,
    length integer
) strict;

create table first_links (                 -- links of pages whose links have been the same since the first visit
    page integer primary key,
    first_seen_at real not null,
    count integer not null,
    links blob not null,                   -- targets, anchors, and which are internal, compressed (packed_links)
    targets blob not null                  -- the page that each target is, 32 bits each; -1: it is none
) strict;

create table links (                       -- links of the other pages
    page integer not null,
    target text not null,
    target_page integer,
    internal integer not null,
    anchor text not null,
    first_seen_at real not null,
    gone_at real,                          -- the visit that no longer showed it; null while it is there
    primary key (page, target)
) strict, without rowid;

create table feeds (                       -- sitemaps and feeds: where sites say what changed
    url text primary key,
    host text not null,                    -- on which it was found
    said_at real,                          -- when it changed, as the index that names it says
    read_said_at real,                     -- the same, when it was last read
    asked_cycle integer,                   -- null: never
    wait_cycles integer not null default 1,-- how long until it is asked again; doubles while nothing comes of it
    validators text not null default '{}'
) strict, without rowid;

create table announced (                   -- what sites say of their pages
    page integer primary key,
    said_at real not null,                 -- when it changed, as the site says
    pending integer not null               -- 1: not visited since
) strict;
"""

INDEXES = """
create index visits_cycle on visits (cycle);
create index versions_page on versions (page);
create index versions_place on versions (warc, offset) where warc is not null;
create index feeds_host on feeds (host);
create index announced_pending on announced (pending) where pending;
create index pages_canonical on pages (canonical) where canonical is not null;
create index pages_url on pages (url);
create index pages_changes on pages (changes desc);
create index pages_visits on pages (visits desc);
create index pages_last_visit on pages (last_visit_at);
create index pages_last_change on pages (last_change_at) where last_change_at is not null;
"""

# outcomes are those of recrawl.visits.Outcome: 0 unchanged, 1 changed, 2 first, 3 gone, 4 failed
TRIGGERS = """
create trigger page_added after insert on pages begin
    update hosts set pages = pages + 1 where host = new.host;
end;

create trigger page_fetched after update of digest on pages when old.digest is null and new.digest is not null begin
    update hosts set fetched = fetched + 1 where host = new.host;
end;

create trigger page_linked after update of links on pages when old.links <> new.links begin
    update hosts set links = links + new.links - old.links where host = new.host;
end;

create trigger visit_added after insert on visits begin
    update pages set visits = visits + 1, last_visit_at = max(ifnull(last_visit_at, new.at), new.at),
        gone = case new.outcome when 3 then 1 when 4 then gone else 0 end where page = new.page;
    update cycles set unchanged = unchanged + (new.outcome = 0), changed = changed + (new.outcome = 1),
        first = first + (new.outcome = 2), gone = gone + (new.outcome = 3), failed = failed + (new.outcome = 4)
        where cycle = new.cycle;
    update hosts set unchanged = unchanged + (new.outcome = 0), changed = changed + (new.outcome = 1),
        first = first + (new.outcome = 2), gone = gone + (new.outcome = 3), failed = failed + (new.outcome = 4)
        where host = (select host from pages where page = new.page);
end;

create trigger change_added after insert on visits when new.outcome = 1 begin
    update pages set changes = changes + 1, last_change_at = max(ifnull(last_change_at, new.at), new.at)
        where page = new.page;
end;

create trigger visit_corrected after update of outcome on visits begin
    update pages set changes = changes + (new.outcome = 1) - (old.outcome = 1),
        last_visit_at = max(ifnull(last_visit_at, new.at), new.at),
        last_change_at = (select max(at) from visits where page = new.page and outcome = 1),
        gone = ifnull((select outcome = 3 from visits v where v.page = new.page and outcome <> 4
            order by cycle desc limit 1), 0) where page = new.page;
    update cycles set unchanged = unchanged + (new.outcome = 0) - (old.outcome = 0),
        changed = changed + (new.outcome = 1) - (old.outcome = 1),
        first = first + (new.outcome = 2) - (old.outcome = 2), gone = gone + (new.outcome = 3) - (old.outcome = 3),
        failed = failed + (new.outcome = 4) - (old.outcome = 4) where cycle = new.cycle;
    update hosts set unchanged = unchanged + (new.outcome = 0) - (old.outcome = 0),
        changed = changed + (new.outcome = 1) - (old.outcome = 1),
        first = first + (new.outcome = 2) - (old.outcome = 2), gone = gone + (new.outcome = 3) - (old.outcome = 3),
        failed = failed + (new.outcome = 4) - (old.outcome = 4)
        where host = (select host from pages where page = new.page);
end;
"""
