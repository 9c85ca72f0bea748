"""The server under requests that a machine makes up from the OpenAPI file: no error of its own, answers as promised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from recrawl.live.facade import Crawl
from recrawl.live.planner import Planner
from recrawl.live.reported import Seen
from recrawl.live.settings_template import TEMPLATE
from support.served_crawls import served_here

schemathesis = pytest.importorskip("schemathesis")
FILE = Path(__file__).parents[2] / "docs" / "openapi.json"
schema = schemathesis.openapi.from_path(FILE)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of a small crawl with a history."""
    folder = tmp_path_factory.mktemp("fuzz") / "c"
    Crawl.create(folder, TEMPLATE.replace('policy = "auto"', 'policy = "age"'))
    with Planner.open(folder, policy="age", budget=5) as planner:
        planner.report([Seen(f"https://a.example/{page}", digest="x") for page in range(6)])
    with served_here(folder) as server:
        yield f"http://127.0.0.1:{server.port}"


CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
)


@schemathesis.serializer("application/x-ndjson")  # type: ignore[untyped-decorator]
def lines(_: Any, value: Any) -> bytes:
    """One JSON object per line."""
    rows = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(row) for row in rows).encode()


@schema.exclude(operation_id=["replay", "job"]).parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
def test_no_request_breaks_the_server(case: Any, address: str) -> None:
    """Whatever the file allows, and much that it does not: every answer is one that the file promises."""
    if case.query and "wait" in case.query:
        case.query["wait"] = 0
    checks = [getattr(schemathesis.checks, name) for name in CHECKS]
    case.call_and_validate(base_url=address, checks=checks, timeout=60)
