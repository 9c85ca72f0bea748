"""The score functions printed by Santos et al. 2014 (section 5.3 and Table 4), to be used by name: `gp:t-cg`.

`basic-ndcg-2` is the function of Table 4 that was bred with basic terminals for NDCG and tested on set 2. The table
prints e as 2.72. The estimators are rates (see terminals): Table 4 multiplies them by t.
"""

from __future__ import annotations

from recrawl.policies.formulas.expression import Tree

E = 2.72
_TX: Tree = ("*", "t", "X")
_T_CG: Tree = ("*", "t", ("pow", "CG", E))
_GAD_NAD: Tree = ("*", "GAD", ("exp", ("+", "NAD", "t")))
_CG_AAD: Tree = ("*", ("-", "CG", "AAD"), ("+", ("/", "t", E), 1.0))
_CG_T_AAD: Tree = ("*", ("*", "CG", "t"), ("log", ("*", 1000.0, "AAD")))
_EXP_GAD: Tree = ("-", ("exp", ("-", "GAD", 0.01)), ("exp", ("-", ("/", "GAD", 100.0), 1000.0)))

TABLE_4: dict[str, tuple[Tree, ...]] = {
    "basic-changerate": (
        ("-", ("-", ("+", 1.0, ("/", "X", "n")), ("/", 2.73, ("+", "t", E))), 10.0),
        ("-", ("+", "X", ("log", ("*", "t", ("log", "X")))), "n"),
        ("*", ("exp", _TX), ("log", 1000.0)),
        ("pow", _TX, ("-", 100.5, "t")),
        ("*", ("*", _TX, ("+", ("/", "X", "n"), ("pow", 10.0, 0.01))), ("exp", 0.1)),
    ),
    "basic-ndcg": (
        ("pow", _TX, 100.1),
        ("*", "t", ("pow", ("*", E, ("exp", "t")), "X")),
        ("*", ("+", ("log", 100.0), 0.01), _TX),
        ("*", _TX, ("log", E)),
        ("/", ("*", E, _TX), 100.0),
    ),
    "all-changerate": (
        ("exp", ("*", "CG", ("+", 1.0, ("log", "t")))),
        ("pow", ("*", 99.5, ("exp", "GAD")), ("pow", ("+", "t", "GAD"), "CG")),
        _CG_T_AAD,
        ("*", 1000.0, _T_CG),
        _GAD_NAD,
    ),
    "all-ndcg": (
        ("*", ("+", _EXP_GAD, "NAD"), ("*", "t", "CG")),
        ("*", 1000.0, _T_CG),
        _CG_AAD,
        _T_CG,
        _GAD_NAD,
    ),
}

NAMED: dict[str, Tree] = {
    "t-x": _TX,
    "t-cg": _T_CG,
    "gad-nad": _GAD_NAD,
    "cg-aad": _CG_AAD,
    "cg-t-aad": _CG_T_AAD,
    **{f"{kind}-{number}": tree for kind, trees in TABLE_4.items() for number, tree in enumerate(trees, 1)},
}
