"""Generate the pages of the documentation site that come from the code: `make docs` runs it as an mkdocs hook.

- reference/cli.md from the argument parser of each verb, reference/policies.md and measures.md from the registries,
  reference/api/PACKAGE.md from the docstrings of each package;
- contributing.md, changelog.md and benchmarks.md from the files in the project's root, their links adapted.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "recrawl"
ROOT_PAGES = ("CONTRIBUTING", "CHANGELOG", "BENCHMARKS")
ROOT_LINK = re.compile(r"\]\(((?:\.\./)*)(README|CONTRIBUTING|CHANGELOG|BENCHMARKS)\.md")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the part of the navigation that follows the packages."""
    os.environ["COLUMNS"] = "100"  # the width of help texts
    pages = [f"reference/api/{name}.md" for name in packages()]
    reference = next(entry["Reference"] for entry in config.nav or [] if "Reference" in entry)
    next(entry for entry in reference if "Python" in entry)["Python"] = pages
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    texts = {f"reference/api/{name}.md": api_page(name, modules) for name, modules in packages().items()}
    texts |= {"reference/cli.md": cli_page(), "reference/policies.md": policies_page()}
    texts |= {"reference/measures.md": measures_page(), "reference/public.md": public_page()}
    texts |= {f"{name.lower()}.md": from_root(name) for name in ROOT_PAGES}
    for path, text in texts.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links to files of the project's root to their pages in the site."""
    if page.file.src_uri.removesuffix(".md").upper() in ROOT_PAGES:
        return markdown
    return ROOT_LINK.sub(lambda m: f"]({m[1].removeprefix('../')}{site_name(m[2])}", markdown)


def site_name(name: str) -> str:
    """Return the site's page for a file of the project's root."""
    return "index.md" if name == "README" else f"{name.lower()}.md"


def from_root(name: str) -> str:
    """Return a file of the project's root with its links as the site needs them."""
    text = (ROOT / f"{name}.md").read_text()
    return ROOT_LINK.sub(lambda m: f"]({site_name(m[2])}", text).replace("](docs/", "](")


def packages() -> dict[str, list[str]]:
    """Return every package with its modules, the root package first; only modules with a docstring."""
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ["recrawl", *path.relative_to(SOURCE).with_suffix("").parts]
        if parts[-1] != "__main__" and ast.get_docstring(ast.parse(path.read_text())):
            package = ".".join(parts[:-1])
            found.setdefault(package, []).append(package if parts[-1] == "__init__" else ".".join(parts))
    return dict(sorted(found.items()))


def api_page(package: str, modules: list[str]) -> str:
    """Return the page of a package: a list of its modules, then their docstrings."""
    listed = "\n".join(f"- [`{name}`][{name}]: {summary(name)}" for name in modules)
    shown = "\n\n".join(f"::: {name}" for name in modules)
    return f"# {package}\n\n{listed}\n\n{shown}\n"


def summary(module: str) -> str:
    """Return the first line of a module's docstring."""
    path = SOURCE.parent / Path(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (ast.get_docstring(ast.parse(file.read_text())) or "").partition("\n")[0]


def cli_page() -> str:
    """Return the help text of every verb."""
    from recrawl.cli import build_parser
    from recrawl.cli.verbs import VERBS

    shown = [build_parser()]
    for verb in VERBS:  # a parser has the options of one verb only
        shown += [parser for parser in parsers(build_parser(verb)) if f"{parser.prog} ".startswith(f"recrawl {verb} ")]
    parts = ["# Command line", "The help text of each verb, as `recrawl VERB --help` prints it."]
    parts += [f"## {parser.prog}\n\n```text\n{parser.format_help()}```" for parser in shown]
    return "\n\n".join(parts) + "\n"


def parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return a parser and those of its verbs."""
    found = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                found += parsers(child)
    return found


def policies_page() -> str:
    """Return a table of all policies: formula, source, parameters."""
    from recrawl import arguments
    from recrawl.policies.catalogue import policies

    rows = []
    for entry in policies:
        takes = ", ".join(f"`{parameter}`" for parameter in arguments.parameters(entry.make))
        name = f"`{entry.name}`" + (" (clairvoyant)" if entry.clairvoyant else "")
        rows.append([name, f"`{entry.formula}`", entry.source, takes])
    head = "# Policies\n\nWhat `recrawl policies` lists. t: cycles since the last visit, n: visits, X: changes found."
    return head + "\n\n" + table(["policy", "formula", "source", "parameters"], rows)


def measures_page() -> str:
    """Return a table of all measures."""
    from recrawl.evaluate.measures.all_measures import make_measure, measures

    rows = []
    for entry in measures:
        measure = make_measure(entry.name)
        rows.append([f"`{entry.name}`", measure.description, measure.better, f"`{entry.formula}`", entry.source])
    columns = ["measure", "meaning", "better", "written", "source"]
    return "# Measures\n\nWhat `recrawl compare --measures` takes.\n\n" + table(columns, rows)


def public_page() -> str:
    """Return a table of the public names of the package, each with a link to its documentation."""
    import recrawl

    rows = []
    for name in recrawl.__all__:
        value = getattr(recrawl, name)
        first = (value.__doc__ or "").strip().partition("\n")[0]
        rows.append([f"[`recrawl.{name}`][{value.__module__}.{value.__qualname__}]", first])
    return "# Public names\n\nWhat `import recrawl` offers.\n\n" + table(["name", "what it is"], rows)


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Lay out a table; a bar within a cell does not end it, also within code."""
    lines = [columns, ["---"] * len(columns), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
