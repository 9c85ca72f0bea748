"""papers: one folder per paper: its protocol, tables and figures, and whatever only it needs."""
