"""The genetic algorithm, strategies and fleets of crawlers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.columns import BoolArray, FloatArray
from recrawl.errors import InputError
from recrawl.focus.genetic import BITS, GeneticSettings, Genome, Search, breed, cross, evolve, evolve_bits, survivors
from recrawl.focus.mission import Mission, default_pages
from recrawl.focus.scores import SCORES
from recrawl.focus.simulator import Fleet, FocusedCrawl, chances, fitness
from recrawl.focus.strategy import BASELINES, BEST_FIRST, PUBLISHED, Strategy, from_json, to_json
from recrawl.focus.topical_web import synthetic_web


@pytest.fixture(scope="module")
def mission() -> Mission:
    return Mission.learn(synthetic_web(3000, 1), "label:popular", seed=1)


def ones(individuals: list[BoolArray]) -> FloatArray:
    return np.array([float(bits.mean()) for bits in individuals])


def test_seven_bits_make_a_weight() -> None:
    """The weights are the sevens of bits as numbers from 0 to 127, scaled to the sum 1."""
    genome = Genome(("HUB", "COMM_in", "PARENT_1"))
    bits = np.array([int(b) for b in "1111111" + "0000001" + "1000000"], dtype=np.bool_)
    total = 127 + 1 + 64
    assert genome.length == len(bits) == 3 * BITS
    expected = {"HUB": 127 / total, "COMM_in": 1 / total, "PARENT_1": 64 / total}
    assert genome.decode(bits).parts[0] == pytest.approx(expected)
    nothing = genome.decode(np.zeros(21, dtype=np.bool_))
    assert set(nothing.parts[0].values()) == {0.0}


@given(st.lists(st.integers(0, 127), min_size=18, max_size=18), st.booleans())
def test_a_strategy_survives_encoding(numbers: list[int], parts: bool) -> None:
    """A strategy written as bits and read again weighs the same, to the precision of seven bits."""
    genome = Genome(SCORES, (2,) if parts else ())
    rows = [numbers[:9], numbers[9:]] if parts else [numbers[:9]]
    strategy = Strategy(
        "s", tuple({s: n / 127 for s, n in zip(SCORES, row, strict=True)} for row in rows), genome.within
    )
    again = genome.decode(genome.encode(strategy))
    for row, part in zip(rows, again.parts, strict=True):
        total = sum(row)
        for score, number in zip(SCORES, row, strict=True):
            assert part[score] == pytest.approx(number / total if total else 0.0, abs=0.04)


def test_a_simple_strategy_starts_one_with_parts() -> None:
    """A strategy without parts serves at every distance of a genome with parts; foreign scores are refused."""
    bits = Genome(SCORES, (2,)).encode(PUBLISHED)
    assert (bits[: len(bits) // 2] == bits[len(bits) // 2 :]).all()
    with pytest.raises(InputError, match="ANCHOR"):
        Genome().encode(Strategy("a", ({"ANCHOR": 1.0},)))


def test_one_point_crossover() -> None:
    """The first n bits of each parent meet the rest of the other (Figure 2)."""
    a, b = np.zeros(6, dtype=np.bool_), np.ones(6, dtype=np.bool_)
    left, right = cross(a, b, 2)
    assert left.tolist() == [False, False, True, True, True, True]
    assert right.tolist() == [True, True, False, False, False, False]
    assert cross(a, b, 0)[0].tolist() == b.tolist()
    assert cross(a, b, 6)[0].tolist() == a.tolist()


def test_roulette_breeds_the_fit() -> None:
    """Parents are drawn in proportion to their fitness, and without crossover children are copies of them."""
    population = [np.zeros(7, dtype=np.bool_), np.ones(7, dtype=np.bool_)] * 200
    worth = np.array([1.0, 3.0] * 200)
    settings = GeneticSettings(crossover=0.0, mutation=0.0)
    children = breed(population, worth, settings, np.random.default_rng(0))
    assert len(children) == 400
    assert {child.sum() for child in children} == {0, 7}
    assert np.mean([child.all() for child in children]) == pytest.approx(0.75, abs=0.06)


def test_mutation_flips_one_bit_of_the_chosen() -> None:
    """A child is chosen for mutation with the given probability, and then one bit of it changes."""
    population = [np.zeros(20, dtype=np.bool_)] * 1000
    settings = GeneticSettings(crossover=0.0, mutation=0.1)
    children = breed(population, np.ones(1000), settings, np.random.default_rng(0))
    flipped = np.array([child.sum() for child in children])
    assert set(flipped.tolist()) == {0, 1}
    assert flipped.mean() == pytest.approx(0.1, abs=0.03)


def test_elitism_never_loses_the_best() -> None:
    """The best of parents and children live on, so neither the best nor the mean fitness ever falls."""
    evolution = evolve_bits(ones, 63, GeneticSettings(20, 30), seed=3)
    assert (np.diff(evolution.best) >= 0).all()
    assert (np.diff(evolution.mean) >= 0).all()
    assert evolution.best[-1] > evolution.best[0] + 0.1
    assert (np.diff(evolution.fitness) <= 0).all()
    assert evolution.best[-1] == evolution.fitness[0] == ones([evolution.population[0]])[0]


def test_copies_do_not_crowd_out_the_others() -> None:
    """Among the survivors every string of bits stands once, best first, as long as there are enough of them."""
    bits = [np.array(b, dtype=np.bool_) for b in ([1, 1], [1, 0], [1, 1], [0, 0])]
    worth = np.array([3.0, 2.0, 3.0, 1.0])
    assert survivors(bits, worth, 3) == [0, 1, 3]
    assert survivors(bits, worth, 4) == [0, 1, 3, 2]


def test_evolution_starts_from_earlier_strategies() -> None:
    """What is given to start with is in the first population, so the result is at least as good."""
    best = np.ones(63, dtype=np.bool_)
    evolution = evolve_bits(ones, 63, GeneticSettings(10, 0), seed=0, start=[best])
    assert evolution.fitness[0] == 1.0


def test_remembering_fitness_changes_nothing_but_the_work() -> None:
    """An individual seen before keeps its fitness: the same evolution, with fewer evaluations."""
    lazy = evolve_bits(ones, 30, GeneticSettings(10, 20), seed=5)
    eager = evolve_bits(ones, 30, GeneticSettings(10, 20, recall_fitness=False), seed=5)
    assert lazy.best.tolist() == eager.best.tolist()
    assert lazy.evaluations < eager.evaluations == 10 + 10 * 20


def test_evolution_is_the_same_on_any_number_of_threads(mission: Mission) -> None:
    """Same seed, same strategies, whatever the jobs; and another seed gives others."""
    settings = GeneticSettings(8, 3, simulations=2)
    seeds = mission.topic.examples[:40]
    found = [evolve(Fleet(mission.fleet.web, jobs), seeds, 300, settings, 7)[0] for jobs in (1, 3)]
    assert [s.parts for s in found[0]] == [s.parts for s in found[1]]
    other, _ = evolve(mission.fleet, seeds, 300, settings, 8)
    assert other[0].parts != found[0][0].parts


def test_evolved_beats_the_first_generation(mission: Mission) -> None:
    """Evolution raises the fitness, and the strategy found has exactly the fitness it is said to have."""
    settings = GeneticSettings(12, 6, simulations=1)
    found, course = evolve(mission.fleet, mission.topic.examples[:40], 300, settings, 1)
    assert course.best[-1] >= course.best[0]
    again = mission.fleet.fitness(found[:1], mission.topic.examples[:40], 300, chances(1, 1))
    assert again[0] == found[0].found["fitness"] == course.best[-1]
    assert len({json.dumps([dict(p) for p in s.parts]) for s in found}) == len(found)


def test_options_evolve_their_own_weights(mission: Mission) -> None:
    """Anchors, hosts and parts by distance are weights like all others; exploration changes the fitness alone."""
    search = Search("more", anchor_and_host=True, explore=0.5, within=(1, 3), start=(BEST_FIRST,))
    found, _ = evolve(mission.fleet, mission.topic.examples[:30], 200, GeneticSettings(6, 2, simulations=1), 2, search)
    best = found[0]
    assert best.within == (1, 3)
    assert len(best.parts) == 3
    assert set(best.parts[0]) == {*SCORES, "ANCHOR", "HOST"}
    assert all(sum(part.values()) == pytest.approx(1.0) for part in best.parts)


def test_exploration_rewards_distance() -> None:
    """A good page d links from the seeds counts 1 + x (d - 1); with x = 0 it is eq. 1."""
    crawl = FocusedCrawl(np.arange(4), np.array([0, 1, 3, 3], dtype=np.int32), np.array([True, True, True, False]))
    assert fitness(crawl) == 3 / 4
    assert fitness(crawl, 0.5) == (1 + 1 + 2) / 4


def test_strategies_are_json() -> None:
    """A strategy written and read is the same strategy."""
    strategy = Strategy("two", ({"HUB": 1.0}, {"PARENT_1": 0.5, "HOST": 0.5}), (3,), {"topic": "dir:x", "fitness": 0.5})
    assert from_json(to_json(strategy)) == strategy
    for baseline in BASELINES:
        assert from_json(to_json(baseline)) == baseline


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        '{"format": "other"}',
        '{"format": "recrawl-strategy-1", "name": "x"}',
        '{"format": "recrawl-strategy-1", "name": "x", "parts": [{"weights": {"FOO": 1}}]}',
        '{"format": "recrawl-strategy-1", "name": "x", "parts": [{"weights": {"HUB": -1}}]}',
        '{"format": "recrawl-strategy-1", "name": "x", "parts": [{"weights": {"HUB": "1"}}]}',
        '{"format": "recrawl-strategy-1", "name": "x", "parts": [{"weights": {"HUB": NaN}}]}',
        '{"format": "recrawl-strategy-1", "name": "x", "parts": []}',
        '{"format": "recrawl-strategy-1", "name": "x", "parts": [{"within": 0, "weights": {}}, {"weights": {}}]}',
    ],
)
def test_broken_strategies_are_refused_in_one_line(text: str) -> None:
    """What is wrong with a strategy's file is said in one line."""
    with pytest.raises(InputError) as wrong:
        from_json(text, "s.json")
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("settings", [{"population": 1}, {"generations": -1}, {"simulations": 0}, {"mutation": 2.0}])
def test_impossible_settings_are_refused(settings: dict[str, float]) -> None:
    """Settings that mean nothing raise an InputError."""
    with pytest.raises(InputError):
        GeneticSettings(**settings)  # type: ignore[arg-type]


def test_default_length_fits_the_graph(mission: Mission) -> None:
    """Without a word a crawl is a small part of what is in reach, and at least twice the seeds."""
    start = mission.examples()
    pages = default_pages(start, mission.good_within(start))
    assert len(start.seeds) <= mission.topic.good.sum() / 8
    assert len(start.seeds) < pages <= start.reach
    lone = mission.start(np.array([int(np.argmin(np.diff(mission.web.graph.start)))]))
    assert 1 <= default_pages(lone, mission.good_within(lone)) <= lone.reach
