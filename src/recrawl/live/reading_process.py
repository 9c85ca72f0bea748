"""A process that reads large pages, one after the other, from its standard input; a CPU limit ends it.

A job and its answer are pickled, each after its length. The process has this many CPU-seconds for each job; then the
kernel ends it by SIGPROF, whatever it is doing. It ends by itself when its input does, so it never outlives its crawl.

    python -m recrawl.live.reading_process CPU_LIMIT_S
"""

from __future__ import annotations

import pickle
import signal
import sys

from recrawl.see.page import see_page

LENGTH_BYTES = 8

Job = tuple[bytes, str, tuple[tuple[str, str], ...]]  # body, URL, headers


def serve(cpu_limit_s: float) -> None:
    """Answer jobs until the input ends."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl decides when to stop
    see_page(b"<p>words 12:34 <a href=x>x</a>", "http://localhost/")  # loads the kernels, at nobody's expense
    while head := source.read(LENGTH_BYTES):
        job = pickle.loads(source.read(int.from_bytes(head, "little")))
        signal.setitimer(signal.ITIMER_PROF, cpu_limit_s)
        answer = pickle.dumps(see_page(*job), protocol=pickle.HIGHEST_PROTOCOL)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        sink.write(len(answer).to_bytes(LENGTH_BYTES, "little"))
        sink.write(answer)
        sink.flush()


if __name__ == "__main__":
    serve(float(sys.argv[1]))
