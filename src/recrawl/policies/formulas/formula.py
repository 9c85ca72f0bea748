"""Score formulas as policies: saved as JSON, checked when loaded, evaluated over a memory.

    {"format": "recrawl-formula", "version": 1, "text": "t * CG**2.72",
     "terminals": "all", "over": "visits", "form": "rate", "depth": 3, "hash": "...",
     "nodes": [{"function": "*", "arguments": [1, 2]}, {"terminal": "t"},
               {"function": "pow", "arguments": [3, 4]}, {"terminal": "CG"}, {"constant": 2.72}],
     "about": {...}}

The first node is the root. `text` is for people; `form` says whether the estimators are rates or chances (a file
without it: chances); `hash` is of the tree and may be left out by who writes a formula by hand; `about` says where the
formula comes from, and is not used.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from recrawl.columns import FloatArray, IntArray
from recrawl.errors import InputError
from recrawl.memory import Memory
from recrawl.policies.formulas.closure import MAX_DEPTH, new_stack, run
from recrawl.policies.formulas.expression import Expression, Tree
from recrawl.policies.formulas.published import NAMED
from recrawl.policies.formulas.terminals import FORMS, OVER, SETS, columns, directories
from recrawl.policies.topk import TopK
from recrawl.policy import Policy, Setting, policies

FORMAT, VERSION = "recrawl-formula", 1
MAX_NODES = 10_000


@dataclass(frozen=True)
class Formula:
    """An expression, what its estimators' weights run over, and whether they are rates or chances."""

    expression: Expression
    over: str = "visits"
    about: dict[str, Any] = field(default_factory=dict, compare=False)
    form: str = "chance"

    @property
    def terminals(self) -> str:
        """The smallest set that has all terminals of the formula."""
        return next(name for name, terminals in SETS.items() if set(self.expression.terminals) <= set(terminals))

    def __str__(self) -> str:
        return str(self.expression)

    def to_json(self) -> str:
        """Return the formula as JSON."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "text": str(self),
            "terminals": self.terminals,
            "over": self.over,
            "form": self.form,
            "depth": self.expression.depth,
            "hash": self.expression.digest,
            "nodes": _nodes(self.expression.tree),
            "about": self.about,
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


class FormulaScorer:
    """Scores pages by a formula."""

    def __init__(self, formula: Formula, directory: IntArray | None = None) -> None:
        """Score by this formula; `directory` saves computing the pages' directories again."""
        self.formula = formula
        self._stack = new_stack()
        self._directory: IntArray = np.empty(0, dtype=np.int64) if directory is None else directory

    def score(self, memory: Memory, at: float) -> FloatArray:
        """Evaluate the formula for every page."""
        used = self.formula.expression.terminals
        if "dir" in used and len(self._directory) != len(memory):
            self._directory = directories(memory)
        rows = columns(memory, used, at, self.formula.over, self._directory, self.formula.form)
        return evaluate(self.formula.expression, rows, self._stack)


def evaluate(expression: Expression, rows: FloatArray, stack: FloatArray | None = None) -> FloatArray:
    """Evaluate an expression over the terminals' columns, one line each."""
    out = np.empty(rows.shape[1])
    room = new_stack() if stack is None else stack
    run(expression.code, expression.value, len(expression), rows, rows.shape[1], room, out)
    return out


def load_formula(name: str | Path, form: str = "") -> Formula:
    """Load a formula from a file, or one of the paper's by its name.

    `form` (rate or chance) replaces what the file says; the paper's formulas are taken with rates, as they were bred.
    """
    if str(name) in NAMED:
        about = {"name": str(name), "source": "Santos et al. 2014"}
        return Formula(Expression.of(NAMED[str(name)]), about=about, form=form or "rate")
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"{path} is no file, nor one of the formulas {', '.join(list(NAMED)[:5])}, ... (Table 4: all-ndcg-1)"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'not a text file'}") from None
    try:
        found = parse_formula(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return replace(found, form=form) if form else found


def parse_formula(text: str) -> Formula:
    """Read and check a formula's JSON; InputError says in one line what is wrong."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("not a JSON file") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"not a formula: 'format' must be {FORMAT!r}")
    if content.get("version") != VERSION:
        raise InputError(
            f"version {content.get('version')!r} of the formula format is not known; this is version {VERSION}"
        )
    over = content.get("over", "visits")
    if over not in OVER:
        raise InputError(f"'over' must be one of {', '.join(OVER)}, not {over!r}")
    form = content.get("form", "chance")
    if form not in FORMS:
        raise InputError(f"'form' must be one of {', '.join(FORMS)}, not {form!r}")
    expression = Expression.of(_tree(content.get("nodes")))
    if content.get("hash", expression.digest) != expression.digest:
        raise InputError("the hash does not fit the nodes: the file is damaged (or edited: then leave out 'hash')")
    about = content.get("about", {})
    return Formula(expression, over, about if isinstance(about, dict) else {}, form)


def _nodes(tree: Tree) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = [{}]
    todo = [(0, tree)]
    for at, node in todo:  # breadth first: `todo` grows while it is read
        if isinstance(node, tuple):
            arguments = list(range(len(nodes), len(nodes) + len(node) - 1))
            nodes[at] = {"function": node[0], "arguments": arguments}
            todo += zip(arguments, node[1:], strict=True)
            nodes += [{} for _ in arguments]
        else:
            nodes[at] = {"terminal": node} if isinstance(node, str) else {"constant": node}
    return nodes


def _tree(nodes: object) -> Tree:
    """Build the tree of a list of nodes; each must be used exactly once."""
    if not isinstance(nodes, list) or not nodes:
        raise InputError("'nodes' must be a list with at least one node")
    if len(nodes) > MAX_NODES:
        raise InputError(f"{len(nodes)} nodes are more than the {MAX_NODES} allowed")
    depth = {0: 1}
    order = [0]
    for at in order:
        for argument in _arguments(nodes, at):
            if argument in depth:
                raise InputError(f"node {argument} is used twice: the formula is cyclic, or not a tree")
            depth[argument] = depth[at] + 1
            order.append(argument)
        if depth[at] > MAX_DEPTH:
            raise InputError(f"the formula is more than {MAX_DEPTH} levels deep")
    if len(order) < len(nodes):
        raise InputError(f"node {min(set(range(len(nodes))) - set(order))} does not belong to the formula")
    built: dict[int, Tree] = {}
    for at in reversed(order):
        arguments = _arguments(nodes, at)
        built[at] = (nodes[at]["function"], *(built[a] for a in arguments)) if arguments else _leaf(nodes[at], at)
    return built[0]


def _arguments(nodes: list[Any], at: int) -> list[int]:
    node = nodes[at]
    kinds = [kind for kind in ("function", "terminal", "constant") if isinstance(node, dict) and kind in node]
    if len(kinds) != 1:
        raise InputError(f"node {at} must have one of 'function', 'terminal' and 'constant'")
    if kinds[0] != "function":
        return []
    arguments = node.get("arguments")
    whole = isinstance(arguments, list) and arguments and all(type(a) is int for a in arguments)
    if not whole or not all(0 <= a < len(nodes) for a in arguments):
        raise InputError(f"node {at}: 'arguments' must be numbers of nodes")
    return list(arguments)


def _leaf(node: dict[str, Any], at: int) -> Tree:
    if "terminal" in node:
        if not isinstance(node["terminal"], str):
            raise InputError(f"node {at}: unknown terminal {node['terminal']!r}")
        return node["terminal"]
    value = node["constant"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError(f"node {at}: a constant must be a number, not {value!r}")
    return float(value)


def formula_policy(formula: Formula, directory: IntArray | None = None) -> Policy:
    """Visit the pages with the highest values of the formula: `gp:best.json`, or `gp:t-cg` for one of the paper's.

    A formula's values have no zero (a constant added changes nothing), so importance does not multiply them; a
    formula that should heed it has it as a terminal.
    """
    return TopK(FormulaScorer(formula, directory), weighted=False)


@policies.add("gp", formula="an evolved formula, gp:FILE or gp:NAME", source="Santos 2014 §4")
def _gp(setting: Setting, formula: str, form: Literal["saved", "rate", "chance"] = "saved") -> Policy:
    return formula_policy(load_formula(formula, "" if form == "saved" else form))
