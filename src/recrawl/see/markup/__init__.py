"""markup: HTML read in one linear pass, without building a tree."""
