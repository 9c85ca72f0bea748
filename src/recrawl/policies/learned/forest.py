"""Scoring by many small trees at once: each tree is a mask of leaves, and each answered question rules leaves out.

Walking a tree costs a mispredicted branch per level. Here all questions "is x above h?" of a feature are asked in the
order of h, for a block of rows at once, until none of the rows is above: a question that is answered yes removes the
leaves on its other side from the mask of its tree, and the first leaf that is left in the end is the one that a walk
reaches (QuickScorer, Lucchese et al. 2015; by blocks of rows, Ye et al. 2018). The sums are those of a walk, in the
same order, to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recrawl.columns import FloatArray
from recrawl.compiled import kernel

if TYPE_CHECKING:
    import lightgbm

MOST_LEAVES = 32  # of a tree: the bits of a mask
BLOCK = 256  # rows scored at once
_ALL = np.uint32(0xFFFFFFFF)
_DE_BRUIJN = np.uint32(0x077CB531)  # times 2^i, its highest five bits differ for every i
_SHIFT = np.uint32(27)

Rows = npt.NDArray[np.float32]


@dataclass
class Trees:
    """Trees as arrays: node i asks whether rows[:, feature[i]] <= threshold[i]; a child below 0 is the leaf ~child."""

    roots: list[int] = field(default_factory=list)  # the first node of each tree; below 0 a tree that is one leaf
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)  # where the answer is yes, and where it is no
    missing: list[int] = field(default_factory=list)  # the child that NaN goes to
    leaf: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, booster: lightgbm.Booster) -> Trees:
        """Flatten LightGBM's trees."""
        trees = cls()
        for tree in booster.dump_model()["tree_info"]:
            trees.roots.append(trees._add(tree["tree_structure"]))
        return trees

    def _add(self, node: dict[str, Any]) -> int:
        if "leaf_value" in node:
            self.leaf.append(float(node["leaf_value"]))
            return ~(len(self.leaf) - 1)
        at, threshold = len(self.feature), float(node["threshold"])
        self.feature.append(int(node["split_feature"]))
        self.threshold.append(threshold)
        self.children.append([0, 0])
        # without NaN in training, NaN is taken as 0 (LightGBM's missing type None)
        left = node["default_left"] if node["missing_type"] == "NaN" else threshold >= 0.0
        self.missing.append(0 if left else 1)
        self.children[at] = [self._add(node["left_child"]), self._add(node["right_child"])]
        return at


@dataclass(frozen=True, eq=False)
class Forest:
    """The questions of all trees by feature, by where NaN goes, and by threshold; and the values of the leaves."""

    first: npt.NDArray[np.int32]  # of the questions about feature f, NaN counting as below (2 f) or above (2 f + 1)
    threshold: npt.NDArray[np.float32]
    tree: npt.NDArray[np.int32]
    mask: npt.NDArray[np.uint32]  # the leaves that are left where a value is above the threshold
    values: FloatArray  # trees x MOST_LEAVES, in the order of the leaves' hashes

    def total(self, rows: Rows) -> FloatArray:
        """Return the sum of the trees for each row."""
        return np.asarray(_score(rows, self.first, self.threshold, self.tree, self.mask, self.values))


def plant(
    roots: Sequence[int],
    feature: Sequence[int],
    threshold: Sequence[float],
    children: Sequence[Sequence[int]],
    missing: Sequence[int],
    leaf: Sequence[float],
) -> Forest:
    """Make a forest of trees given as arrays, see `Trees`; a tree may have MOST_LEAVES leaves."""
    questions: list[tuple[int, float, int, int]] = []  # feature and side of NaN, threshold, tree, mask
    values = np.zeros((len(roots), MOST_LEAVES))

    def add(node: int, tree: int, before: int) -> int:
        """Number the leaves below a node from left to right; return how many there are now."""
        if node < 0:
            if before == MOST_LEAVES:
                raise ValueError(f"a tree has more than {MOST_LEAVES} leaves")
            values[tree, _slot(before)] = leaf[~node]
            return before + 1
        middle = add(children[node][0], tree, before)
        below = (1 << middle) - (1 << before)
        questions.append((2 * feature[node] + missing[node], threshold[node], tree, int(_ALL) ^ below))
        return add(children[node][1], tree, middle)

    for tree, root in enumerate(roots):
        add(root, tree, 0)
    questions.sort()
    asked, levels, trees, masks = ([question[k] for question in questions] for k in range(4))
    sides = np.arange(max(asked, default=-1) // 2 * 2 + 3)
    return Forest(
        np.searchsorted(asked, sides).astype(np.int32),
        rounded_down(np.array(levels)),
        np.array(trees, dtype=np.int32),
        np.array(masks, dtype=np.uint32),
        values,
    )


def rounded_down(threshold: FloatArray) -> npt.NDArray[np.float32]:
    """Return the largest single-precision numbers that are not above: they divide the rows, single too, as before."""
    with np.errstate(over="ignore"):  # a threshold beyond all numbers, which only NaN is sent around
        rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def _slot(leaf: int) -> int:
    """Return where the value of a leaf stands: the hash of its bit."""
    return ((1 << leaf) * int(_DE_BRUIJN) & int(_ALL)) >> int(_SHIFT)


@kernel
def _score(
    rows: Rows,
    first: npt.NDArray[np.int32],
    threshold: npt.NDArray[np.float32],
    tree: npt.NDArray[np.int32],
    mask: npt.NDArray[np.uint32],
    values: FloatArray,
) -> FloatArray:
    out = np.zeros(len(rows))
    left = np.empty((len(values), BLOCK), dtype=np.uint32)
    x = np.empty(BLOCK, dtype=np.float32)
    total = np.empty(BLOCK)
    for start in range(0, len(rows), BLOCK):
        size = min(BLOCK, len(rows) - start)
        left[:] = _ALL
        for side in range(len(first) - 1):
            begin, end = first[side], first[side + 1]
            if begin == end:
                continue
            nan = np.float32(np.inf) if side % 2 else np.float32(-np.inf)
            top = np.float32(-np.inf)
            for i in range(BLOCK):
                value = rows[start + i, side // 2] if i < size else np.float32(-np.inf)
                if np.isnan(value):
                    value = nan
                x[i] = value
                top = max(top, value)
            for k in range(begin, end):
                level, mine, kept = threshold[k], left[tree[k]], mask[k]
                if top <= level:
                    break
                for i in range(BLOCK):
                    mine[i] &= kept if x[i] > level else _ALL
        total[:] = 0.0
        for k in range(len(values)):
            mine, worth = left[k], values[k]
            for i in range(BLOCK):
                lowest = mine[i] & (~mine[i] + np.uint32(1))
                total[i] += worth[np.uint32(lowest * _DE_BRUIJN) >> _SHIFT]
        out[start : start + size] = total[:size]
    return out
