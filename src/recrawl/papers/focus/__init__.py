"""focus: evolved strategies for focused crawling (Johnson et al. 2003)."""
