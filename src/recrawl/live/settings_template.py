"""What `recrawl init` writes as recrawl.toml: every setting, the rarer ones as comments with their defaults."""

from __future__ import annotations

import json

from recrawl.live.store_place import checked_url

TEMPLATE = """# A recrawl crawl. Every setting not given here has its default; the lines that begin with # show it.

[crawl]
policy = "auto"           # any of `recrawl policies`; auto: what `recrawl learn` found best, or else the default,
                          # learned(objective=freshness): fresher copies and more changes than the longest unvisited
                          # first; learned(objective=changes) finds more changes still, at the price of freshness
every = "1d"              # the length of a cycle
budget = "10%"            # visits per cycle: a share of the known pages, or a number
discovery = 0.5           # most of the budget for first visits to new pages, while known pages are left to visit
signals = true            # read sitemaps and feeds (at most a tenth of the budget) and visit announced changes early
seed = 0
# warmup = 0              # first cycles, in which every known page is visited
# site_cap = 0            # most visits to one host in a cycle; 0: no cap

[scope]
hosts = []                # hosts to crawl, or whole domains ("*.example.org"); those of the pages added where empty
prefixes = []             # or parts of hosts: "https://example.org/docs/"
patterns = []             # or shell patterns of URLs: "*/news/*"
excludes = []             # shell patterns of URLs never to visit
deny = []                 # regular expressions of URLs never to visit

# [[site]]                # what holds for some hosts alone; the first section that names a host counts
# hosts = ["*.example.org"]       # hosts, domains, or shell patterns such as "news-*.example.org"
# budget = "20%"          # visits a cycle that they get together: a share of the budget, or a number
# objective = "freshness" # what `learned` ranks those visits by; without it as everywhere
# cap = 100               # most visits to each of them in a cycle
# importance = 2.0        # what a visit is worth beside one elsewhere
# delay_s = 5.0           # between two requests, where that is longer than what holds anyway
# headers = { "X-Key" = "..." }   # sent to these hosts alone
# auth_file = "secret"    # a file with user:password for basic authentication; mode 0600
# tls_cert_file = "client.pem"    # a client certificate for these hosts
# tls_key_file = "client.key"     # its key, where that is another file; mode 0600

[keep]
# versions = 0            # bodies kept of each page, the newest; 0: all
# max_bytes = 0           # bodies kept in all, such as "10GB"; the oldest go first; 0: no limit

[bodies]
# to = ""                 # where closed WARC files go: "s3://bucket/prefix" (extra `objects`) or "file:///folder"
# endpoint = ""           # of an S3-compatible server; empty: AWS
# region = "us-east-1"
# credentials_file = ""   # a file with access key:secret key, mode 0600; without it AWS_* of the environment
# segment_bytes = 256_000_000     # a file is closed at this size, ...
# segment_s = 900.0               # ... or this long after it was begun

[traps]                   # how many pages may be discovered
# per_template = 10_000           # whose URLs have the same shape: /calendar/{n}/{n}
# waiting_per_host = 10_000       # of a host, that were not visited yet
# per_domain = 1_000_000
# hosts_per_domain = 1_000

[fetch]
contact = ""              # a URL or mail address for webmasters: part of the User-Agent
allow_networks = []       # private networks that may be crawled all the same, such as "127.0.0.0/8"
# user_agent = ""                 # instead of recrawl/VERSION, as "ExampleBot/1.0"; robots.txt is obeyed as ExampleBot
# headers = {}                    # sent with every request, such as { "Accept-Language" = "de" }
# cookies = false                 # keep what sites set, a jar per site, until the run ends
# proxy = ""                      # for every request, http and https: "http://host:port"; it looks names up
# proxy_auth_file = ""            # a file with user:password for the proxy; mode 0600
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
# tls_cert_file = ""              # a client certificate, for servers that ask for one
# tls_key_file = ""               # its key, where that is another file; mode 0600

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

REST = """# password_file = ""              # where ~/.pgpass and PGPASSWORD do not hold it
# lease_s = 30.0                  # how long a worker that died keeps its sites
"""


def with_store(config: str, url: str | None) -> str:
    """Return settings with a database in [store]; as they are where none is given."""
    if url is None:
        return config
    return f"{config.rstrip()}\n\n[store]\nurl = {json.dumps(checked_url(url))}\n{REST}"
