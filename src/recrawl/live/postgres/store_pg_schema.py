"""What a store in PostgreSQL has besides the tables that SQLite has, too: indexes, counters, and a fleet's tables.

Counters are kept per statement, not per row: visits come by COPY, and one row of a host is then updated once per group.
"""

from __future__ import annotations

from recrawl.live.postgres.store_arrivals import ADDED, COUNTED, COUNTED_NOW, OUTCOMES, TAKE_VISITS

FIRST_FORMAT = 4  # stores in PostgreSQL began with it
STEPS = {  # by the format that they begin with: scripts that bring the tables to the next
    4: """
alter table first_links add column targets bytea; -- null: links are lines of text
alter table first_links alter column links type bytea using convert_to(links, 'UTF8');
"""
}

# What is compressed already is not compressed again, and rows stay whole up to a block.
STORAGE = """
alter table first_links alter column links set storage external;
alter table first_links set (toast_tuple_target = 8160);
alter table first_bags alter column bag set storage external;
alter table first_bags set (toast_tuple_target = 8160);
alter table last_bags alter column bag set storage external;
alter table last_bags set (toast_tuple_target = 8160);
"""

INDEXES = """
alter table pages set (fillfactor = 70);   -- room for a row's next version beside it: no index is touched then
alter table hosts set (fillfactor = 30);
alter table cycles set (fillfactor = 30);
create index visits_cycle on visits (cycle);
create index versions_page on versions (page);
create index versions_place on versions (warc, "offset") where warc is not null;
create index feeds_host on feeds (host);
create index announced_pending on announced (pending) where pending = 1;
create index pages_canonical on pages (canonical) where canonical is not null;
create index pages_host on pages (host, page);
create index pages_url on pages (url);
create index pages_changes on pages (changes desc, page);
drop index if exists pages_visits;         -- an index on what every visit changes would have all indexes written
drop index if exists pages_last_visit;
create index visits_at on visits (at);
create index pages_last_change on pages (last_change_at) where last_change_at is not null;
create function instr(text, text) returns bigint language sql immutable strict as 'select strpos($1, $2)::bigint';
"""

_MOVED = ", ".join(
    f"{name} = {name} + (new.outcome = {number})::int - (old.outcome = {number})::int"
    for number, name in enumerate(OUTCOMES)
)

# Rows that a group names are found by their keys: without statistics of the new table the planner would rather read
# all pages once per group.
_BY_KEY = "language plpgsql set enable_hashjoin = off set enable_mergejoin = off"

_UNCOUNTED = f"coalesce(current_setting('{COUNTED_NOW}', true), '') = ''"

TRIGGERS = f"""
{TAKE_VISITS}
create or replace function count_pages() returns trigger {_BY_KEY} as $$ begin
    update hosts t set pages = t.pages + s.n from (select host, count(*) as n from added group by host) s
        where t.host = s.host;
    return null;
end $$;
create or replace trigger page_added after insert on pages referencing new table as added
    for each statement execute function count_pages();

drop trigger if exists page_fetched on pages; -- of stores made before, per row
drop trigger if exists page_linked on pages;
create or replace function count_copies() returns trigger language plpgsql as $$ begin
    update hosts t set fetched = t.fetched + s.fetched, links = t.links + s.links from (
        select n.host, count(*) filter (where o.digest is null and n.digest is not null) as fetched,
            sum(n.links - o.links) as links from was o join became n using (page)
            where o.links <> n.links or (o.digest is null and n.digest is not null) group by n.host
        ) s where t.host = s.host;
    return null;
end $$;
create or replace trigger page_updated after update on pages referencing old table as was new table as became
    for each statement when ({_UNCOUNTED}) execute function count_copies();

create or replace function count_visits() returns trigger {_BY_KEY} as $$ begin
    with visited as (
        update pages t set visits = t.visits + 1, last_visit_at = greatest(t.last_visit_at, n.at),
            gone = case n.outcome when 3 then 1 when 4 then t.gone else 0 end,
            changes = t.changes + (n.outcome = 1)::int,
            last_change_at = case when n.outcome = 1 then greatest(t.last_change_at, n.at) else t.last_change_at end
            from added n where t.page = n.page returning t.host, n.outcome
    )
    update hosts t set {ADDED} from (select host, {COUNTED} from visited group by host) s where t.host = s.host;
    update cycles t set {ADDED} from (select cycle, {COUNTED} from added group by cycle) s where t.cycle = s.cycle;
    return null;
end $$;
create or replace trigger visit_added after insert on visits referencing new table as added
    for each statement when ({_UNCOUNTED}) execute function count_visits();

create or replace function correct_counts() returns trigger language plpgsql as $$ begin
    update pages set changes = changes + (new.outcome = 1)::int - (old.outcome = 1)::int,
        last_visit_at = greatest(last_visit_at, new.at),
        last_change_at = (select max(at) from visits where page = new.page and outcome = 1),
        gone = coalesce((select (outcome = 3)::int from visits v where v.page = new.page and outcome <> 4
            order by cycle desc limit 1), 0) where page = new.page;
    update cycles set {_MOVED} where cycle = new.cycle;
    update hosts set {_MOVED} where host = (select host from pages where page = new.page);
    return null;
end $$;
create or replace trigger visit_corrected after update of outcome on visits for each row
    execute function correct_counts();
"""

FLEET_TABLES = """
create table workers (                     -- one row per session of a worker: its lease
    worker bigint generated always as identity primary key,
    name text not null,
    begun_at timestamptz not null default clock_timestamp(),
    alive_until timestamptz not null       -- by the database's clock alone; 'epoch': over for good
);
create table inbox_read (                  -- what the planner has recorded of each session's inbox
    worker bigint primary key,
    number bigint not null
);
create table sites (                       -- registrable domains: the unit of ownership
    site text collate "C" primary key,
    worker bigint,                         -- the session that asks it; null: nobody
    last_task bigint not null default 0,   -- the newest task
    done_task bigint not null default 0    -- the newest task when its owner had none left
);
create table gates (                       -- politeness states of hosts, which move with the ownership of their site
    host text collate "C" primary key,
    site text collate "C" not null,
    gate text not null
);
create index gates_site on gates (site);
create table site_robots (                 -- robots.txt files, the same
    origin text collate "C" primary key,
    site text collate "C" not null,
    record text not null
);
create index site_robots_site on site_robots (site);
create table fleet (                       -- the cycle that workers work on: one row
    cycle bigint primary key,
    ends_at timestamptz                    -- null: it takes as long as its visits take
);
create table tasks (                       -- the plan of a cycle as workers read it: append-only
    cycle bigint not null,
    task bigint not null,
    site text collate "C" not null,
    kind text not null,
    page bigint not null,
    request text not null
) partition by list (cycle);
create index tasks_site on tasks (site, task);
create table inbox (                       -- what workers found, until the planner has recorded it: append-only
    cycle bigint not null,
    worker bigint not null,
    number bigint not null,                -- per session, in the order of its transactions
    task bigint not null,
    record bytea not null
) partition by list (cycle);
create unique index inbox_number on inbox (cycle, worker, number);
create index inbox_task on inbox (task);
alter table inbox alter column record set storage external;
"""
