"""The base model: what many sites taught about how pages change, before this crawl has seen anything of its own.

A crawl begins with two visits per page and must still choose. How far a change next door, a long silence or a long text
speak for a change is much the same on all sites, so it is learnt beforehand: gradient-boosted trees were trained on
crawls of public sites and of synthetic webs (benchmarks/pretrain.py), with the features and the prior of this policy
as they stood at the time, and with the true answer for pages that the crawl did not visit, too. They add to the
log-odds of the prior:

    logit p1 = logit p0 + v base(features)

v, between 0 and 1, is fitted to the outcomes of the crawl's visits as the weight of its own trees is (calibration.py),
the warm-up's among them: where pages change otherwise than on the sites that taught it, the model bows out. The trees
of the crawl itself (hazard.py) start from p1. The file holds the trees as flat arrays; scoring (forest.py)
needs no LightGBM.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.errors import InputError
from recrawl.policies.learned.calibration import logit, sigmoid
from recrawl.policies.learned.forest import Forest, Rows, Trees, plant, rounded_down

if TYPE_CHECKING:
    import lightgbm

SHIPPED = "shipped"  # the model that comes with the package
NONE = "none"
_FILE = "base_model.npz"


@dataclass(frozen=True, eq=False)
class BaseModel:
    """Trees as arrays, see `Trees` in forest.py, and the names of their features."""

    names: tuple[str, ...]  # in the order of the columns
    roots: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int16]
    threshold: npt.NDArray[np.float32]
    children: npt.NDArray[np.int32]  # nodes x 2
    missing: npt.NDArray[np.uint8]
    leaf: npt.NDArray[np.float32]

    def corrected(self, rows: Rows, prior: FloatArray, weight: float = 1.0) -> FloatArray:
        """Return p1 for each row of features and its prior p0; `weight` is v."""
        return sigmoid(logit(prior) + weight * self.offset(rows))

    def offset(self, rows: Rows) -> FloatArray:
        """Return what the trees add to the log-odds."""
        return self.forest.total(rows)

    @cached_property
    def forest(self) -> Forest:
        """The trees in the form that is fast to score by."""
        arrays = self.roots, self.feature, self.threshold, self.children, self.missing, self.leaf
        return plant(*(array.tolist() for array in arrays))

    def save(self, path: Path) -> None:
        """Write the model to a file, the same bytes for the same model."""
        parts: dict[str, Any] = {name: np.asarray(getattr(self, name)) for name in self.__dataclass_fields__}
        np.savez_compressed(path, **parts)


def read_base(path: str, names: tuple[str, ...]) -> BaseModel | None:
    """Read the shipped model, none, or one of a file; its features must be these."""
    if path == NONE:
        return None
    model = _shipped() if path == SHIPPED else _read(Path(path))
    if model.names != names:
        raise InputError(f"the base model {path} was made for other features than this version has; make it anew")
    return model


@cache
def _shipped() -> BaseModel:
    with as_file(files(__package__) / _FILE) as path:
        return _read(path)


def _read(path: Path) -> BaseModel:
    try:
        with np.load(path) as kept:
            parts = {name: kept[name] for name in BaseModel.__dataclass_fields__}
    except OSError as error:
        raise InputError(f"cannot read the base model {path}: {error.strerror or error}") from None
    except (ValueError, KeyError, EOFError, BadZipFile):
        raise InputError(f"{path} is no base model: make one with `python -m benchmarks.pretrain`") from None
    model = BaseModel(names=tuple(str(name) for name in parts.pop("names")), **parts)
    try:
        _ = model.forest  # made here, so that trees that cannot be scored are refused before a crawl begins
    except (ValueError, IndexError, RecursionError) as error:
        raise InputError(f"the trees of the base model {path} cannot be used: {error}") from None
    return model


def from_booster(booster: lightgbm.Booster, names: tuple[str, ...]) -> BaseModel:
    """Take trained trees."""
    trees = Trees.of(booster)
    return BaseModel(
        names,
        np.array(trees.roots, dtype=np.int32),
        np.array(trees.feature, dtype=np.int16),
        rounded_down(np.array(trees.threshold)),
        np.array(trees.children, dtype=np.int32).reshape(-1, 2),
        np.array(trees.missing, dtype=np.uint8),
        np.array(trees.leaf, dtype=np.float32),
    )
