"""Which part of a recording a command is about: days, sites, kinds and pages."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from recrawl.cli.parse import span
from recrawl.errors import InputError
from recrawl.registry import split_specs

if TYPE_CHECKING:
    from recrawl.recording.recording import Recording


def add_slices(parser: argparse.ArgumentParser) -> None:
    """Add the options that `select` reads."""
    group = parser.add_argument_group("which part of the recording")
    group.add_argument("--days", type=span, metavar="D", help="only so many days: the last ones, or from --from-day on")
    group.add_argument("--from-day", type=float, metavar="X", help="begin after this day of the recording")
    group.add_argument("--sites", metavar="A,B", help="only these sites, by name or number")
    group.add_argument("--kinds", metavar="K,L", help="only sites of these kinds, such as docs,list")
    group.add_argument("--fixed", action="store_true", help="only pages that live through the whole window")
    group.add_argument("--active", action="store_true", help="only pages that had changed before the window")
    group.add_argument("--pages", type=int, metavar="N", help="a random sample of N pages (drawn with --seed)")


def select(args: argparse.Namespace) -> tuple[Recording, tuple[str, ...], tuple[str, ...]]:
    """Open the recording and slice it; returns it with the names of the slices and notes on what was left out."""
    from recrawl.recording.recording import Recording

    whole = Recording.open(args.data)
    recording = whole.window(*_window(whole, args.days, args.from_day))
    notes = _notes(whole, recording)
    slices: list[str] = []
    if args.sites is not None:
        recording = recording.sites(split_specs(args.sites))
        slices.append(f"sites {args.sites}")
    if args.kinds is not None:
        recording = recording.kinds(split_specs(args.kinds))
        slices.append(f"kinds {args.kinds}")
    if args.fixed:
        recording = recording.fixed()
        slices.append("pages that live through the window")
    if args.active:
        recording = recording.active()
        slices.append("pages that had changed before")
    if not len(recording):
        raise InputError(f"no page of {args.data} is left: the selection is empty")
    if args.pages is not None:
        recording = recording.sample(args.pages, args.seed)
        slices.append("a random sample")
    return recording, tuple(slices), notes


def _window(whole: Recording, days: float | None, from_day: float | None) -> tuple[float, float]:
    length = whole.end - whole.start
    if days is not None and days > length + 1e-6:
        raise InputError(f"{days:g} days are more than the recording has: {length:g}")
    if from_day is None:
        return (whole.start if days is None else max(whole.start, whole.end - days)), whole.end
    if not whole.start <= from_day < whole.end:
        raise InputError(f"day {from_day:g} is not within the recording's {whole.start:g} to {whole.end:g}")
    end = whole.end if days is None else from_day + days
    if end > whole.end + 1e-6:
        raise InputError(f"{days:g} days from day {from_day:g} on end after the recording's last day {whole.end:g}")
    return from_day, min(end, whole.end)


def _notes(whole: Recording, window: Recording) -> tuple[str, ...]:
    short = sum(float(whole.site_days[site]) < window.end - 0.5 for site in set(whole.site.tolist()))
    if not short:
        return ()
    return (f"{short} site{'s' * (short > 1)} not watched up to day {window.end:g} left out",)
