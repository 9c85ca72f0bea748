"""The planner: what to visit next, for a crawler of somebody else; what it reports is never lost or counted twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recrawl.client import Client
from recrawl.columns import tie_order
from recrawl.cycle import run_cycle
from recrawl.errors import InputError, StoreError
from recrawl.live.facade import Crawl
from recrawl.live.planner import PlannedVisit, Planner
from recrawl.live.reported import Seen
from recrawl.live.store import Store
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policy import Setting
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.urls.url import normalise
from recrawl.urls.urlindex import url_hashes
from recrawl.visits import Outcome
from support import forked
from support.live_crawls import Days
from support.served_crawls import served_here
from support.small_recordings import Diary, open_policies, random_tables


def planner(
    folder: Path, pages: int = 10, clock: Days | None = None, *, policy: str = "age", budget: int = 4
) -> Planner:
    """A planner of some pages of one site, on day 0."""
    plan = Planner.open(folder, clock=clock or Days(), policy=policy, budget=budget)
    plan.add([f"https://a.example/{page}" for page in range(pages)])
    return plan


def visits(folder: Path) -> list[tuple[int, int, str]]:
    """Page, cycle and outcome of every visit in the store."""
    store = Store.open(folder / "state.sqlite", read_only=True)
    rows = store.db.execute("select page, cycle, outcome from visits order by visit").fetchall()
    store.close()
    return [(page, cycle, Outcome(outcome).name.lower()) for page, cycle, outcome in rows]


# -- leases and budgets ------------------------------------------------------------------------------------------------


def test_a_page_is_leased_to_one_and_offered_again_when_the_lease_ends(tmp_path: Path) -> None:
    """Two askers never get the same page while a lease runs; when it ends, the page is the first to be offered."""
    clock = Days()
    with planner(tmp_path / "c", clock=clock) as plan:
        one = plan.next(2, lease_s=600)
        two = plan.next(2, lease_s=7200)
        assert len({choice.page for choice in one + two}) == 4
        assert [choice.rank for choice in one + two] == [1, 2, 3, 4]
        assert plan.next(2) == []  # the budget counts live leases
        clock.day = 700 / 86_400
        again = plan.next(3)
        assert [choice.page for choice in again] == [choice.page for choice in one]
        assert {choice.lease for choice in again}.isdisjoint(choice.lease for choice in one)


def test_a_released_lease_is_offered_at_once(tmp_path: Path) -> None:
    """What is given back goes to the next who asks."""
    with planner(tmp_path / "c") as plan:
        one = plan.next(4)
        plan.release([one[2].lease])
        assert [choice.page for choice in plan.next(4)] == [one[2].page]


def test_a_cycle_ends_with_its_budget_or_its_time(tmp_path: Path) -> None:
    """When the budget is reported nothing is due until a cycle's length is over; then the next begins."""
    clock = Days()
    with planner(tmp_path / "c", clock=clock) as plan:
        for choice in plan.next(4):
            plan.report([Seen(choice.url, digest="x")])
        assert plan.next(4) == []
        clock.day = 0.99
        assert plan.next(4) == []
        clock.day = 1.0
        second = plan.next(3)
        assert len(second) == 3
        clock.day = 2.5  # the budget is not spent, the time is over: leases of an hour have ended
        assert len(plan.next(9)) == 4
    assert {cycle for _, cycle, _ in visits(tmp_path / "c")} == {1}


def test_the_host_limit_holds_within_one_answer(tmp_path: Path) -> None:
    """At most `per_host` pages of a host are given away at once; the others wait."""
    with planner(tmp_path / "c", 3, budget=9) as plan:
        plan.add([f"https://b.example/{page}" for page in range(3)])
        hosts = [choice.url.split("/")[2] for choice in plan.next(6, per_host=2)]
        assert sorted(hosts) == ["a.example"] * 2 + ["b.example"] * 2
        assert len(plan.next(6, per_host=2)) == 2


def test_a_site_cap_holds_over_leases(tmp_path: Path) -> None:
    """A cap on visits to a site counts what is leased, round after round."""
    with planner(tmp_path / "c", 9, budget=9) as plan:
        plan.settings = replace(plan.settings, site_cap=3)
        assert len(plan.next(2)) + len(plan.next(9)) == 3


@pytest.mark.parametrize("policy", sorted(open_policies()))
def test_every_policy_gives_as_many_as_are_asked_for_at_once(policy: str, tmp_path: Path) -> None:
    """Policies that wait for answers between rounds choose on without them when asked for all at once."""
    clock = Days()
    with planner(tmp_path / "c", 60, clock, policy=policy, budget=20) as plan:
        for page in range(60):
            plan.report([Seen(f"https://a.example/{page}", digest="x")])
        clock.day = 1.0
        chosen = plan.next(20)
        assert plan.policy.fault is None
        limited = policy in ("coin", "fixed", "nutch")  # these choose what is due, not more
        assert len({choice.page for choice in chosen}) == 20 or limited, len(chosen)


# -- reports -----------------------------------------------------------------------------------------------------------


def test_digests_decide_what_changed(tmp_path: Path) -> None:
    """A first digest is a first copy, an equal one unchanged, another one a change."""
    clock = Days()
    with planner(tmp_path / "c", 1, clock) as plan:
        for day, digest in enumerate(["a", "a", "b", "b"]):
            clock.day = float(day)
            plan.report([Seen("https://a.example/0", digest=digest)])
    assert [outcome for _, _, outcome in visits(tmp_path / "c")] == ["first", "unchanged", "changed", "unchanged"]


def test_bodies_are_compared_without_what_rotates(tmp_path: Path) -> None:
    """A body goes through the crawler's own eyes: a clock in the footer is no change, a new paragraph is one."""
    clock = Days()
    text = "<html><title>t</title><body><main><p>{}</p></main><footer>12:0{}</footer></body></html>"
    long = "A paragraph that says something about the page and its subject. " * 5
    with planner(tmp_path / "c", 1, clock) as plan:
        for day, said in enumerate([long, long, long + "And some more words than before."]):
            clock.day = float(day)
            plan.report([Seen("https://a.example/0", body=text.format(said, day).encode(), status=200)])
    assert [outcome for _, _, outcome in visits(tmp_path / "c")] == ["first", "unchanged", "changed"]


def test_outcomes_and_statuses_are_believed(tmp_path: Path) -> None:
    """The outcome wins over the digest; 304 is unchanged, 410 gone at once, 404 gone the third time, 500 failed."""
    clock = Days()
    reports = {
        "0": [Seen("", digest="a"), Seen("", digest="b", outcome="unchanged"), Seen("", status=304)],
        "1": [Seen("", digest="a"), Seen("", status=500, digest="error page"), Seen("", status=410)],
        "2": [Seen("", digest="a"), *[Seen("", status=404)] * 3],
    }
    with planner(tmp_path / "c", 3, clock) as plan:
        for day in range(4):
            clock.day = float(day)
            for name, each in reports.items():
                if day < len(each):
                    url = f"https://a.example/{name}"
                    seen = each[day]
                    plan.report([Seen(url, None, seen.outcome, seen.digest, status=seen.status)])
    found = visits(tmp_path / "c")
    assert [o for page, _, o in found if page == 0] == ["first", "unchanged", "unchanged"]
    assert [o for page, _, o in found if page == 1] == ["first", "failed", "gone"]
    assert [o for page, _, o in found if page == 2] == ["first", "failed", "failed", "gone"]


def test_a_report_that_nobody_asked_for_counts(tmp_path: Path) -> None:
    """Pages that their crawler found by itself become pages, and their visits take of the budget."""
    with planner(tmp_path / "c") as plan:
        told = plan.report([Seen("https://a.example/0", digest="a"), Seen("https://a.example/new", digest="b")])
        assert (told.recorded, told.outcomes) == (2, {"first": 2})
        assert len(plan.next(9)) == 2


def test_second_reports_of_a_cycle_are_folded(tmp_path: Path) -> None:
    """There is one visit per page and cycle: a later change makes it one that found a change, all else is counted."""
    clock = Days()
    url = "https://a.example/0"
    with planner(tmp_path / "c", clock=clock) as plan:
        plan.report([Seen(url, digest="a")])
        clock.day = 1.0
        assert plan.report([Seen(url, digest="a"), Seen(url, digest="a")]).folded == 1
        assert plan.report([Seen(url, digest="b")]).folded == 1
        plan.turn(1.0)
        assert (plan.memory.n[0], plan.memory.changes[0]) == (1, 1)
        clock.day = 2.0
        plan.report([Seen(url, digest="b")])
    assert visits(tmp_path / "c") == [(0, 1, "first"), (0, 2, "changed"), (0, 3, "unchanged")]


def test_late_and_future_reports_are_refused_and_counted(tmp_path: Path) -> None:
    """A report older than the page's last visit, from the future, or that says nothing is refused with its reason."""
    clock = Days(10.0)
    url = "https://a.example/0"
    with planner(tmp_path / "c", clock=clock) as plan:
        plan.report([Seen(url, digest="a", at=9.5)])
        told = plan.report(
            [Seen(url, digest="b", at=9.4), Seen(url, digest="b", at=11.0), Seen("nonsense:", digest="x"), Seen(url)]
        )
    assert (told.recorded, told.folded) == (0, 0)
    whys = ["older than the page's last visit", "its time is in the future", "not a URL", "neither outcome"]
    assert [why in refusal.why for why, refusal in zip(whys, told.refused, strict=True)] == [True] * 4


def test_links_of_reports_become_pages_within_scope(tmp_path: Path) -> None:
    """Links within the crawl's hosts are new pages, offered in the same cycle; others are noted only."""
    with planner(tmp_path / "c", 1, budget=9) as plan:
        plan.report([Seen("https://a.example/0", digest="a", links=["/x", "https://elsewhere.example/"])])
        assert [choice.url for choice in plan.next(9)] == ["https://a.example/x"]


def test_validators_come_back_with_the_choice(tmp_path: Path) -> None:
    """The ETag of the last report is what to ask with next time."""
    clock = Days()
    with planner(tmp_path / "c", 1, clock) as plan:
        assert plan.next(1)[0].validators == {}
        plan.report([Seen("https://a.example/0", digest="a", etag='"v1"', status=200)])
        clock.day = 1.0
        assert plan.next(1)[0].validators == {"If-None-Match": '"v1"'}


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    """`plan` shows what `next` gives, as often as it is asked."""
    with planner(tmp_path / "c", policy="bayes") as plan:
        plan.report([Seen(f"https://a.example/{page}", digest="x") for page in range(2)])
        dry = [(choice.url, choice.rank) for choice in plan.plan(2)]
        assert dry == [(choice.url, choice.rank) for choice in plan.plan(2)]
        assert dry == [(choice.url, choice.rank) for choice in plan.next(2)]


def test_why_says_when_and_why(tmp_path: Path) -> None:
    """A page's next visit is explained; a page that is none is an error in one line."""
    with planner(tmp_path / "c") as plan:
        assert "never fetched" in plan.why("https://a.example/0").why
        with pytest.raises(InputError, match="not a page of this crawl"):
            plan.why("https://a.example/none")


def test_one_process_holds_the_planner(tmp_path: Path) -> None:
    """A second planner of the same crawl is refused in one line."""
    with planner(tmp_path / "c"), pytest.raises(StoreError, match="another process"):
        Planner.open(tmp_path / "c")


def test_thousands_of_pages_are_added_while_it_runs(tmp_path: Path) -> None:
    """The memory grows as pages are added; what was reported before is still known."""
    with planner(tmp_path / "c", 1, budget=9000) as plan:
        plan.report([Seen("https://a.example/0", digest="x")])
        for part in range(4):
            plan.add(f"https://h{part}.example/{page}" for page in range(2000))
        assert len({choice.page for choice in plan.next(9000)}) == 8000


@pytest.mark.parametrize("policy", sorted(open_policies()))
def test_a_memory_that_grew_chooses_as_one_that_was_rebuilt(policy: str, tmp_path: Path) -> None:
    """Thousands of new pages and hosts in the middle of a crawl: the choices are those of a crawl that is reopened."""
    chosen = []
    for reopens in (False, True):
        clock, folder = Days(), tmp_path / f"c{reopens}"
        plan = planner(folder, 30, clock, policy=policy, budget=60)
        memory, rooms = plan.memory, len(plan.memory)
        for day in range(4):
            clock.day = float(day)
            plan.report([Seen(f"https://a.example/{page}", digest=f"{day * (page % 3 == 0)}") for page in range(30)])
            if day == 1:
                plan.add(f"https://h{page}.example/{page}" for page in range(2500))
                assert plan.memory is memory
                assert len(plan.memory) > rooms
        if reopens:
            plan.close()
            plan = Planner.open(folder, clock=clock, policy=policy, budget=60)
        clock.day = 4.0
        chosen.append([choice.url for choice in plan.next(60)])
        assert plan.policy.fault is None
        plan.close()
    assert chosen[0] == chosen[1]


def test_first_visits_take_their_share_and_no_more(tmp_path: Path) -> None:
    """Half of the budget (`discovery`) goes to pages never fetched, in one answer or in many; the rest if need be."""
    clock = Days()
    with planner(tmp_path / "c", 30, clock, budget=20) as plan:
        plan.report([Seen(f"https://a.example/{page}", digest="x") for page in range(20)])
        for asked in (20, 3):
            clock.day += 1.0
            pages = [choice.page for _ in range(20 // asked + 1) for choice in plan.next(asked)]
            assert (len(pages), sum(page >= 20 for page in pages)) == (20, 10)
            plan.release_all()


def test_removed_pages_and_paused_hosts_are_not_given_away(tmp_path: Path) -> None:
    """What the user took out stays out, from the next call on, until it is resumed; pages added meanwhile are in."""
    clock = Days()
    with planner(tmp_path / "c", 3, clock, budget=9) as plan:
        plan.add(["https://b.example/"])
        crawl = Crawl.open(tmp_path / "c")
        crawl.remove("https://a.example/1")
        crawl.pause("b.example")
        assert {choice.url[-1] for choice in plan.next(9)} == {"0", "2"}
        crawl.resume("b.example")
        assert [choice.url for choice in plan.next(9)] == ["https://b.example/"]
        assert crawl.add("https://a.example/new")[0] == 1
        clock.day = 1.0
        assert "https://a.example/new" in [choice.url for choice in plan.next(9)]


def test_another_name_of_a_page_is_not_given_away(tmp_path: Path) -> None:
    """A page whose canonical address we have a copy of is an alias: from then on only that one is offered."""
    clock = Days()
    body = b'<title>t</title><link rel="canonical" href="/page"><p>What the page says, in so many words.'
    with planner(tmp_path / "c", 0, clock, budget=9) as plan:
        names = [f"https://a.example/page{query}" for query in ("", "?from=mail")]
        plan.add(names)
        assert {choice.url for choice in plan.next(9)} == set(names)
        plan.report([Seen(url, body=body, status=200) for url in names])
        clock.day = 1.0
        assert [choice.url for choice in plan.next(9)] == names[:1]


# -- any order of events -----------------------------------------------------------------------------------------------

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("next"), st.integers(1, 6)),
        st.tuples(st.just("report"), st.integers(0, 11), st.sampled_from("ab")),
        st.tuples(st.just("release"), st.integers(0, 5)),
        st.tuples(st.just("wait"), st.sampled_from([0.001, 0.3, 1.0])),
        st.tuples(st.just("restart")),
    ),
    max_size=30,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=EVENTS)
def test_no_order_of_events_breaks_the_rules(
    events: list[tuple[object, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever is asked, reported, given back or restarted: no page twice at once, no budget exceeded by choice."""
    folder, clock = tmp_path_factory.mktemp("any") / "c", Days()
    plan = planner(folder, 12, clock, policy="bayes", budget=5)
    leased: dict[int, tuple[PlannedVisit, float]] = {}
    try:
        for event in events:
            if event[0] == "next":
                live = {page for page, (_, until) in leased.items() if until > clock.day}
                choices = plan.next(int(str(event[1])), lease_s=600)
                for choice in choices:
                    assert choice.page not in live
                    leased[choice.page] = (choice, clock.day + 600 / 86_400)
                assert plan.cycle is not None
                live = {page for page, (_, until) in leased.items() if until > clock.day}
                asked = {page for page, cycle, _ in visits(folder) if cycle == plan.cycle.cycle}
                if choices:
                    assert len(asked | live) <= plan.cycle.budget  # it counts visits, asked for or not, and leases
            elif event[0] == "report":
                told = plan.report([Seen(f"https://a.example/{event[1]}", digest=str(event[2]))])
                assert told.recorded + told.folded + len(told.refused) == 1
                leased.pop(int(str(event[1])), None)
            elif event[0] == "release" and leased:
                page = sorted(leased)[int(str(event[1])) % len(leased)]
                plan.release([leased.pop(page)[0].lease])
            elif event[0] == "wait":
                clock.day += float(str(event[1]))
            elif event[0] == "restart":
                plan.close()
                plan = Planner.open(folder, policy="bayes", budget=5, clock=clock)
        plan.turn(clock.day)
        rebuilt = Planner.from_store(plan)[1]
        for name in ("n", "changes", "last_visit", "last_cycle", "asked", "gone", "ring"):
            np.testing.assert_array_equal(getattr(plan.memory, name)[:12], getattr(rebuilt, name)[:12], err_msg=name)
    finally:
        plan.close()
    seen = [(page, cycle) for page, cycle, _ in visits(folder)]
    assert len(seen) == len(set(seen))


# -- the same pages as a simulation ------------------------------------------------------------------------------------


def web() -> tuple[Recording, list[str]]:
    recording = Recording.from_arrays(random_tables(80, 40.0, 5, sites=3))
    sites = recording.site
    return recording, [normalise(f"https://s{sites[page]}.example/{page}") or "" for page in range(len(recording))]


def simulated(policy: str) -> list[list[str]]:
    recording, urls = web()
    world = RecordedWorld(recording, copies=False)
    memory = world.memory(cycle_days=2.0, seed=3)
    memory.tie = tie_order(url_hashes(urls).view(np.int64), 3)
    diary = Diary(make_policy(policy, Setting(seed=3)))
    for cycle in range(1, 16):
        run_cycle(world, memory, diary, 12, 2.0 * cycle, discovery=Plan().discovery)
    return [[urls[page] for at, pages in diary.chosen if at == 2.0 * cycle for page in pages] for cycle in range(1, 16)]


def planned(folder: Path, policy: str) -> list[list[str]]:
    recording, urls = web()
    days = np.split(recording.change_day, recording.change_start[1:-1])
    clock, chosen = Days(2.0), []
    with Planner.open(folder, policy=policy, every="2d", budget=12, clock=clock) as plan:
        plan.settings = replace(plan.settings, seed=3)
        plan.rebuild()
        plan.add(urls, at=0.0)
        for cycle in range(1, 16):
            clock.day = 2.0 * cycle
            choices = plan.next(12)
            chosen.append([choice.url for choice in choices])
            pages = [urls.index(choice.url) for choice in choices]
            version = [int((days[page] <= clock.day).sum()) for page in pages]
            plan.report([Seen(urls[page], digest=str(v)) for page, v in zip(pages, version, strict=True)])
    return chosen


def over_rest(folder: Path, policy: str) -> list[list[str]]:
    """The same crawl by a client of the server."""
    recording, urls = web()
    days = np.split(recording.change_day, recording.change_start[1:-1])
    clock, chosen = Days(0.0), []
    steering = f'[crawl]\npolicy = "{policy}"\nevery = "2d"\nbudget = "12"\nseed = 3\n'
    Crawl.create(folder, steering, clock=clock).add(*urls)
    with served_here(folder, clock) as server:
        client = Client(f"http://127.0.0.1:{server.port}")
        for cycle in range(1, 16):
            clock.day = 2.0 * cycle
            leased = client.next(12)
            chosen.append([page["url"] for page in leased])
            pages = [urls.index(page["url"]) for page in leased]
            version = [int((days[page] <= clock.day).sum()) for page in pages]
            client.report([{"url": urls[page], "digest": str(v)} for page, v in zip(pages, version, strict=True)])
    return chosen


@pytest.mark.parametrize("policy", ["age", "bayes", "nutch(fill=yes)", "learned(rounds=1)"])
def test_a_planned_crawl_and_a_simulation_choose_the_same_pages(policy: str, tmp_path: Path) -> None:
    """Same recording, same seed: asked in one go, the planner and REST give the simulation's pages."""
    told = simulated(policy)
    assert planned(tmp_path / "c", policy) == told
    assert over_rest(tmp_path / "rest", policy) == told
    assert sum(map(len, told)) == 15 * 12


# -- kill -9 -----------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
plan = Planner.open(sys.argv[1], policy="age", budget=6)
chosen = plan.next(4, lease_s=3600)
plan.report([Seen(chosen[0].url, digest="a")])
print(*[choice.page for choice in chosen], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_kill_9_between_next_and_report_loses_nothing(tmp_path: Path) -> None:
    """A process that dies after `next` leaves its leases and its reports: the next gives only what is left."""
    with planner(tmp_path / "c", clock=None):
        pass
    run = forked.python("-c", KILLED, str(tmp_path / "c"))
    assert run.returncode == -9, run.stderr
    pages = [int(page) for page in run.stdout.split()]
    assert len(pages) == 4
    with Planner.open(tmp_path / "c", policy="age", budget=6) as plan:
        assert plan.memory.asked[pages[0]] == 1
        rest = plan.next(9)
        assert len(rest) == 2
        assert {choice.page for choice in rest}.isdisjoint(pages)
        plan.release_all()
        assert {choice.page for choice in plan.next(9)} == {*pages[1:], *(choice.page for choice in rest)}
