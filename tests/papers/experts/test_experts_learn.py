"""Learners on snapshots of pages: features by hand, the SVM against scikit-learn's, the sliding window, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from recrawl.errors import InputError
from recrawl.papers.experts.expert_features import Window, own_features, related_features, version_products
from recrawl.papers.experts.expert_learners import SINGLE, Describer, decisions, frequency, judgeable, vote
from recrawl.papers.experts.experts_protocol import ExpertsProtocol, choose_pages
from recrawl.papers.experts.snapshots import Snapshots, bags_of, behaviour_flips, snapshots_of
from recrawl.policies.experts.svm import platt, polynomial, solve
from recrawl.recording.recording import Recording
from recrawl.see.change import ChangeRule
from support.small_recordings import following_pages, tables


def pages_of(texts: list[str], version: list[list[int]]) -> Snapshots:
    return Snapshots(np.arange(len(version)), 1.0, bags_of(texts), np.array(version, dtype=np.int32))


def test_features_by_hand() -> None:
    """With l = 1: frequency, ||A(t)-A(t-1)||, ||A(t-1)-A(t-2)||, change at t and t-1; the cosines of section 4.2.2."""
    snapshots = pages_of(["a a", "a b", "b b"], [[0, 1, 1, 2], [1, 1, 1, 1], [2, 2, 0, 0]])
    changed = snapshots.changed()
    assert changed.astype(int).tolist() == [[0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]]
    half = np.sqrt(0.5)
    own = own_features(snapshots, changed, 0, Window())
    assert own[2] == pytest.approx([0.0, 0.0, half, 0.0, 1.0])
    assert own[3] == pytest.approx([1.0, half, 0.0, 1.0, 0.0])
    assert own[:2].tolist() == [[0.0] * 5] * 2  # no two steps before them
    related = related_features(snapshots, 0, 2, Window())
    # at step 2: A = (1/2, 1/2), B = (1, 0), B moved by (1, -1), A did not
    assert related[2] == pytest.approx([half, 0.0, 0.0])
    # at step 1: A moved from (1, 0) to (1/2, 1/2), B = (0, 1) did not
    assert related[1] == pytest.approx([half, 0.0, 0.0])
    assert related_features(snapshots, 1, 0, Window())[3] == pytest.approx([half, 0.0, 0.0])
    assert related_features(snapshots, 2, 0, Window())[3, 1] == pytest.approx(-half)  # A leaves what B says
    assert version_products(snapshots.bags, np.array([0, 1])) == pytest.approx(np.array([[1, 0.5], [0.5, 0.5]]))


def test_the_svm_is_scikit_learns() -> None:
    """Decision values agree with SVC's on the same kernel, with equal and with different costs."""
    draw = np.random.default_rng(3)
    for weighted in (False, True):
        x = draw.normal(size=(50, 4))
        y = np.where(x[:, 0] + draw.normal(size=50) > 0.2, 1.0, -1.0)
        K = np.empty((50, 50))
        polynomial(x @ x.T / 4, K)
        C = draw.random(50) if weighted else np.ones(50)
        weights, offset = solve(K, y, C)
        model = SVC(kernel="precomputed", C=1.0).fit(K, y, sample_weight=C)
        assert K @ weights + offset == pytest.approx(model.decision_function(K), abs=0.02)
        assert weights.sum() == pytest.approx(0.0, abs=1e-9)
        assert (np.abs(weights) <= C + 1e-12).all()


def test_one_class_needs_no_svm() -> None:
    """Examples of one class give that class; no examples give nothing."""
    assert solve(np.eye(3), np.ones(3), np.ones(3))[1] == 1.0
    assert solve(np.eye(3), -np.ones(3), np.ones(3))[1] == -1.0
    assert solve(np.empty((0, 0)), np.empty(0), np.empty(0))[1] == 0.0


def test_platts_sigmoid_is_the_most_likely_one() -> None:
    """A and B are where a general optimiser finds the greatest likelihood of Platt's targets."""
    draw = np.random.default_rng(5)
    f = draw.normal(size=200)
    y = draw.random(200) < 1 / (1 + np.exp(-(2 * f - 0.5)))
    n, m = int(y.sum()), int((~y).sum())
    target = np.where(y, (n + 1) / (n + 2), 1 / (m + 2))
    best = minimize(lambda ab: float((target * (z := ab[0] * f + ab[1]) + np.logaddexp(0, -z)).sum()), [0.0, 0.0])
    found = platt(f, y)
    assert [found.slope, found.offset] == pytest.approx(list(best.x), abs=1e-3)
    assert platt(np.zeros(4), np.array([True, False, False, False])).probability(np.zeros(1))[0] == pytest.approx(1 / 3)
    assert platt(np.empty(0), np.empty(0, dtype=np.bool_)).probability(np.zeros(1))[0] == 0.5


def test_answers_add_to_what_is_known() -> None:
    """Decision values that tell nothing leave the chances that follow from the time since the last visit."""
    draw = np.random.default_rng(6)
    known = draw.normal(size=2000)
    y = draw.random(2000) < 1 / (1 + np.exp(-known))
    sigmoid = platt(np.zeros(2000), y, known)
    assert sigmoid.probability(np.zeros(3), np.array([-1.0, 0.0, 1.0])) == pytest.approx([0.27, 0.5, 0.73], abs=0.04)


def alternating(steps: int = 40) -> Snapshots:
    """Page 0 changes one step after page 1 does; page 1 changes at random, page 2 never."""
    draw = np.random.default_rng(11)
    lead = np.cumsum(draw.random(steps) < 0.5) % 2
    follow = np.append(0, lead[:-1])
    texts = ["alpha beta", "alpha gamma", "delta one", "delta two", "still"]
    return pages_of(texts, [(follow).tolist(), (lead + 2).tolist(), [4] * steps])


def test_an_expert_that_leads_is_learnt_from() -> None:
    """A page that always changes a step after another is predicted by it, not by its own past."""
    snapshots = alternating()
    describer = Describer(snapshots, snapshots.changed(), Window())
    council = describer.council(0, np.array([1]))
    steps = judgeable(council, 15)
    truth = council.label[steps + 1] == 1
    said = decisions(council, steps, 15, 10.0)
    assert ((said[5] > 0) == truth).mean() > 0.9
    assert ((said[SINGLE] > 0) == truth).mean() < 0.8
    assert ((vote(said[4:], np.array([0.2, 1.0])) > 0) == truth).mean() > 0.9
    assert not np.isnan(said).any()


def test_predictions_do_not_see_ahead() -> None:
    """What happens after a step does not change what was predicted at it."""
    snapshots = alternating()
    version = snapshots.version.copy()
    version[:, 30:] = version[:, 29:30]
    other = Snapshots(snapshots.pages, 1.0, snapshots.bags, version)
    said = []
    for each in (snapshots, other):
        council = Describer(each, each.changed(), Window()).council(0, np.array([1]))
        said.append(decisions(council, np.arange(20, 29), 12, 1.0))
    assert np.array_equal(said[0], said[1])


def test_bagging_depends_on_the_seed_alone() -> None:
    """The same seed gives the same answers."""
    snapshots = alternating()
    council = Describer(snapshots, snapshots.changed(), Window()).council(0, np.array([1]))
    steps = judgeable(council, 15)
    assert np.array_equal(decisions(council, steps, 15, 1.0, seed=4), decisions(council, steps, 15, 1.0, seed=4))


def test_the_baseline_is_the_frequency_in_the_window() -> None:
    """p = changes among the last n labels; half where nothing is known."""
    label = np.array([-1, 1, 0, 1, 1], dtype=np.int8)
    assert frequency(label, np.array([3, 4]), 2).tolist() == [0.5, 1.0]
    assert frequency(label, np.array([0]), 3).tolist() == [0.5]


@pytest.mark.parametrize(
    ("texts", "version"),
    [
        (["", ""], [[0, 1] * 15]),  # no words
        (["a"], [[0] * 30]),  # one snapshot that stands
        (["a", "b"], [[0, 1] * 15]),  # changes all the time
        (["\x00\x01\ufffd", "%PDF-1.4 \x00"], [[0] * 15 + [1] * 15]),  # no text
    ],
)
def test_bad_pages_are_survived(texts: list[str], version: list[list[int]]) -> None:
    """Pages without words, without a second version, with a constant history or of bytes get an answer, not a crash."""
    snapshots = pages_of(texts, [*version, [0] * 30])
    council = Describer(snapshots, snapshots.changed(), Window()).council(0, np.array([1]))
    steps = judgeable(council, 10)
    assert len(steps) > 0
    said = decisions(council, steps, 10, 1.0)
    assert not np.isnan(said).any()


def test_a_page_that_comes_late_is_not_judged_early() -> None:
    """Steps before a page's birth are neither learnt from nor judged, and an absent expert has nothing to say."""
    snapshots = pages_of(["a", "b", "c"], [[-1] * 10 + [0, 1] * 10, [2] * 30, [-1] * 30])
    council = Describer(snapshots, snapshots.changed(), Window()).council(0, np.array([1, 2]))
    assert judgeable(council, 5).min() >= 10 + 5 + 2
    said = decisions(council, judgeable(council, 5), 5, 1.0)
    assert not np.isnan(said[:6]).any()
    assert (vote(np.array([[np.nan], [1.0]]), np.ones(2)) == 1.0).all()


def test_the_filter_of_section_7_1() -> None:
    """A page passes if its behaviour flips in 30% of the steps; where too few do, the filter is lowered and told."""
    changed = np.array([[0, 1, 0, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [0, 0, 0, 1, 1]], dtype=np.bool_)
    flips = behaviour_flips(changed, np.ones((4, 5), dtype=np.bool_))
    assert flips.tolist() == [1.0, 0.0, 0.0, 0.25]
    share, rows, passing = choose_pages(flips, ExpertsProtocol("x"))
    assert share == 0.0  # fewer than enough pages pass any
    assert rows.tolist() == [0, 3]
    assert passing[0.3] == 1
    assert passing[0.2] == 2
    with pytest.raises(InputError, match="nothing to predict"):
        choose_pages(np.zeros(3), ExpertsProtocol("x"))


def test_snapshots_of_a_recording() -> None:
    """A step shows the version that stands at its end; a page is absent before its birth and after its death."""
    made = tables(4, [[0.5, 2.5], [], []], born=[0.0, 1.5, 0.0], died=[np.nan, 3.5, np.nan])
    made["texts"] = {
        "page_id": np.array([0, 0, 0, 1]),
        "day": np.array([0.0, 0.5, 2.5, 1.5]),
        "text": np.array(["one", "one two", "three", "late"], dtype=np.object_),
    }
    recording = Recording.from_arrays(made)
    snapshots = snapshots_of(recording, 1.0)
    assert snapshots.pages.tolist() == [0, 1]
    assert snapshots.version.tolist() == [[0, 1, 1, 2, 2], [-1, -1, 3, 3, -1]]
    assert snapshots.changed().astype(int).tolist() == [[0, 1, 0, 1, 0], [0] * 5]
    assert snapshots.changed("significant", ChangeRule(test=False, rewritten=0.9))[0].tolist() == [0, 0, 0, 1, 0]
    with pytest.raises(InputError, match="longer than the window"):
        snapshots_of(recording, 9.0)
    with pytest.raises(InputError, match="any"):
        snapshots.changed("some")


def test_the_page_as_its_own_expert_is_the_single_expert() -> None:
    """Among the experts of a page the page itself decides exactly as the single expert (2D) does."""
    snapshots = snapshots_of(Recording.from_arrays(following_pages()))
    council = Describer(snapshots, snapshots.changed(), Window()).council(0, np.array([1]))
    steps = judgeable(council, 15)
    said = decisions(council, steps, 15, 1.0, ensembles=False)
    assert np.array_equal(said[4], said[SINGLE])


def test_the_interval_moves_the_label() -> None:
    """With sigma 3 the label lies three steps after the features, and no example's label lies after the present."""
    snapshots = snapshots_of(Recording.from_arrays(following_pages()))
    changed = snapshots.changed()
    council = Describer(snapshots, changed, Window(1, 3)).council(0, np.array([1]))
    steps = judgeable(council, 10)
    assert council.ahead == 3
    assert steps.max() + 3 <= snapshots.steps
    before = decisions(council, steps[:5], 10, 1.0, ensembles=False)
    changed = changed.copy()
    changed[:, int(steps[4]) + 1 :] ^= True  # another future
    other = Describer(snapshots, changed, Window(1, 3)).council(0, np.array([1]))
    np.testing.assert_array_equal(decisions(other, steps[:5], 10, 1.0, ensembles=False), before)
    beside = Describer(snapshots, changed, Window(), beside=True).council(0, np.array([1]))
    assert beside.numbers.shape[2] == 2 * Window().own + Window().related
