"""Which part of a recording a command is about: days, sites, kinds and pages."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from recrawl.cli.options import span
from recrawl.errors import InputError
from recrawl.registry import split_specs

if TYPE_CHECKING:
    from recrawl.recording.recording import Recording


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add the folder of a recording, and which part of it."""
    parser.add_argument("data", metavar="DATA", help="folder of a recording")
    add_slices(parser)


def add_slices(parser: argparse.ArgumentParser) -> None:
    """Add the options that `select` reads."""
    group = parser.add_argument_group("which part of the recording")
    group.add_argument("--days", type=span, metavar="D", help="only so many days: the last ones, or from --from-day on")
    group.add_argument("--from-day", type=float, metavar="X", help="begin after this day of the recording")
    group.add_argument("--sites", metavar="A,B", help="only these sites, by name or number")
    group.add_argument("--kinds", metavar="K,L", help="only sites of these kinds, such as docs,list")
    add_pages(group)
    group.add_argument("--pages", type=int, metavar="N", help="a random sample of N pages (drawn with --seed)")


def add_pages(parser: Any) -> None:
    """Add the options for kinds of pages."""
    parser.add_argument("--fixed", action="store_true", help="only pages that live through the whole window")
    parser.add_argument("--active", action="store_true", help="only pages that had changed before the window")
    parser.add_argument("--active-within", type=span, metavar="D",
                        help="only pages that had changed in the D before the window, such as 7d")  # fmt: skip


def select(
    args: argparse.Namespace, quick_pages: int | None = None
) -> tuple[Recording, tuple[str, ...], tuple[str, ...]]:
    """Open the recording and slice it; returns it with the names of the slices and notes on what was left out.

    With --quick and no --pages, a random sample of `quick_pages` is taken where there are more.
    """
    from recrawl.recording.recording import Recording

    whole = Recording.open(args.data)
    recording = whole.window(*window(whole, args.days, args.from_day))
    notes = _notes(whole, recording)
    named = {
        f"sites {args.sites}": args.sites,
        f"kinds {args.kinds}": args.kinds,
        "pages that live through the window": args.fixed,
        "pages that had changed before": args.active,
        "pages that had changed shortly before": args.active_within,
        "a random sample": args.pages,
    }
    slices = tuple(name for name, asked in named.items() if asked not in (None, False))
    recording = sliced(recording, args)
    if args.pages is not None:
        recording = recording.sample(args.pages, args.seed)
    elif quick_pages is not None and args.quick and len(recording) > quick_pages:
        recording = recording.sample(quick_pages, args.seed)
    return recording, slices, notes


def sliced(recording: Recording, args: argparse.Namespace) -> Recording:
    """Keep the pages of --sites, --kinds, --fixed, --active and --active-within."""
    recording = recording.sites(split_specs(args.sites)) if args.sites else recording
    recording = recording.kinds(split_specs(args.kinds)) if args.kinds else recording
    recording = recording.fixed() if args.fixed else recording
    recording = recording.active() if args.active else recording
    recording = recording.active(args.active_within) if args.active_within else recording
    if not len(recording):
        raise InputError(f"no page of {args.data} is left: the selection is empty")
    return recording


def window(whole: Recording, days: float | None, from_day: float | None) -> tuple[float, float]:
    """Return the first and last day of the window, or raise InputError."""
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
