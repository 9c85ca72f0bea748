"""The base model: flat trees say what LightGBM's say, files that are none of ours are refused, the policy uses it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import lightgbm
import numpy as np
import pytest

from recrawl.cycle import EveryPage, run_cycle
from recrawl.errors import InputError
from recrawl.policies.catalogue import make_policy
from recrawl.policies.learned.base_model import NONE, SHIPPED, BaseModel, from_booster, read_base
from recrawl.policies.learned.belief import FEATURES
from recrawl.policies.learned.forest import Trees, plant
from recrawl.policies.learned.learned import Learned
from recrawl.policy import Setting
from recrawl.simulate.recorded import RecordedWorld
from support.small_recordings import recording

NAMES = ("t", "visits")


def stump() -> BaseModel:
    """One tree: t <= 3 gives -1 (NaN too); otherwise visits <= 2 gives 0.5 and more visits 2 (NaN too)."""
    return BaseModel(
        NAMES,
        roots=np.array([0], dtype=np.int32),
        feature=np.array([0, 1], dtype=np.int16),
        threshold=np.array([3.0, 2.0], dtype=np.float32),
        children=np.array([[~0, 1], [~1, ~2]], dtype=np.int32),
        missing=np.array([0, 1], dtype=np.uint8),
        leaf=np.array([-1.0, 0.5, 2.0], dtype=np.float32),
    )


def test_a_tree_is_walked_by_hand() -> None:
    """Each answer leads to the leaf that a person finds with a finger."""
    rows = np.array([[3, 9], [4, 2], [4, 3], [np.nan, 9], [4, np.nan]], dtype=np.float32)
    assert stump().offset(rows).tolist() == [-1.0, 0.5, 2.0, -1.0, 2.0]


def test_the_offset_is_added_to_the_log_odds() -> None:
    """A prior of 1/2 and an offset of 2 in log-odds: 1 / (1 + exp(-2))."""
    got = stump().corrected(np.array([[4, 3]], dtype=np.float32), np.array([0.5]))
    assert got[0] == pytest.approx(1.0 / (1.0 + np.exp(-2.0)))


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_flat_trees_say_what_lightgbm_says(holes: float) -> None:
    """Rows with and without NaN, also at the thresholds themselves, as drawn values recur."""
    draw = np.random.default_rng(5)
    rows = (draw.integers(-8, 9, (4000, 5)) / 3).astype(np.float32)
    rows[draw.random(rows.shape) < holes] = np.nan
    y = (np.nan_to_num(rows[:, 0]) + draw.normal(0, 1, 4000) > 0.5).astype(np.float32)
    settings = {"objective": "binary", "num_leaves": 15, "verbosity": -1, "num_threads": 1, "seed": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(rows, y), 20)
    said = np.asarray(booster.predict(rows, raw_score=True))
    assert plant(**vars(Trees.of(booster))).total(rows).tobytes() == said.tobytes()
    assert np.abs(from_booster(booster, tuple("abcde")).offset(rows) - said).max() < 1e-5  # its leaves are single


def test_a_forest_takes_trees_of_one_leaf_and_no_rows() -> None:
    """A tree without a question adds its leaf to every row; 32 leaves fit, 33 do not."""
    alone = plant([~0, ~1], [], [], [], [], [0.5, 0.25])
    assert alone.total(np.zeros((3, 2), dtype=np.float32)).tolist() == [0.75] * 3
    assert len(alone.total(np.zeros((0, 2), dtype=np.float32))) == 0
    for leaves in (32, 33):
        children = [[~i, i + 1] for i in range(leaves - 2)] + [[~(leaves - 2), ~(leaves - 1)]]
        chain = [0], [0] * (leaves - 1), list(range(leaves - 1)), children, [0] * (leaves - 1), list(range(leaves))
        rows = np.arange(leaves, dtype=np.float32)[:, None]
        if leaves == 32:
            assert plant(*chain).total(rows).tolist() == list(range(32))
        else:
            with pytest.raises(ValueError, match="32 leaves"):
                plant(*chain)


def test_a_model_comes_back_from_its_file(tmp_path: Path) -> None:
    """Saved and read, it says the same; and the same model gives the same bytes."""
    stump().save(tmp_path / "a.npz")
    stump().save(tmp_path / "b.npz")
    rows = np.array([[4, 3]], dtype=np.float32)
    read = read_base(str(tmp_path / "a.npz"), NAMES)
    assert read is not None
    assert read.offset(rows) == stump().offset(rows)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_files_that_are_no_base_model_are_refused_in_one_line(tmp_path: Path) -> None:
    """Missing, garbage, another archive, other features, trees that lead nowhere or in circles."""
    (tmp_path / "garbage.npz").write_bytes(b"PK\x03\x04 nothing")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    stump().save(tmp_path / "features.npz")
    replace(stump(), children=np.array([[~0, 1], [~1, ~9]], dtype=np.int32)).save(tmp_path / "leaf.npz")
    replace(stump(), children=np.array([[~0, 1], [~1, 0]], dtype=np.int32)).save(tmp_path / "circle.npz")
    for name in ("missing.npz", "garbage.npz", "other.npz", "features.npz", "leaf.npz", "circle.npz"):
        with pytest.raises(InputError) as error:
            make_policy(f"learned(base={tmp_path / name})", Setting())
        assert "base model" in str(error.value)
        assert "\n" not in str(error.value)


def test_the_shipped_model_fits_this_version() -> None:
    """It has this version's features, and trees; `none` leaves it out."""
    model = read_base(SHIPPED, FEATURES)
    assert model is not None
    assert len(model.roots) >= 100
    assert read_base(NONE, FEATURES) is None
    with_base, without = (make_policy(spec, Setting()) for spec in ("learned", "learned(base=none)"))
    assert isinstance(with_base, Learned)
    assert isinstance(without, Learned)
    assert with_base.belief.base is model
    assert without.belief.base is None


def test_a_base_model_that_is_wrong_here_loses_its_weight(tmp_path: Path) -> None:
    """A third of the pages changes daily: a model that takes those last found changed for still ones is given up."""
    draw = np.random.default_rng(2)
    changes = [np.sort(draw.uniform(0, 12, 24 if page % 3 == 0 else 1)).tolist() for page in range(300)]
    weight = {}
    for name, sign in (("right", 1.0), ("wrong", -1.0)):
        BaseModel(
            FEATURES,
            roots=np.array([0], dtype=np.int32),
            feature=np.array([FEATURES.index("last_changed")], dtype=np.int16),
            threshold=np.array([0.5], dtype=np.float32),
            children=np.array([[~0, ~1]], dtype=np.int32),
            missing=np.array([0], dtype=np.uint8),
            leaf=np.array([-sign, sign], dtype=np.float32),
        ).save(tmp_path / f"{name}.npz")
        policy = make_policy(f"learned(base={tmp_path / name}.npz)", Setting(seed=1))
        assert isinstance(policy, Learned)
        world = RecordedWorld(recording(12.0, changes))
        memory = world.memory(cycle_days=1.0, seed=1)
        for day in range(1, 9):
            run_cycle(world, memory, EveryPage(policy) if day < 4 else policy, 300 if day < 4 else 30, float(day))
        weight[name] = policy.belief.base_weight.trust
    assert weight["wrong"] < 0.2 < 0.4 < weight["right"]
