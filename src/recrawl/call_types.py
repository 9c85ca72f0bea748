"""numba's answers to "what does this function return for these types?", remembered while a process runs.

For each `a + b` of each kernel numba tries all implementations that are registered for `+` until one fits: a sixth of
the time that compiling takes. The answer depends on the function with its implementations, on the types and on the
options that the kernel is compiled with, and is kept per these; the machine code is the same to the byte.
"""

from __future__ import annotations

import inspect
from typing import Any

from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

_functions: Any = BaseFunction
_ask: Any = _functions.get_call_type
_answers: dict[Any, tuple[Any, Any]] = {}
_kept: list[Any] = []  # function types that answers are kept for: while they live, nothing else has their address
_options: list[Any] = []  # the different sets of options that kernels were compiled with
_last: tuple[Any, int] = (None, -1)


def remember() -> None:
    """Have numba look here first, if it works inside as the version that this was written for."""
    if list(inspect.signature(_ask).parameters) == ["self", "context", "args", "kws"]:
        _functions.get_call_type = _call_type


def _call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a call; numba then looks up the implementation by the types of its arguments."""
    if kws or type(args) is not tuple:
        return _ask(self, context, args, kws)
    key = (id(self), context, args, _options_now())
    known = _answers.get(key)
    if known is not None:
        self._impl_keys[known[0].args] = known[1]
        return known[0]
    signature = _ask(self, context, args, kws)
    if not any(_inlined(template) for template in self.templates):
        _kept.append(self)
        _answers[key] = signature, self._impl_keys[signature.args]
    return signature


def _inlined(template: Any) -> bool:
    """Is the source of an implementation copied into its callers? Then numba looks at more than the signature."""
    inline = getattr(template, "_inline", None)
    return inline is not None and not inline.is_never_inline


def _options_now() -> int:
    """Return the number of the options of the kernel that is being compiled."""
    global _last
    options = ConfigStack.top_or_none()
    if options is not _last[0] or options is None:
        number = next((i for i, known in enumerate(_options) if known == options), len(_options))
        if number == len(_options):
            _options.append(options)
        _last = options, number
    return _last[1]
