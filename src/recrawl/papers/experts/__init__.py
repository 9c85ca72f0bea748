"""experts: predicting content change with related pages (Radinsky & Bennett 2013)."""
