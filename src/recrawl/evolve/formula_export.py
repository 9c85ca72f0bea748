"""Evolved formulas for other programs: a Python function, and SQL for someone's database.

Both read columns that any crawler can keep: n, X, t, last (1 if the last visit found a change), rank_sum and
rank_decay. At the i-th visit rank_decay is halved; if the visit found a change, rank_sum grows by i and rank_decay
by 1/2. If the weights run over all cycles, there are cycle (the number of the open one), cycle_sum and cycle_decay
instead. At a visit in cycle c after one in cycle b, cycle_decay is divided by 2**(c-b); if the visit found a change,
cycle_sum grows by c and cycle_decay by 1/2. Other terminals are columns of their own names.

Protections (see policies/formulas/closure.py) appear only where the bounds of the arguments do not rule out the need.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from sqlite3 import Connection

from recrawl.errors import InputError
from recrawl.evolve.bounds import bounds
from recrawl.policies.formulas.closure import CUT, EXP_CUT
from recrawl.policies.formulas.expression import Tree
from recrawl.policies.formulas.formula import Formula

DIALECTS = ("sqlite", "postgresql")

_RATES = {
    "visits": {
        "CG": "-ln((n - X + 0.5) / (n + 0.5))",
        "NAD": "1.0 * X / max(n, 1)",
        "SAD": "1.0 * last",
        "AAD": "2.0 * rank_sum / max(n * (n + 1), 1)",
        "GAD": "rank_decay / (1.0 - pow(0.5, max(n, 1)))",
    },
    "cycles": {
        "CG": "-ln((n - X + 0.5) / (n + 0.5))",
        "NAD": "1.0 * X / max(cycle - 1, 1)",
        "SAD": "1.0 * last * (t = 1)",
        "AAD": "cycle_sum * (2.0 / max((cycle - 1) * cycle, 2))",
        "GAD": "cycle_decay * pow(0.5, t - 1) / (1.0 - pow(0.5, max(cycle - 1, 1)))",
    },
}


@dataclass(frozen=True)
class Language:
    """How a language writes the functions; `{0}` and `{1}` are the arguments."""

    power: str
    safe_power: str
    divide: str
    safe_divide: str
    log: str
    safe_log: str
    exp: str
    safe_exp: str
    cut: str
    real: str  # makes a division of whole numbers one of real numbers


PYTHON = Language(
    power="{0}**{1}",
    safe_power="power({0}, {1})",
    divide="{0} / {1}",
    safe_divide="divide({0}, {1})",
    log="math.log({0})",
    safe_log="log({0})",
    exp="math.exp({0})",
    safe_exp=f"math.exp(min({{0}}, {EXP_CUT}))",
    cut=f"max(min({{0}}, {CUT!r}), {-CUT!r})",
    real="{0}",
)
SQLITE = Language(
    power="pow({0}, {1})",
    safe_power="coalesce(pow(nullif({0}, 0), {1}), 0)",
    divide="{0} / {1}",
    safe_divide="coalesce({0} / nullif({1}, 0), 0)",
    log="ln({0})",
    safe_log="coalesce(ln(nullif(max({0}, 0), 0)), 0)",
    exp="exp({0})",
    safe_exp=f"exp(min({{0}}, {EXP_CUT}))",
    cut=f"max(min({{0}}, {CUT!r}), {-CUT!r})",
    real="1.0 * {0}",
)
POSTGRESQL = replace(
    SQLITE,
    power="power({0}, {1})",
    safe_power="coalesce(power(nullif({0}, 0), {1}), 0)",
    safe_log="coalesce(ln(nullif(greatest({0}, 0), 0)), 0)",
    safe_exp=f"exp(least({{0}}, {EXP_CUT}))",
    cut=f"greatest(least({{0}}, {CUT!r}), {-CUT!r})",
)

_HELPERS = {
    "divide(": '''def divide(a, b):
    """a / b; 0 where b is 0."""
    return a / b if b else 0.0
''',
    "log(": '''def log(a):
    """Natural logarithm; 0 for arguments that are not positive."""
    return math.log(a) if a > 0 else 0.0
''',
    "power(": f'''def power(a, b):
    """a to the power of b; 0 for a = 0 and where it is no real number."""
    if a == 0 or (a < 0 and b != math.floor(b)):
        return 0.0
    try:
        return math.pow(a, b)
    except OverflowError:
        return -{CUT!r} if a < 0 and b % 2 else {CUT!r}
''',
}


def to_python(formula: Formula, name: str = "score") -> str:
    """Write the formula as a Python module with one function."""
    expression = write(formula.expression.tree, PYTHON)
    helpers = "".join(f"\n\n{text}" for word, text in _HELPERS.items() if _calls(expression, word))
    read = columns_of(formula)
    lines = [f"    {column} = float({column})" for column in read]
    for terminal, rate in _RATES[formula.over].items():
        if terminal in formula.expression.terminals:
            shown = f"-math.expm1(-({_python(rate)}) * t)" if formula.form == "chance" else _python(rate)
            lines.append(f"    {terminal} = {shown}")
    body = "\n".join([*lines, f"    return {expression}"])
    return f'import math\n{helpers}\n\ndef {name}({", ".join(read)}):\n    """{formula}."""\n{body}\n'


def _calls(expression: str, word: str) -> bool:
    at = expression.find(word)
    while at >= 0:
        if at == 0 or not (expression[at - 1].isalnum() or expression[at - 1] in "._"):
            return True
        at = expression.find(word, at + 1)
    return False


def _python(rate: str) -> str:
    return rate.replace("ln(", "math.log(").replace("t = 1", "t == 1")


def columns_of(formula: Formula) -> list[str]:
    """The columns that the exported formula reads."""
    needs = {
        "visits": {"CG": "n X t", "NAD": "n X t", "SAD": "last t", "AAD": "n t rank_sum", "GAD": "n t rank_decay"},
        "cycles": {
            "CG": "n X t",
            "NAD": "X t cycle",
            "SAD": "last t",
            "AAD": "t cycle cycle_sum",
            "GAD": "t cycle cycle_decay",
        },
    }[formula.over]
    if formula.form == "rate" and formula.over == "visits":  # a rate does not depend on the wait
        needs = {name: used.replace(" t", "") for name, used in needs.items()}
    found = dict.fromkeys(c for used in formula.expression.terminals for c in needs.get(used, used).split())
    return list(found)


def to_sql(formula: Formula, *, table: str = "pages", dialect: str = "sqlite", exact: bool = False) -> str:
    """Write a query that gives every row of a table its score, best first.

    SQL has no expm1, so the estimators are written 1 - exp(-x): worths that differ in their last digits only may come
    in another order. `exact` calls expm1 instead: see `add_functions`.
    """
    if dialect not in DIALECTS:
        raise InputError(f"unknown dialect {dialect!r}; there are {', '.join(DIALECTS)}")
    expression = sql_expression(formula, dialect=dialect)
    rates = [u for u in formula.expression.terminals if u in _RATES["visits"]]
    if not rates:
        return f"SELECT *, {expression} AS score\nFROM {table}\nORDER BY score DESC"
    shape = "{0}" if formula.form == "rate" else "-expm1(-({0}) * t)" if exact else "1.0 - exp(-({0}) * t)"
    defined = [f"{shape.format(_sql(_RATES[formula.over][u], dialect))} AS {u}" for u in rates]
    inner = "SELECT *,\n    " + ",\n    ".join(defined) + f"\n  FROM {table}"
    return f"SELECT *, {expression} AS score\nFROM (\n  {inner}\n) AS states\nORDER BY score DESC"


def sql_expression(formula: Formula, *, dialect: str = "sqlite") -> str:
    """Write the formula as an SQL expression over its terminals."""
    return write(formula.expression.tree, SQLITE if dialect == "sqlite" else POSTGRESQL)


def _sql(rate: str, dialect: str) -> str:
    if dialect == "sqlite":
        return rate
    return rate.replace("max(", "greatest(").replace("pow(", "power(").replace("(t = 1)", "(t = 1)::int")


def add_functions(connection: Connection) -> None:
    """Give an SQLite connection the functions that not every build has: exp, ln, pow and, for exact ranks, expm1."""
    made: dict[str, tuple[int, Callable[..., float]]] = {
        "exp": (1, math.exp),
        "ln": (1, math.log),
        "pow": (2, _power),
        "expm1": (1, math.expm1),
    }
    for name, (arguments, function) in made.items():
        connection.create_function(name, arguments, _nullable(function), deterministic=True)


def _power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 else math.inf


def _nullable(function: Callable[..., float]) -> Callable[..., float | None]:
    """Return NULL for NULL and where the function is undefined, as SQLite's own functions do."""

    def call(*arguments: float | None) -> float | None:
        if any(a is None for a in arguments):
            return None
        try:
            return function(*arguments)
        except OverflowError:
            return math.inf
        except ValueError:
            return None

    return call


# -- writing trees --------------------------------------------------------------------------------------------------


def write(tree: Tree, language: Language) -> str:
    """Write a tree as an expression."""
    return _write(tree, language)[0]


def _write(tree: Tree, language: Language) -> tuple[str, int]:
    """Text, and how tightly it binds: 1 sums, 2 products, 4 powers, 9 all else."""
    if isinstance(tree, str):
        return tree, 9
    if not isinstance(tree, tuple):
        return (repr(float(tree)), 9) if tree >= 0 else (f"({float(tree)!r})", 9)
    name, parts = str(tree[0]), tree[1:]
    texts = [_write(part, language) for part in parts]
    ranges = [bounds(part) for part in parts]
    if name == "log":
        return (language.log if ranges[0].low > 0 else language.safe_log).format(texts[0][0]), 9
    if name == "exp":
        return (language.exp if ranges[0].high <= EXP_CUT else language.safe_exp).format(texts[0][0]), 9
    text, binds = _binary(name, parts, texts, language)
    if _may_overflow(name, parts):
        return language.cut.format(text), 9
    return text, binds


def _binary(name: str, parts: tuple[Tree, ...], texts: list[tuple[str, int]], language: Language) -> tuple[str, int]:
    (a, _), (b, _) = texts
    ranges = [bounds(part) for part in parts]
    if name == "pow":
        real = ranges[0].low > 0 or (ranges[0].low >= 0 and ranges[1].low > 0)
        if real and not (language is PYTHON and _may_overflow(name, parts)):  # where inf is an error, not a number
            call = "(" in language.power
            shown = (a, b) if call else (_wrap(texts[0], 9), _wrap(texts[1], 9))
            return language.power.format(*shown), 9 if call else 4
        return language.safe_power.format(a, b), 9
    if name == "/":
        top = language.real.format(_wrap(texts[0], 2)) if _whole(parts[0]) else _wrap(texts[0], 2)
        if ranges[1].nonzero:
            return language.divide.format(top, _wrap(texts[1], 3)), 2
        inner = (a, b) if language is PYTHON else (top, b)
        return language.safe_divide.format(*inner), 9
    binds = 2 if name == "*" else 1
    # machines add from the left, so the right argument keeps its parentheses
    return f"{_wrap(texts[0], binds)} {name} {_wrap(texts[1], binds + 1)}", binds


def _wrap(text: tuple[str, int], least: int) -> str:
    return text[0] if text[1] >= least else f"({text[0]})"


def _whole(tree: Tree) -> bool:
    """Whether a database may hold the value as a whole number."""
    if isinstance(tree, tuple):
        return tree[0] in ("+", "-", "*") and all(map(_whole, tree[1:]))
    return isinstance(tree, str) and tree in ("n", "X", "t", "since", "age", "links", "importance")


def _may_overflow(name: str, parts: tuple[Tree, ...]) -> bool:
    """Whether the uncut value can lie beyond the cut."""
    low, high = bounds((name, *parts))
    return low <= -CUT or high >= CUT
