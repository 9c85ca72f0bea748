"""A plan over shards is the plan of one memory, whatever the number of shards."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.cycle import EveryPage, run_cycle
from recrawl.eligibility import Bar
from recrawl.errors import InputError
from recrawl.evaluate.work_engine import open_engine
from recrawl.fleet.planning import PlanRun, ShardedPlan, plan_shards
from recrawl.fleet.shard_belief import ShardBelief
from recrawl.fleet.shard_candidates import Candidates, Merge
from recrawl.fleet.shard_files import ShardSet, shard_of
from recrawl.fleet.shard_scoring import policy_for_shards
from recrawl.fleet.shard_totals import total_of, totals_of_shard
from recrawl.fleet.shard_training import ShardModel
from recrawl.fleet.shard_writing import Snapshot, of_crawl, write_shards
from recrawl.fleet.synthetic_shards import MadeUp, write_synthetic
from recrawl.live.directory import CrawlDirectory
from recrawl.live.facade import Crawl
from recrawl.live.session import Session
from recrawl.memory import MOST_FAILS
from recrawl.plan import Plan
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.belief import FEATURES
from recrawl.policies.learned.learned import Learned
from recrawl.policies.learned.scouts import Scouting
from recrawl.policy import Setting
from recrawl.progress import silent
from recrawl.recording.recording import Recording
from recrawl.simulate.recorded import RecordedWorld
from recrawl.simulate.replay import ReplayServer
from recrawl.visits import Outcome
from support import live_crawls as living
from support.sharded_crawls import COUNTS, VISITS, planned, snapshot
from support.small_recordings import random_tables


@pytest.fixture(scope="module")
def small() -> Snapshot:
    return snapshot()


@pytest.fixture(scope="module")
def sharded(small: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> dict[int, ShardSet]:
    folder = tmp_path_factory.mktemp("shards")
    return {count: write_shards(small, folder / str(count), count, "a test") for count in COUNTS}


@pytest.mark.parametrize("policy", ["bayes", "age", "rand", "cg", "gad(over=cycles)", "gp:all-ndcg-1"])
@pytest.mark.parametrize("cap", [0, 2])
def test_a_plan_is_that_of_one_memory(small: Snapshot, sharded: dict[int, ShardSet], policy: str, cap: int) -> None:
    """Scores, first visits, ties and caps: the pages and their order are those that the policy itself chooses."""
    memory = small.memory
    memory.cycle = small.next_cycle - 1
    memory.begin_cycle(cap)
    expected = make_policy(policy, Setting(seed=4)).choose(memory, VISITS, small.at).tolist()
    for shards in sharded.values():
        assert [visit.page for visit in planned(shards, policy, cap)] == expected


@pytest.mark.parametrize("policy", ["learned", "learned(objective=freshness, rounds=3)"])
@pytest.mark.parametrize("cap", [0, 2])
def test_learned_plans_the_same_in_any_number_of_shards(sharded: dict[int, ShardSet], policy: str, cap: int) -> None:
    """Totals, sample, trees, scores, rounds and caps do not depend on the shards, to the last digit of the scores."""
    plans = [planned(shards, policy, cap) for shards in sharded.values()]
    assert plans[0] == plans[1] == plans[2]
    assert len({visit.page for visit in plans[0]}) == VISITS
    sites = Counter(visit.url.split("/")[2] for visit in plans[0])
    assert max(sites.values()) <= (cap or VISITS)


def learned_crawl(cycles: int) -> tuple[Learned, Snapshot]:
    """A crawl under `learned`, the next cycle open."""
    web = Recording.from_arrays(random_tables(400, 20.0, 5, sites=12))
    world, policy = RecordedWorld(web), make_policy("learned(explore=0.2, floor=0)", Setting(seed=1))
    assert isinstance(policy, Learned)
    memory = world.memory(cycle_days=1.0, seed=1)
    paths = np.array([f"a{page % 7}/b{page % 60}/{page}.html" for page in range(400)], dtype=object)
    memory.load_paths = lambda: paths
    pages, numbers, rounds, outcomes = [], [], [], []
    for cycle in range(1, cycles + 1):
        chooser = EveryPage(policy) if cycle < 3 else policy
        budget = len(memory) if cycle < 3 else 30
        for number, visits in enumerate(run_cycle(world, memory, chooser, budget, web.start + cycle)):
            pages.append(visits.pages)
            rounds.append(np.full(len(visits), number))
            numbers.append(np.full(len(visits), cycle))
            outcomes.append(visits.outcome)
    memory.begin_cycle()
    policy.begin(memory, web.start + cycles + 1)
    domains = [f"s{n}.example" for n in range(12)]
    seen = [np.concatenate(column) for column in (pages, numbers, rounds, outcomes)]
    at = web.start + cycles + 1
    return policy, Snapshot(memory, domains, paths, paths, seen[0], seen[1], seen[2], seen[3], at, 1, cycles + 1)


def test_replayed_visits_give_what_learned_knows(tmp_path: Path) -> None:
    """Histories and counts per group, replayed shard by shard, are those of the policy that made the visits."""
    policy, seen = learned_crawl(7)
    shards = write_shards(seen, tmp_path / "shards", 5, "a test")
    belief, own = policy.belief, [name != "words" for name in FEATURES]
    for number in range(5):
        part = shards.memory(number)
        replayed = ShardBelief(shards, number, part)
        replayed.replay([belief.evidence.base] * 9, 8)
        known = np.flatnonzero(part.last_cycle >= 0)
        names, _ = shards.urls(number, known)
        rows, _ = belief.describe(np.array(names, dtype=np.int64))
        np.testing.assert_array_equal(replayed.describe(known)[:, own], rows[:, own])
    totals = total_of((totals_of_shard((shards, number)) for number in range(5)), 8)
    assert totals.bases()[8] == pytest.approx(belief.evidence.base, rel=1e-5)


@pytest.mark.parametrize(("cycles", "visits", "scouts"), [(2, 64, 0), (7, 64, 12), (9, 300, 60)])
def test_with_one_model_shards_choose_as_learned_does(tmp_path: Path, cycles: int, visits: int, scouts: int) -> None:
    """Given the model of the policy itself, the plan is what the policy chooses, rounds and scouts included."""
    policy, seen = learned_crawl(cycles)
    shards = write_shards(seen, tmp_path / "shards", 7, "a test")
    belief, memory = policy.belief, seen.memory
    bases = [belief.evidence.base] * (cycles + 2)
    prior, base = belief.prior, (belief.base, belief.base_weight.trust)
    model = ShardModel(prior.shape, prior.strength, prior.rates, belief.hazard, bases, *base)
    fresh = policy_for_shards("learned(explore=0.2, floor=0)", 1)
    assert isinstance(fresh, Learned)
    with open_engine() as engine:
        run = PlanRun(shards, engine, silent)
        found = ShardedPlan(shards, "", run.by_model(fresh, "learned(explore=0.2, floor=0)", model, visits, 0))
    policy.scouting = Scouting(0.2)  # what scouts brought before is not known to shards
    expected: list[int] = []
    while len(expected) < visits:
        pages = policy.choose(memory, visits - len(expected), seen.at)
        memory.bars.page[pages] = Bar.UNDER_WAY
        expected += pages.tolist()
    assert len(policy.scouting._sent) == scouts
    assert [visit.page for visit in found.visits()] == expected


def test_a_live_crawl_in_shards(crawl: CrawlDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pages of a crawl that has not begun are planned as the first visits that they are."""
    folder = str(tmp_path / "parts")
    assert main(["shards", folder, "-C", str(crawl.path), "--count", "3"]) == 0
    capsys.readouterr()
    assert main(["plan", "--shards", folder, "-n", "100%", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = of_crawl(Crawl.open(crawl.path))
    assert sorted(row["url"] for row in rows) == sorted(url for url in found.urls.tolist() if url)
    assert {row["score"] for row in rows} == {None}


def test_a_live_crawl_that_has_run(
    web: tuple[ReplayServer, living.Days], crawl: CrawlDirectory, tmp_path: Path
) -> None:
    """Visits, their rounds and outcomes are those of the store; the plan is the policy's own choice."""
    for _ in range(3):
        web[1].day += 7.0
        with Session(crawl, "learned", Plan(7.0, 0.3, 1), clock=web[1]) as session:
            session.run_cycle()
    seen = of_crawl(Crawl.open(crawl.path))
    memory = seen.memory
    told = np.bincount(seen.page[seen.outcome < Outcome.FIRST], minlength=len(memory))
    np.testing.assert_array_equal(told, memory.n)
    assert [len(np.unique(seen.round[seen.cycle == cycle])) > 1 for cycle in (1, 2, 3)] == [True, True, True]
    plans = [planned(write_shards(seen, tmp_path / str(n), n, "a test"), "learned", visits=8) for n in (1, 3)]
    assert plans[0] == plans[1]
    memory.begin_cycle()
    expected = make_policy("bayes", Setting(seed=0)).choose(memory, 8, seen.at).tolist()
    assert [visit.page for visit in planned(ShardSet.open(tmp_path / "3"), "bayes", visits=8)] == expected


def test_a_made_up_crawl_does_not_depend_on_its_shards(tmp_path: Path) -> None:
    """The same pages with the same visits, in one shard or five."""
    made = MadeUp(700, cycles=5, share=0.1, seed=2)
    plans = [planned(write_synthetic(made, tmp_path / str(count), count), "bayes") for count in (1, 5)]
    assert plans[0] == plans[1]


def test_pages_that_rest_after_failed_visits_rest_in_shards_too(small: Snapshot, tmp_path: Path) -> None:
    """A page that one memory would leave alone in the cycle to plan is not eligible in its shard."""
    memory = copy.copy(small.memory)
    memory.fails, memory.asked, memory.gone = np.zeros_like(memory.fails), memory.asked.copy(), memory.gone.copy()
    memory.gone[:9] = False
    memory.fails[:9], memory.asked[:9] = MOST_FAILS, small.next_cycle - np.arange(28, 37)
    shards = write_shards(replace(small, memory=memory), tmp_path / "shards", 1, "test")
    memory.cycle = small.next_cycle
    whole, part = memory.eligible()[:9], shards.memory(0).eligible()[:9]
    assert whole.tolist() == part.tolist() == [False] * 4 + [True] * 5


def test_a_merge_keeps_the_first_k() -> None:
    """Whatever the order and size of the parts, and with pages below the floor left out, the first k remain."""
    draw = np.random.default_rng(1)
    size = 500
    has_copy, worst = draw.random(size) < 0.9, draw.integers(0, 6, size).astype(np.float64)
    tie = draw.permutation(size).astype(np.uint64)
    numbers = np.arange(size, dtype=np.int32)
    columns = has_copy, worst, tie, numbers, numbers, worst, np.empty((size, 0), dtype=np.int32)
    whole = Candidates(*columns)
    expected = np.lexsort((tie, worst, has_copy))[:40].tolist()
    for parts in (1, 3, 50):
        merge = Merge(40)
        for part in np.array_split(draw.permutation(size), parts):
            merge.add(whole.take(part))
        assert merge.result().row.tolist() == expected
        assert merge.floor is None or merge.floor[1] >= worst[expected[-1]]


def test_a_domain_has_one_shard() -> None:
    """The shard of a domain is written down here: other versions must find it there too."""
    assert [shard_of(name, 64) for name in ("example.org", "example.com", "example.co.uk")] == [36, 19, 4]


def test_what_cannot_be_planned_is_said_in_one_line(
    sharded: dict[int, ShardSet], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No folder, a torn file, a bad header, a policy that needs all pages, a wrong budget: one line, exit code 2."""
    folder = tmp_path / "torn"
    folder.mkdir()
    for path in sharded[7].folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    words = ["plan", "--shards", str(folder)]
    options = ("--policy=lbla", "--policy=learned(wait=9)", "-n=99999", "--engine=spark", "--per-site=-1", "--jobs=0")
    bad = [["plan", "--shards", str(tmp_path)], *([*words, option] for option in options)]
    for line in bad:
        assert main(line) == 2
    torn = folder / "pages-00003.arrow"
    whole = torn.read_bytes()
    for content in (whole[:-9], whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2), b""):
        torn.write_bytes(content)
        assert main(words) == 2
    torn.unlink()
    assert main(words) == 2
    (folder / "shards.json").write_text("{")
    assert main(words) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(bad) + 5
    assert all(line.startswith("recrawl: ") for line in lines)


def test_a_folder_is_not_overwritten(small: Snapshot, tmp_path: Path) -> None:
    """Shards replace shards only where asked to, and never anything else."""
    folder = tmp_path / "parts"
    write_shards(small, folder, 2, "a test")
    with pytest.raises(InputError, match="--force"):
        write_shards(small, folder, 3, "a test")
    assert len(write_shards(small, folder, 3, "a test", force=True)) == 3
    (folder / "mine.txt").touch()
    with pytest.raises(InputError, match="not empty"):
        write_shards(small, folder, 3, "a test", force=True)
    with pytest.raises(InputError, match="number of shards"):
        write_shards(small, tmp_path / "none", 0, "a test")


def test_a_budget_may_be_a_share(sharded: dict[int, ShardSet]) -> None:
    """A budget as a share of the pages is that number of them."""
    assert len(plan_shards(sharded[7], "age", 0.1).chosen) == round(0.1 * sharded[7].pages)
