"""recrawl.toml: what is wrong is said in one line with its key and line; every setting is in the template."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest
from benchmarks.living import LivingWeb, begin, run

from recrawl.errors import InputError
from recrawl.fetch.settings import FetchSettings, GateSettings
from recrawl.live.config import KeepSettings, load
from recrawl.live.facade import Crawl
from recrawl.live.settings_template import TEMPLATE
from recrawl.plan import Plan
from recrawl.urls.traps import TrapSettings

WRONG = {
    "crawl = 5": "crawl",
    "scope = 'x'": "scope",
    "fetch = 3": "fetch",
    "site = 3": "site",
    "[scope]\nhosts = [1]": "scope.hosts",
    "[scope]\nhosts = 5": "scope.hosts",
    '[scope]\nhosts = "127.0.1.3"': "scope.hosts",
    '[scope]\nhosts = ["https://example.org/"]': "scope.hosts",
    "[scope]\nprefixes = [1]": "scope.prefixes",
    '[scope]\nprefixes = ["docs"]': "scope.prefixes",
    '[scope]\ndeny = ["a{5000000000}"]': "scope.deny",
    f'[scope]\ndeny = ["{"(" * 1000}a{")" * 1000}"]': "scope.deny",
    '[scope]\ndeny = ["("]': "scope.deny",
    f"[crawl]\nwarmup = {'[' * 5000}{']' * 5000}": "",
    f"[crawl]\nseed = {'9' * 5000}": "",
    "[crawl]\nseed = 99999999999999999999": "crawl.seed",
    "[crawl]\nsite_cap = -3": "crawl.site_cap",
    "[crawl]\nwarmup = 1.5": "crawl.warmup",
    "[crawl]\nsignals = 1": "crawl.signals",
    '[crawl]\nevery = "never"': "crawl.every",
    '[crawl]\nbudget = "120%"': "crawl.budget",
    "[crawl]\nbudget = true": "crawl.budget",
    "[crawl]\ndiscovery = 2": "crawl.discovery",
    "[crawl]\nspeed = 2": "crawl.speed",
    "[crawl]\nbudget = 99999999999999999999999": "crawl.budget",
    '[crawl]\nevery = "1 fortnight"': "crawl.every",
    '[crawl]\nevery = "1e300d"': "crawl.every",
    '[fetch]\nconnect_to = [["a.test", "b:c:d"]]': "fetch.connect_to",
    '[fetch]\nconnect_to = [["a.test", "127.0.0.1:99999"]]': "fetch.connect_to",
    '[fetch]\ntls_ca_file = "nowhere"': "fetch.tls_ca_file",
    '[fetch]\ntls_ca_file = "recrawl.toml"': "fetch.tls_ca_file",
    '[bodies]\nendpoint = "x"': "bodies.endpoint",
    '[fetch]\nheaders = { "Host" = "x" }': "fetch.headers.Host",
    "[fetch]\nmax_body_bytes = 0": "fetch.max_body_bytes",
    "[fetch]\ndeadline_s = 'soon'": "fetch.deadline_s",
    "[fetch]\ndeadline_s = nan": "fetch.deadline_s",
    "[fetch]\nobey_robots = 'no'": "fetch.obey_robots",
    '[fetch]\nconnect_to = ["a", "b"]': "fetch.connect_to",
    "[fetch]\ngate = 1": "fetch.gate",
    "[fetch.gate]\nmin_delay_s = -1": "fetch.gate.min_delay_s",
    "[fetch.gate]\nconnections = 0": "fetch.gate.connections",
    "[[site]]\ncap = 3": "site",
    '[[site]]\nhosts = ["a.test"]\ncap = -1': "site.cap",
    '[[site]]\nhosts = ["a.test"]\nimportance = 0': "site.importance",
    '[[site]]\nhosts = ["a.test"]\nheaders = { "X" = "a\\nb" }': "site.headers.X",
    '[[site]]\nhosts = ["a.test"]\nauth_file = "nowhere"': "site.auth_file",
    '[[site]]\nhosts = ["a.test"]\nauth_file = "recrawl.toml"': "site.auth_file",
    '[[site]]\nhosts = ["a.test"]\nbudget = "0%"': "site.budget",
    '[[site]]\nhosts = ["a.test"]\nbudget = "5%"\nobjective = "fame"': "site.objective",
    '[[site]]\nhosts = ["a.test"]\nobjective = "freshness"': "site.objective",
    '[[site]]\nhosts = ["a.test"]\ntls_key_file = "nowhere"': "site.tls_key_file",
    '[[site]]\nhosts = ["a.test"]\ntls_cert_file = "nowhere"': "site.tls_cert_file",
    '[[site]]\nhosts = ["a.test"]\n\n[[site]]\nhosts = ["b.test"]\ncap = -1': "site.cap",
    '[[site]]\nhosts = ["a.test"]\nheaders = { "Host" = "b.test" }': "site.headers.Host",
    '[fetch]\nuser_agent = "9"': "fetch.user_agent",
    '[fetch]\nuser_agent = "Bot\\n"': "fetch.user_agent",
    '[fetch]\nproxy = "127.0.0.1"': "fetch.proxy",
    '[fetch]\nproxy_auth_file = "nowhere"': "fetch.proxy_auth_file",
    '[fetch]\nallow_networks = ["localhost"]': "fetch.allow_networks",
    "[fetch]\ncookies = 1": "fetch.cookies",
    '[keep]\nmax_bytes = "much"': "keep.max_bytes",
    "[keep]\nversions = -1": "keep.versions",
    "[traps]\nper_template = 1.5": "traps.per_template",
    '[fetch]\nheaders = "x"': "fetch.headers",
    '[fetch]\ntls_cert_file = "nowhere"': "fetch.tls_cert_file",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_setting_is_one_line_with_its_key(text: str, tmp_path: Path) -> None:
    """Whatever is written there, the answer names the key, and its line where it has one of its own."""
    path, key = tmp_path / "recrawl.toml", WRONG[text]
    path.write_text(f"# settings\n{text}\n")
    with pytest.raises(InputError) as said:
        load(path)
    assert "\n" not in str(said.value)
    assert len(str(said.value)) < 500
    if key:
        assert re.search(rf"\b{re.escape(key)} ", str(said.value))
    if "\n" in text and key and key != "site":
        assert f"line {2 + text.count(chr(10))}:" in str(said.value)


@pytest.mark.parametrize("policy", ["x", "age(x=1)", "own.py:x", "gp:models/none.json", "learned(objective=fame)"])
def test_a_wrong_policy_is_one_line_with_its_key(policy: str, tmp_path: Path) -> None:
    """Policies are made when a crawl is run or replayed; the error points to the setting all the same."""
    crawl = Crawl.create(tmp_path / "crawl", f'[crawl]\nevery = "1d"\npolicy = "{policy}"\n')
    with pytest.raises(InputError, match=r"recrawl\.toml, line 3: crawl\.policy .+") as said:
        crawl.steering()
    assert "\n" not in str(said.value)


def test_the_template_shows_every_setting_with_its_default(tmp_path: Path) -> None:
    """With its comments taken off, the template is the settings that hold without it."""
    path = tmp_path / "recrawl.toml"
    path.write_text(TEMPLATE)
    plain = load(path)
    open_text = re.sub(r"(?m)^# (\w+ = )", r"\1", re.sub(r"(?ms)^# \[\[site\]\].*?\n\n", "", TEMPLATE))
    told = tomllib.loads(open_text)
    assert set(told["fetch"]) == {field.name for field in dataclasses.fields(FetchSettings)}
    assert set(told["fetch"]["gate"]) == {field.name for field in dataclasses.fields(GateSettings)}
    assert set(told["keep"]) == {field.name for field in dataclasses.fields(KeepSettings)}
    assert set(told["traps"]) == {field.name for field in dataclasses.fields(TrapSettings)}
    path.write_text(open_text)
    assert load(path) == plain


def test_a_cap_and_headers_of_one_site(tmp_path: Path) -> None:
    """One host gets two visits per cycle, with its own header; what it does not take, others get."""
    with LivingWeb(("a.test", "b.test", "c.test"), pages=6, slow_delay_s=0) as web:
        directory = begin(tmp_path / "crawl", web)
        settings = directory.path / "recrawl.toml"
        (directory.path / "secret").write_text("user:pass\n")
        (directory.path / "secret").chmod(0o600)
        site = '[[site]]\nhosts = ["a.test"]\ncap = 2\nauth_file = "secret"\n'
        settings.write_text(settings.read_text() + site)
        row = run(directory, web, "age", Plan(1.0, 20, warmup=0, discovery=1.0), cycle_s=300.0)
        assert (row.requests["a.test"], row.requests.total()) == (2, 20)
        assert row.barred.get("host-full", 6) == 6  # missing where no third page was chosen: ties depend on the port
        assert web.authorised == {"a.test": {"Basic dXNlcjpwYXNz"}}


def test_a_site_gets_the_budget_and_the_objective_of_its_own(tmp_path: Path) -> None:
    """A pattern names hosts; together they get a fifth of the visits, ranked for freshness; the others get the rest."""
    with LivingWeb(("news-1.test", "news-2.test", "c.test"), pages=30, slow_delay_s=0) as web:
        directory = begin(tmp_path / "crawl", web)
        settings = directory.path / "recrawl.toml"
        site = '[[site]]\nhosts = ["news-*.test"]\nbudget = "20%"\nobjective = "freshness"\n'
        settings.write_text(settings.read_text() + site)
        run(directory, web, "age", Plan(1.0, 1000, warmup=1, discovery=1.0))
        row = run(directory, web, "age", Plan(1.0, 20, warmup=1, discovery=1.0))
        assert row.requests["news-1.test"] + row.requests["news-2.test"] == 4
        assert row.requests.total() == 19  # one was a probe of the host that is down
