"""What a crawl knows of its copies: counts, words, links and changes, kept in the store and told to policies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.copies import Copies
from recrawl.live.facade import Crawl
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
from recrawl.policy import notes_of
from recrawl.recording.recording import Recording
from recrawl.see.change import distance_of
from recrawl.see.words import bag_of
from recrawl.simulate.synthetic.synthesis import synthesize
from support.live_crawls import Days, seeds, served, settings

WORDS = " ".join(f"word{i}" for i in range(40))
PAGE = "<html><body><main><p>{text}</p>{more}</main></body></html>"
LINK = '<a href="/2">two</a>'


def body(text: str, more: str = "") -> bytes:
    return PAGE.format(text=text, more=more).encode()


def reported(folder: Path, days: list[dict[int, bytes | str]], policy: str = "age") -> Planner:
    """A planner that was told of bodies, or digests, of pages day by day."""
    clock = Days()
    planner = Planner.open(folder, clock=clock, policy=policy, every="1d", budget=100)
    planner.add([f"https://a.example/{page}" for page in range(4)])
    for day, pages in enumerate(days, 1):
        clock.day = float(day)
        seen = [
            Seen(f"https://a.example/{page}", status=200, body=said)
            if isinstance(said, bytes)
            else Seen(f"https://a.example/{page}", digest=said)
            for page, said in pages.items()
        ]
        planner.report(seen)
    return planner


def copies_of(planner: Planner) -> Copies:
    assert planner.memory.copies is not None
    return planner.memory.copies


def column(planner: Planner, name: str) -> list[float]:
    found = copies_of(planner).column(name)
    assert found is not None
    return found[:4].tolist()


def moved(planner: Planner, name: str) -> list[float]:
    found = copies_of(planner).moved(name)
    assert found is not None
    return found[:4].tolist()


ELSEWHERE = '<a href="//b.example/">b</a>'
ONE = '<a href="/1">one</a>'
SAME = body("Other words entirely " * 15)
DAYS: list[dict[int, bytes | str]] = [
    {
        0: body(WORDS, f"<img src=a><img src=b><table></table>me@a.example {ONE} {ELSEWHERE}"),
        1: SAME,
        3: "told by a digest alone",
    },
    {0: body(WORDS + " plus three more", f"<img src=a><table></table>{ONE}"), 1: SAME},
]


def test_counts_of_the_copies_and_how_they_moved(tmp_path: Path) -> None:
    """Images, tables, addresses and links of page 0 before and after its change; nothing is known of page 3."""
    with reported(tmp_path / "a", DAYS[:1]) as planner:
        assert column(planner, "images")[0] == 2
        assert moved(planner, "images") == [0, 0, 0, 0]
    with reported(tmp_path / "b", DAYS) as planner:
        assert column(planner, "images") == [1, 0, 0, 0]
        assert moved(planner, "images") == [-1, 0, 0, 0]
        assert column(planner, "tables") == [1, 0, 0, 0]
        assert moved(planner, "emails") == [-1, 0, 0, 0]
        assert column(planner, "out_internal")[0] == 1
        assert moved(planner, "out_external") == [-1, 0, 0, 0]
        assert moved(planner, "words")[0] == 3 - 2  # an e-mail address and a link are gone
        assert copies_of(planner).column("colours") is None


def test_a_restart_knows_the_same_of_every_copy(tmp_path: Path) -> None:
    """What is rebuilt from the store is what was told as the visits came in."""

    def told(planner: Planner) -> list[object]:
        copies = copies_of(planner)
        vectors, similar = copies.word_vectors(), copies.similarity()
        links = copies.links(planner.memory.last_visit)
        assert vectors is not None
        assert similar is not None
        assert links is not None
        counts = [(column(planner, name), moved(planner, name)) for name in ("words", "text_bytes", "emails")]
        return [counts, vectors[:4].tolist(), similar[:4].tolist(), [part.tolist() for part in links]]

    with reported(tmp_path / "a", DAYS) as planner:
        before = told(planner)
    with Planner.open(tmp_path / "a", clock=Days(2.0), policy="age", every="1d", budget=100) as planner:
        assert told(planner) == before


def test_the_words_of_first_copies(tmp_path: Path) -> None:
    """In the order asked for; none of a page that was told by a digest, and those of the first version for good."""
    with reported(tmp_path / "a", DAYS) as planner:
        bags = copies_of(planner).bags(np.array([1, 3, 0]))
    assert bags is not None
    lengths = np.diff(bags.start).tolist()
    first = bag_of("Other words entirely " * 15)
    assert lengths[:2] == [len(first.bucket), 0]
    assert bags.bucket[: lengths[0]].tolist() == first.bucket.tolist()
    assert bags.counts[: lengths[0]].tolist() == first.count.tolist()
    words = dict(zip(bags.bucket[lengths[0] :].tolist(), bags.counts[lengths[0] :].tolist(), strict=True))
    assert words.keys() >= set(bag_of(WORDS).bucket.tolist()), "page 0 as it was first"
    assert not words.keys() & set(bag_of("plus three").bucket.tolist())


def test_changes_are_measured_as_in_recordings(tmp_path: Path) -> None:
    """Words added and removed, cosine, chi-squared p and significance, by the functions of see.change."""
    old, small, large = WORDS * 4, WORDS * 4 + " more", "quite another text " * 60
    days: list[dict[int, bytes | str]] = [{0: body(old), 1: body(old)}, {0: body(small), 1: body(large)}]
    with reported(tmp_path / "a", days) as planner:
        rows = dict(planner.store.db.execute("select page, change_size from visits where cycle = 2").fetchall())
        similar = copies_of(planner).similarity()
        assert similar is not None
        for page, text in ((0, small), (1, large)):
            distance = distance_of(bag_of(old), bag_of(text))
            assert rows[page] == distance.added + distance.removed
            assert similar[page] == pytest.approx(distance.cosine, abs=1e-7)
        told = planner.store.db.execute("select significant from contents where cosine is not null order by visit")
        assert [row[0] for row in told.fetchall()] == [0, 1]


def test_a_link_that_went_and_came_back_was_away_in_between(tmp_path: Path) -> None:
    """Link intervals keep their gaps: the copies of each day have the links of that day."""
    days: list[dict[int, bytes | str]] = [
        {0: body(WORDS, LINK if day in (1, 2, 4) else "") + b"." * day} for day in (1, 2, 3, 4, 5)
    ]
    with reported(tmp_path / "a", days) as planner:
        kept = sorted((since, until) for *_, since, until in planner.store.links())
        assert kept == [(1.0, 3.0), (4.0, 5.0)]
        for day, there in ((1.0, 1), (2.0, 1), (3.0, 0), (4.0, 1), (5.0, 0)):
            links = copies_of(planner).links(np.full(len(planner.memory), day))
            assert links is not None
            assert len(links[0]) == there


@pytest.mark.parametrize("policy", ["lbla", "cls-gad", "chase(bayes)", "expert-2d(change=significant)"])
def test_policies_say_what_they_cannot_see(policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where only digests are reported, a policy that needs words says so; where bodies are, it has nothing to say."""
    digests: list[dict[int, bytes | str]] = [dict.fromkeys(range(4), f"{day}") for day in range(3)]
    with reported(tmp_path / "a", digests, policy) as planner:
        planner.begin()
        planner.next(4)
        (note, *_) = notes_of(planner.policy)
    main(["next", "-C", str(tmp_path / "a"), "--policy", policy, "-n", "1", "--now"])
    assert f"note: {policy}: {note}" in capsys.readouterr().err
    bodies: list[dict[int, bytes | str]] = [
        {page: body(f"{WORDS} {page} on day number{day}x") for page in range(4)} for day in range(3)
    ]
    with reported(tmp_path / "b", bodies, policy) as planner:
        planner.begin()
        planner.next(4)
        assert notes_of(planner.policy) == ()


def test_every_experiment_runs_on_a_crawls_own_export(tmp_path: Path) -> None:
    """Sixty cycles of a small web over HTTP; its export has texts, terms, links, counts and significance."""
    calendar, every, cycles = Days(), 3.0, 60
    web = synthesize("mixed", 120, every * cycles + 1, seed=5, only=("sites", "pages", "changes", "links"))
    with served(web, calendar) as server:
        toml = settings("bayes", budget="100%").replace('"7d"', '"3d"')
        with Crawl.create(tmp_path / "news", toml, clock=calendar) as crawl:
            crawl.add(*seeds(server))
            for cycle in range(1, cycles + 1):
                calendar.day = every * cycle
                crawl.run(cycles=1)
            assert "texts" in crawl.export("recording", tmp_path / "history")
    history = Recording.open(tmp_path / "history")
    assert len(history.texts()) == len(history) + len(history.change_day)
    assert history.change("chi2_p").min() < 0.5
    assert history.change("cosine").min() < 0.5
    assert history.terms.last.any()
    at = str(tmp_path / "history")
    for arguments in (
        ["gp4c", at, "--cycle", "3d", "--population", "12", "--generations", "2", "--seeds", "1", "--archive", "4"],
        ["clusters", at, "--cycles", "28d", "--repeats", "1", "--queries", "10"],
        ["outlinks", at, "--trees", "3", "--repeats", "1", "--histories", "0,1"],
        ["focus", at, "--topic", "words:bade,defi"],
        ["experts", at, "--steps", "weekly", "--no-crawl", "--experts", "4"],
    ):
        assert main(["experiment", *arguments, "--quick"]) == 0, arguments
