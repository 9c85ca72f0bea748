"""experts: pages that predict other pages' changes (Radinsky & Bennett 2013)."""
