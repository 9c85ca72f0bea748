"""Defaults of replaying and learning from a crawl; imports nothing, so that --help is quick."""

CANDIDATES = "age,bayes,cg,nad,aad,gad,lambdacrawl,nutch(fill=yes),learned,learned(objective=freshness)"
REPLAYED = "age,cg,nad,gad,bayes,lambdacrawl,learned,oracle"
MEASURES = "ChangeRate,NDCG,Freshness,ChangesFound,NewLinks"
CAVEAT = "a change is known only where this crawl visited, so pages that it neglected look quieter than they are"
