"""Formulas: closed functions, terminals over a memory, printing, files, and the policy `gp`."""

from __future__ import annotations

import ast
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.policies.formulas.closure import ADD, CUT, DIV, EXP, FUNCTIONS, LOG, MUL, POW, SUB, apply
from recrawl.policies.formulas.expression import Expression, Tree
from recrawl.policies.formulas.formula import Formula, FormulaScorer, evaluate, load_formula, parse_formula
from recrawl.policies.formulas.published import NAMED
from recrawl.policies.formulas.terminals import FORMS, NAMES, SETS, columns
from support.handmade_memory import choice, remember

numbers = st.floats(-CUT, CUT, allow_nan=False)


def trees(names: tuple[str, ...] = NAMES, depth: int = 5) -> st.SearchStrategy[Tree]:
    """Random trees over these terminals."""
    leaves: st.SearchStrategy[Any] = st.sampled_from(names) | st.sampled_from([0.001, 0.5, 1.0, 10.0, -3.0, 0.0])
    tree = leaves
    for _ in range(depth):
        tree = leaves | st.one_of(
            st.tuples(st.sampled_from(["+", "-", "*", "/", "pow"]), tree, tree),
            st.tuples(st.sampled_from(["log", "exp"]), tree),
        )
    return tree


# -- functions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "a", "b", "value"),
    [
        (ADD, 2, 3, 5.0),
        (SUB, 2, 3, -1.0),
        (MUL, 2, 3, 6.0),
        (DIV, 3, 2, 1.5),
        (DIV, 3, 0, 0.0),
        (DIV, 3, -0.0, 0.0),
        (LOG, math.e, 0, 1.0),
        (LOG, 0, 0, 0.0),
        (LOG, -1, 0, 0.0),
        (EXP, 1, 0, math.e),
        (EXP, 1e9, 0, math.exp(690)),
        (EXP, -1e9, 0, 0.0),
        (POW, 2, 10, 1024.0),
        (POW, 0, -1, 0.0),
        (POW, 0, 0, 0.0),
        (POW, -8, 1 / 3, 0.0),
        (POW, -2, 3, -8.0),
        (POW, 1e200, 2, CUT),
        (POW, -1e200, 3, -CUT),
        (MUL, 1e200, -1e200, -CUT),
        (ADD, CUT, CUT, CUT),
    ],
)
def test_functions_are_protected_as_documented(code: int, a: float, b: float, value: float) -> None:
    """/ and log give 0 outside their domains (Santos 2014, §4.2.1); what is too large is cut, not lost."""
    assert apply(code, float(a), float(b)) == value


@given(st.integers(0, len(FUNCTIONS) - 1), numbers, numbers)
def test_functions_are_closed(code: int, a: float, b: float) -> None:
    """Whatever finite numbers go in, a finite number within the cut comes out."""
    assert abs(apply(code, a, b)) <= CUT


@given(trees(), st.lists(st.floats(0, 1e9), min_size=len(NAMES), max_size=len(NAMES)))
def test_no_formula_gives_nan_or_inf(tree: Tree, state: list[float]) -> None:
    """No NaN or inf ever reaches a ranking."""
    assert np.isfinite(evaluate(Expression.of(tree), np.array(state)[:, None])).all()


def test_a_formula_by_hand() -> None:
    """(t * X)**100.1 / n is what a pocket calculator says, row by row and over more rows than a block."""
    held = np.ones((len(NAMES), 600))
    held[NAMES.index("t")] = np.arange(1, 601) % 7 + 1
    held[NAMES.index("X")] = 3
    held[NAMES.index("n")] = 4
    got = evaluate(Expression.of(("/", ("pow", ("*", "t", "X"), 100.1), "n")), held)
    assert got[[0, 5, 599]].tolist() == [6**100.1 / 4, 21**100.1 / 4, (3 * (600 % 7 + 1)) ** 100.1 / 4]


# -- terminals -------------------------------------------------------------------------------------------------------


def test_terminals_by_hand() -> None:
    """The terminals of a page visited in cycles 1, 2 and 4 of 5, changed in 1 and 4 (Santos 2014, §4.2.1, eqs. 4-5)."""
    memory = remember("cu.c.")  # n = 3, X = 2; the sixth cycle is open
    held = columns(memory, NAMES, 6.0)[:, 0]
    got = dict(zip(NAMES, held.tolist(), strict=True))
    rates = {"CG": -math.log(1.5 / 3.5), "NAD": 2 / 3, "SAD": 1.0, "AAD": 2 * (1 + 3) / (3 * 4), "GAD": (1 + 4) / 7}
    want = {"n": 3.0, "X": 2.0, "t": 2.0} | {name: -math.expm1(-rate * 2) for name, rate in rates.items()}
    want |= {"since": 2.0, "age": 6.0, "recent": 2 / 3, "links": 0.0, "importance": 1.0}
    assert {name: got[name] for name in want} == pytest.approx(want, rel=1e-15)


def test_estimators_may_run_over_cycles() -> None:
    """Over all cycles the weights count cycles, as in the authors' program: 5 have ended, 1 and 4 saw changes."""
    got = dict(zip(NAMES, columns(remember("cu.c."), NAMES, 6.0, "cycles")[:, 0].tolist(), strict=True))
    rates = {"NAD": 2 / 5, "SAD": 0.0, "AAD": 2 * (1 + 4) / (5 * 6), "GAD": (1 + 8) / 31}
    assert {name: got[name] for name in rates} == pytest.approx(
        {name: -math.expm1(-rate * 2) for name, rate in rates.items()}, rel=1e-14
    )


def test_a_sites_share_leans_to_its_own_visits() -> None:
    """A page never seen to change scores higher on a site whose last visits found changes."""
    memory = remember("c", "c", "u", "u", "u", site=[0, 0, 0, 1, 1])
    share = columns(memory, ["site"], 2.0)[NAMES.index("site")]
    # weights .8, and one visit's worth of the overall share 2/5
    assert share[2] == pytest.approx((2 * 0.8 + 0.4) / (3 * 0.8 + 1))
    assert share[3] == pytest.approx(0.4 / (2 * 0.8 + 1))


def test_directories_are_read_from_paths() -> None:
    """Pages of one directory share; the same name on another site is another directory."""
    memory = remember("c", "u", "u", "u", site=[0, 0, 0, 1])
    memory.load_paths = lambda: np.array(["news/a", "news/b", "old/c", "news/d"], dtype=object)
    share = columns(memory, ["dir"], 2.0)[NAMES.index("dir")]
    assert share[0] == share[1] > share[2] == share[3]


def test_terminal_sets_are_those_of_the_paper_and_more() -> None:
    """basic is n, X, t; all adds the five estimators; extended adds ours."""
    assert SETS["basic"] == ("n", "X", "t")
    assert SETS["all"] == ("n", "X", "t", "CG", "NAD", "SAD", "AAD", "GAD")
    assert SETS["extended"] == NAMES


# -- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (("*", "t", ("pow", "CG", 2.72)), "t * CG**2.72"),
        (("-", "n", ("-", "X", 1.0)), "n - (X - 1)"),
        (("-", ("-", "n", "X"), 1.0), "n - X - 1"),
        (("/", "t", ("*", "n", "X")), "t / (n * X)"),
        (("*", ("/", "X", "n"), "t"), "X / n * t"),
        (("pow", ("pow", "t", 2.0), "n"), "(t**2)**n"),
        (("pow", "t", ("pow", 2.0, "n")), "t**2**n"),
        (("+", "X", -0.5), "X - 0.5"),
        (("-", 0.0, ("+", "X", "t")), "-(X + t)"),
        (("exp", ("log", "t")), "exp(log(t))"),
        (("pow", "t", -1.0), "t**(-1)"),
        (("+", "t", ("pow", ("exp", 1.0), "X")), "t + exp(1)**X"),
    ],
)
def test_formulas_print_as_people_write(tree: Tree, text: str) -> None:
    """Only the parentheses that are needed."""
    assert str(Expression.of(tree)) == text


def read(node: ast.expr) -> Tree:
    """The tree of a Python expression."""
    names = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "pow"}
    match node:
        case ast.Name():
            return node.id
        case ast.Constant():
            return float(node.value)  # type: ignore[arg-type]
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            return -float(value)  # type: ignore[arg-type]
        case ast.UnaryOp():
            return ("-", 0.0, read(node.operand))
        case ast.Call(func=ast.Name(id=name)):
            return (name, read(node.args[0]))
        case ast.BinOp():
            return (names[type(node.op)], read(node.left), read(node.right))
    raise AssertionError(ast.dump(node))


def flat(tree: Tree) -> Tree:
    """One of the trees that are written the same: a + (b + c) is (a + b) + c, and x - 1 is x + (-1)."""
    if not isinstance(tree, tuple):
        return tree
    name, *parts = (tree[0], *map(flat, tree[1:]))
    if name == "-" and isinstance(parts[1], float) and parts[1] >= 0:
        return flat(("+", parts[0], -parts[1]))
    if name == "+" and parts[0] == 0 and isinstance(parts[1], float) and math.copysign(1, parts[1]) < 0:
        return parts[1]  # 0 - 3 is written -3
    if name in ("*", "/") and isinstance(parts[0], float) and math.copysign(1, parts[0]) < 0:
        return flat(("-", 0.0, (name, -parts[0], parts[1])))  # -(3 * n) is (-3) * n, to the last bit
    if name in ("*", "/") and isinstance(parts[0], tuple) and parts[0][:2] == ("-", 0.0):
        return flat(("-", 0.0, (name, parts[0][2], parts[1])))
    if name == "+" and isinstance(parts[1], tuple) and parts[1][0] == "+":
        return flat(("+", ("+", parts[0], parts[1][1]), parts[1][2]))
    if name == "+" and isinstance(parts[1], tuple) and parts[1][0] == "-" and parts[1][1] != 0:
        return flat(("-", ("+", parts[0], parts[1][1]), parts[1][2]))
    return (name, *parts)


@given(trees(SETS["all"], depth=4))
def test_printed_formulas_read_back_as_themselves(tree: Tree) -> None:
    """Read as Python, the text is the formula, but for the order in which sums are added."""
    expression = Expression.of(tree)
    assert flat(read(ast.parse(str(expression), mode="eval").body)) == flat(expression.tree)


# -- files -----------------------------------------------------------------------------------------------------------


@given(trees(), st.sampled_from(["visits", "cycles"]))
def test_formulas_survive_a_file(tree: Tree, over: str) -> None:
    """Saved and loaded, a formula is the same, to the last bit of its constants."""
    formula = Formula(Expression.of(tree), over, {"fitness": "NDCG"})
    again = parse_formula(formula.to_json())
    assert again == formula
    assert again.about == formula.about


def altered(**changes: Any) -> str:
    """A good file with something wrong in it."""
    held = json.loads(Formula(Expression.of(("*", "t", ("pow", "CG", 2.72)))).to_json())
    return json.dumps({name: value for name, value in (held | changes).items() if value is not None})


def chain(length: int) -> list[dict[str, Any]]:
    """A formula that is a chain of logarithms."""
    return [{"function": "log", "arguments": [i + 1]} for i in range(length)] + [{"terminal": "t"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a JSON file"),
        ("[" * 100_000, "not a JSON file"),
        ("[]", "not a formula"),
        (altered(format="other"), "not a formula"),
        (altered(version=2), "version 2"),
        (altered(version=None), "version None"),
        (altered(over="months"), "'over' must be"),
        (altered(hash="0"), "hash does not fit"),
        (altered(nodes=None), "'nodes' must be"),
        (altered(nodes=[{"terminal": "PR"}], hash=None), "unknown terminal 'PR'"),
        (altered(nodes=[{"terminal": ["t"]}], hash=None), "unknown terminal ['t']"),
        (
            altered(nodes=[{"function": "sin", "arguments": [1]}, {"terminal": "t"}], hash=None),
            "unknown function 'sin'",
        ),
        (altered(nodes=[{"function": "+", "arguments": [1]}, {"terminal": "t"}], hash=None), "takes 2 arguments"),
        (altered(nodes=[{"function": "log", "arguments": [0]}], hash=None), "cyclic"),
        (altered(nodes=[{"function": "+", "arguments": [1, 1]}, {"terminal": "t"}], hash=None), "used twice"),
        (altered(nodes=[{"function": "log", "arguments": [7]}], hash=None), "numbers of nodes"),
        (altered(nodes=[{"function": "log", "arguments": [-1]}], hash=None), "numbers of nodes"),
        (altered(nodes=[{"terminal": "t"}, {"terminal": "n"}], hash=None), "does not belong"),
        (altered(nodes=chain(40), hash=None), "levels deep"),
        (altered(nodes=chain(20_000), hash=None), "more than the"),
        (altered(nodes=[{"constant": "1"}], hash=None), "a constant must be a number"),
        (altered(nodes=[{"constant": float("inf")}], hash=None), "a constant must be a number"),
        (altered(nodes=[{"constant": True}], hash=None), "a constant must be a number"),
        (altered(nodes=[{}], hash=None), "must have one of"),
        (altered(nodes=[7], hash=None), "must have one of"),
    ],
)
def test_bad_files_are_refused_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    """Whatever is wrong with a formula's file, the message names the file and says it in one clear line."""
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError) as wrong:
        load_formula(path)
    assert said in str(wrong.value)
    assert str(wrong.value).startswith(str(path))
    assert "\n" not in str(wrong.value)


def test_missing_and_binary_files_are_refused(tmp_path: Path) -> None:
    """A path that is no file, and a file that is no text."""
    with pytest.raises(InputError, match="no file, nor one of the formulas"):
        load_formula(tmp_path / "none.json")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        load_formula(tmp_path / "binary")


def test_a_hand_written_file_needs_no_hash() -> None:
    """Format, version and nodes are enough."""
    nodes = [{"function": "*", "arguments": [1, 2]}, {"terminal": "t"}, {"terminal": "X"}]
    text = json.dumps({"format": "recrawl-formula", "version": 1, "nodes": nodes})
    assert str(parse_formula(text)) == "t * X"


# -- the policy ------------------------------------------------------------------------------------------------------


def test_gp_chooses_by_the_formula(tmp_path: Path) -> None:
    """gp:FILE and gp:NAME visit the pages where the formula is highest: t * X here, as the policy tx."""
    histories = ("cc..", "cu.c", "uuuu", "ccc.")
    path = tmp_path / "best.json"
    path.write_text(Formula(Expression.of(("*", "t", "X"))).to_json())
    want = choice("tx", *histories, budget=3)
    assert choice(f"gp:{path}", *histories, budget=3) == want
    assert choice("gp:t-x", *histories, budget=3) == want


def test_named_formulas_are_those_of_the_paper() -> None:
    """Table 4's t * CG**2.72 is among the named formulas, and all of them load."""
    assert str(load_formula("t-cg")) == "t * CG**2.72"
    for name in NAMED:
        assert load_formula(name).terminals in ("basic", "all")


def test_an_estimator_as_a_formula_scores_like_the_policy() -> None:
    """The formula CG gives the very numbers of the policy cg."""
    from recrawl.policies.classical import estimators

    memory = remember("cucu", "cccc", "u.u.", "c...", "uuuc")
    score = FormulaScorer(Formula(Expression.of("CG"))).score(memory, 5.0)
    assert score.tolist() == np.asarray(estimators.probability(estimators.cg(memory), memory.waited())).tolist()


def test_estimators_are_rates_or_chances() -> None:
    """CG as printed in eq. 4 has no t; a saved formula keeps its form, and the paper's are taken with rates.

    X = 2 of n = 4, t = 3: the rate is -ln(2.5 / 4.5), about .588, the chance 1 - exp(-3 * .588), about .829.
    """
    memory = remember("cucu..")
    at = float(memory.cycle)
    rate, chance = (FormulaScorer(Formula(Expression.of("CG"), form=form)).score(memory, at)[0] for form in FORMS)
    assert rate == pytest.approx(-math.log(2.5 / 4.5))
    assert chance == pytest.approx(1 - (2.5 / 4.5) ** memory.waited()[0])
    assert parse_formula(Formula(Expression.of("CG"), form="rate").to_json()).form == "rate"
    older = json.loads(Formula(Expression.of("CG")).to_json())
    del older["form"]
    assert parse_formula(json.dumps(older)).form == "chance"
    assert (load_formula("t-cg").form, load_formula("all-ndcg-4", "chance").form) == ("rate", "chance")


def test_cg_may_rank_by_its_rate_alone() -> None:
    """A page that changed at 3 of 4 visits and was just visited, and one that changed at 1 of 2 and waits for two.

    Eq. 4 prefers the first (-ln(1.5 / 4.5) to -ln(1.5 / 2.5)), the chance of a change by now the second:
    1 - (1.5 / 2.5)**3 = .784 to 1 - 1.5 / 4.5 = .667.
    """
    histories = ("cccu", "cu..")
    assert choice("cg(form=rate)", *histories, budget=1) == [0]
    assert choice("cg", *histories, budget=1) == [1]
    # Table 4's t * CG**2.72: 1.0986**2.72 = 1.29 to 3 * .5108**2.72 = .48 with rates; with chances .33 to 1.55
    assert choice("gp(t-cg)", *histories, budget=1) == choice("gp:all-ndcg-4", *histories, budget=1) == [0]
    assert choice("gp(t-cg, form=chance)", *histories, budget=1) == [1]
