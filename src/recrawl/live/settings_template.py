"""What `recrawl init` writes as recrawl.toml: every setting, the rarer ones as comments with their defaults."""

TEMPLATE = """# A recrawl crawl. Every setting not given here has its default; the lines that begin with # show it.

[crawl]
policy = "auto"           # any of `recrawl policies`; auto: what `recrawl learn` found best, or a good default
every = "1d"              # the length of a cycle
budget = "10%"            # visits a cycle: a share of the known pages, or a number
discovery = 0.5           # most of the budget for first visits to new pages, while known pages are left to visit
signals = true            # read sitemaps and feeds (at most a tenth of the budget) and look early where sites say so
seed = 0
# warmup = 0              # first cycles, in which every known page is visited
# site_cap = 0            # most visits to one host in a cycle; 0: no cap

[scope]
hosts = []                # hosts to crawl, or whole domains ("*.example.org"); those of the pages added where empty
prefixes = []             # or parts of hosts: "https://example.org/docs/"
patterns = []             # or shell patterns of URLs: "*/news/*"
excludes = []             # shell patterns of URLs never to visit
deny = []                 # regular expressions of URLs never to visit

# [[site]]                # what holds for some hosts alone; as many of these sections as you like
# hosts = ["*.example.org"]
# cap = 100               # most visits to each of them in a cycle
# importance = 2.0        # what a visit is worth beside one elsewhere
# delay_s = 5.0           # between two requests, where that is longer than what holds anyway
# headers = { "X-Key" = "..." }   # sent to these hosts alone
# auth_file = "secret"    # a file with user:password for basic authentication

[fetch]
contact = ""              # a URL or mail address for webmasters: part of the User-Agent
allow_networks = []       # private networks that may be crawled all the same, such as "127.0.0.0/8"
# max_body_bytes = 10_000_000     # after decoding
# max_header_bytes = 262_144
# max_headers = 256
# max_field_bytes = 32_768
# connect_timeout_s = 10.0
# first_byte_timeout_s = 20.0
# deadline_s = 60.0               # for one exchange, from connecting to the last byte
# max_redirects = 10
# retries = 2                     # after resets and broken answers
# retry_backoff_s = 1.0           # doubles with each retry
# max_wait_s = 120.0              # a host that must be left alone for longer is reported as paused instead
# max_encodings = 2
# bomb_ratio = 100.0              # decoded over received bytes, where the byte cap was met
# audit_every = 10                # after this many "not modified" in a row, ask for the whole page again
# dns_cache_s = 300.0
# robots_max_age_days = 1.0
# robots_keep_days = 30.0         # how long an old copy speaks for a host whose robots.txt cannot be reached
# robots_retry_s = 3_600.0
# max_robots_bytes = 524_288
# obey_robots = true
# follow_meta_refresh = true
# connect_to = []                 # pairs of host or *.domain and address[:port]: where names really live
# tls_ca_file = ""                # instead of the system's authorities

[fetch.gate]
min_delay_s = 1.0         # between two requests to a host
# max_delay_s = 30.0              # what a slow host can raise the delay to; a Crawl-delay may be longer
# latency_factor = 5.0            # a host that takes t to answer is left alone for this many t
# connections = 1                 # at once to one host
# max_crawl_delay_s = 300.0       # a robots.txt that asks for more is taken as "do not crawl"
# default_backoff_s = 60.0        # after 429 or 503 without a usable Retry-After; doubles each time
# max_backoff_s = 86_400.0        # the longest Retry-After that is believed
# breaker_failures = 5            # in a row, then the host is left alone ...
# breaker_s = 60.0                # ... this long, doubling up to max_backoff_s
"""
