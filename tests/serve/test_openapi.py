"""The server under requests that a machine makes up from the OpenAPI file: no error of its own, answers as promised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from recrawl.live.facade import Crawl
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
from recrawl.live.settings_template import TEMPLATE
from support.served_crawls import served_here

FILE = Path(__file__).parents[2] / "docs" / "openapi.json"
schema = schemathesis.openapi.from_path(FILE)


def made(folder: Path) -> Path:
    """A small crawl with a history."""
    Crawl.create(folder, TEMPLATE.replace('policy = "auto"', 'policy = "age"'))
    with Planner.open(folder, policy="age", budget=5) as planner:
        planner.report([Seen(f"https://a.example/{page}", digest="x") for page in range(6)])
    return folder


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of a small crawl with a history."""
    with served_here(made(tmp_path_factory.mktemp("fuzz") / "c")) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose first job is under way; those that requests begin end with it."""
    with served_here(made(tmp_path_factory.mktemp("busy") / "c")) as server:
        assert server.post("/v1/replay", {"policies": ["age"], "budgets": [1]}).json["job"] == 1
        yield f"http://127.0.0.1:{server.port}"


CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
)


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> bytes:
    """One JSON object per line."""
    rows = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(row) for row in rows).encode()


JOBS = ["replay", "job"]
FEW = settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)


def check(case: Any, address: str) -> None:
    """Send a request, and hold the answer to what the file promises."""
    checks = [getattr(schemathesis.checks, name) for name in CHECKS]
    case.call_and_validate(base_url=address, checks=checks, timeout=60)


@schema.exclude(operation_id=JOBS).parametrize()
@FEW
def test_no_request_breaks_the_server(case: Any, address: str) -> None:
    """Whatever the file allows, and much that it does not: every answer is one that the file promises."""
    if case.query and "wait" in case.query:
        case.query["wait"] = 0
    check(case, address)


@schema.include(operation_id=JOBS).parametrize()
@FEW
def test_no_request_breaks_the_jobs(case: Any, busy: str) -> None:
    """Jobs that a machine makes up begin, wait, are refused or too many; every job, there or not, can be asked for."""
    check(case, busy)
    if case.path_parameters:
        case.path_parameters["job"] = 1
        check(case, busy)
