"""The base model: what many sites taught about how pages change, before this crawl has seen anything of its own.

A crawl begins with two visits per page and must still choose. How far a change next door, a long silence or a long text
speak for a change is much the same on all sites, so it is learnt beforehand: gradient-boosted trees were trained on
crawls of public sites and of synthetic webs (benchmarks/pretrain.py), with the features and the prior of this policy
as they stood at the time, and with the true answer for pages that the crawl did not visit, too. They add to the
log-odds of the prior:

    logit p1 = logit p0 + base(features)

The trees of the crawl itself (hazard.py) start from p1. The file holds the trees as flat arrays, which a kernel walks:
scoring needs no LightGBM.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.compiled import kernel
from recrawl.errors import InputError
from recrawl.policies.learned.calibration import logit, sigmoid

if TYPE_CHECKING:
    import lightgbm

SHIPPED = "shipped"  # the model that comes with the package
NONE = "none"
_FILE = "base_model.npz"

Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class BaseModel:
    """Trees as arrays: node i asks whether rows[:, feature[i]] <= threshold[i]; a child below 0 is the leaf ~child."""

    names: tuple[str, ...]  # of the features, in the order of the columns
    roots: npt.NDArray[np.int32]  # the first node of each tree; below 0 a tree that is one leaf
    feature: npt.NDArray[np.int16]
    threshold: npt.NDArray[np.float32]
    children: npt.NDArray[np.int32]  # nodes x 2: where the answer is yes, and where it is no
    missing: npt.NDArray[np.uint8]  # the child that NaN goes to
    leaf: npt.NDArray[np.float32]

    def corrected(self, rows: Rows, prior: FloatArray) -> FloatArray:
        """Return p1 for each row of features and its prior p0."""
        return sigmoid(logit(prior) + self.offset(rows))

    def offset(self, rows: Rows) -> FloatArray:
        """Return what the trees add to the log-odds."""
        arrays = self.roots, self.feature, self.threshold, self.children, self.missing, self.leaf
        return np.asarray(_walk(rows, *arrays))

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
    return BaseModel(names=tuple(str(name) for name in parts.pop("names")), **parts)


def from_booster(booster: lightgbm.Booster, names: tuple[str, ...]) -> BaseModel:
    """Flatten trained trees."""
    roots: list[int] = []
    feature: list[int] = []
    threshold: list[float] = []
    children: list[list[int]] = []
    missing: list[int] = []
    leaf: list[float] = []

    def add(node: dict[str, Any]) -> int:
        if "leaf_value" in node:
            leaf.append(float(node["leaf_value"]))
            return ~(len(leaf) - 1)
        at = len(feature)
        feature.append(int(node["split_feature"]))
        threshold.append(float(node["threshold"]))
        children.append([0, 0])
        # without NaN in training, NaN is taken as 0 (LightGBM's missing type None)
        left = node["default_left"] if node["missing_type"] == "NaN" else threshold[at] >= 0.0
        missing.append(0 if left else 1)
        children[at] = [add(node["left_child"]), add(node["right_child"])]
        return at

    for tree in booster.dump_model()["tree_info"]:
        roots.append(add(tree["tree_structure"]))
    return BaseModel(
        names,
        np.array(roots, dtype=np.int32),
        np.array(feature, dtype=np.int16),
        _rounded_down(np.array(threshold)),
        np.array(children, dtype=np.int32).reshape(-1, 2),
        np.array(missing, dtype=np.uint8),
        np.array(leaf, dtype=np.float32),
    )


def _rounded_down(threshold: FloatArray) -> npt.NDArray[np.float32]:
    """Return the largest single-precision numbers that are not above: they divide the rows, single too, as before."""
    with np.errstate(over="ignore"):  # a threshold beyond all numbers, which only NaN is sent around
        rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)


@kernel
def _walk(
    rows: Rows,
    roots: npt.NDArray[np.int32],
    feature: npt.NDArray[np.int16],
    threshold: npt.NDArray[np.float32],
    children: npt.NDArray[np.int32],
    missing: npt.NDArray[np.uint8],
    leaf: npt.NDArray[np.float32],
) -> FloatArray:
    out = np.zeros(len(rows))
    for i in range(len(rows)):
        total = 0.0
        for root in roots:
            node = root
            while node >= 0:
                x = rows[i, feature[node]]
                if np.isnan(x):
                    node = children[node, missing[node]]
                elif x <= threshold[node]:
                    node = children[node, 0]
                else:
                    node = children[node, 1]
            total += leaf[~node]
        out[i] = total
    return out
