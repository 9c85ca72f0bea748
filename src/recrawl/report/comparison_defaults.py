"""Defaults of a comparison: policies, measures, files; imports nothing, so that --help is quick."""

POLICIES = "rand,age,cg,nad,gad,bayes,lambdacrawl,nutch(fill=yes),explore(cg, 0.5),learned,oracle"
MEASURES = "ChangeRate,NDCG,Freshness,Age,Delay,ChangesFound,NewLinks,Unvisited@30d"
DISCOVERY = 0.5  # most of a cycle's budget for first visits, as Plan's
CURVE = (0.01, 0.02, 0.05, 0.1)  # budgets of the budget curves, as shares of the pages
PLOTS = ("overview", "cycles", "budgets")
FILES = ("results.json", "report.html", *(f"{name}.{kind}" for name in PLOTS for kind in ("png", "svg")))
