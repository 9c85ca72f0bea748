"""What differs between two visits to an unchanged page: clocks, counters, "3 minutes ago", render times, tokens.

`ROTATING` says what that is. Trying it at every place of a page would cost most of the time of reading, so a compiled
scan (rotating_places.py) first finds the few places where it could begin; it never misses one where it does. Letters
and digits are those of ASCII. Every repetition is bounded or never taken back, so the time is linear in any text.
"""

from __future__ import annotations

import re

_S0, _S1 = r"\s{0,8}+", r"\s{1,8}+"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,9}\.?"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_DATE = (
    rf"(?:(?:{_DAY},?{_S1})?(?:[0-9]{{4}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}}|[0-9]{{1,2}}[-/.][0-9]{{1,2}}[-/.][0-9]{{2,4}}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)?[\s-]{{1,8}}+{_MONTH}[\s,-]{{1,8}}+[0-9]{{2,4}}"
    rf"|{_MONTH}{_S1}[0-9]{{1,2}}(?:st|nd|rd|th)?,?{_S1}[0-9]{{4}}))"
)
_ZONE = r"(?:\s?(?:z|utc|gmt|[ap]\.?m\.?|[a-z]{3,4}t)\b|\s?[+-][0-9]{2}:?[0-9]{2})*"
_TIME = rf"(?:[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]++)?)?{_ZONE})"
_UNIX_DATE = (  # as date(1) and asctime write it: Mon Nov 16 17:45:02 UTC 2026
    rf"{_MONTH}{_S1}[0-9]{{1,2}}{_S1}[0-9]{{1,2}}:[0-9]{{2}}:[0-9]{{2}}(?:{_S1}[ap]m)?(?:{_S1}[a-z]{{1,5}})?{_S1}[0-9]{{4}}"
)
_COUNTED = (
    r"(?:views?|visits?|visitors?|hits?|reads?|clicks?|downloads?|likes?|shares?|followers?|(?:users?|guests?|members?"
    rf"|people|visitors?){_S1}(?:online|active|browsing|viewing))"
)
_COUNT = r"[0-9][0-9.,\u00a0]{0,23}[km]?"
_EPOCH = r"1[0-9]{9}(?:[0-9]{3}){0,3}(?:\.[0-9]{1,9})?"  # seconds since 1970 (2001 to 2033), or ms, us, ns

ROTATING = re.compile(
    "|".join(
        (
            rf"(?:last{_S1})?(?:updated?|modified|refreshed|generated|retrieved|rendered|printed|checked|as{_S1}of|today{_S1}is"
            rf"|now|current{_S1}time|server{_S1}time|local{_S1}time)\b[\s:]{{0,8}}+(?:(?:on|at){_S1})?+(?:{_DATE}[\s,]{{0,8}}+"
            rf"(?:at{_S1})?+{_TIME}?|{_TIME})",
            rf"{_DATE}[t\s,]{{1,8}}+(?:at{_S1})?{_TIME}",
            rf"(?:{_DAY},?{_S1})?{_UNIX_DATE}\b",
            r"\b[0-9]{8}t[0-9]{6}z?\b",
            rf"\b[0-9]{{1,2}}:[0-9]{{2}}:[0-9]{{2}}(?:[.,][0-9]++)?{_ZONE}",
            rf"\b[0-9]{{1,20}}+{_S0}(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?){_S1}ago\b",
            rf"\b{_COUNT}{_S1}{_COUNTED}\b",
            rf"\b{_COUNTED}{_S0}[:=]{_S0}{_COUNT}",
            r"\b(?:generated|rendered|loaded|executed|served|created|built|took|query|queries|processed)\b[^.\n]{0,40}?"
            rf"[0-9]{{1,20}}+(?:[.,][0-9]{{1,20}}+)?+{_S0}(?:ms|msecs?|milliseconds?|s|secs?|seconds?)\b",
            r"\b(?:session|sess|sid|csrf|xsrf|token|nonce|request|ray|trace|correlation|build)[\s_-]{0,8}+(?:id|token|key)?+"
            rf"{_S0}[:=#]{_S0}(?=(?:[^\W0-9]|[./+=-]){{0,200}}+[0-9])[\w./+=-]++",
            rf"\b[a-z_]{{0,24}}?(?:time|stamp|epoch|now|date|ts|at)[\"']?{_S0}[:=]?{_S0}[\"']?{_EPOCH}\b",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            r"\b(?=[a-f]*+[0-9])[0-9a-f]{16,}+\b",
            r"\b(?=[a-z_-]*+[0-9])(?=[0-9_-]*+[a-z])[\w-]{24,}\b",
            rf"(?:©|\(c\)|copyright){_S0}(?:[0-9]{{4}}{_S0}[-–]{_S0})?[0-9]{{4}}",
        )
    )
)
CLOCK_LINE = re.compile(
    rf"\W*+(?:{_DAY}\W++)?(?:{_UNIX_DATE}|(?:{_DATE}\W*+)?{_TIME}?)\W*+|\W*+[0-9][0-9.,\u00a0]*+[km]?\W*+"
)
LONGEST_CLOCK = 60  # characters
