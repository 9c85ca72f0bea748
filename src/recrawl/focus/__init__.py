"""focus: crawling for a topic. How the frontier is ranked is evolved (Johnson, Tsioutsiouliklis and Giles 2003)."""
