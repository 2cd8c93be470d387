"""What a slot of a worker does: one `trinim task` process, from start to exit.

This is the only code that Dask runs on other machines.
"""

from __future__ import annotations

import asyncio
import json
import platform
import subprocess
import time
from contextlib import suppress
from functools import cache
from typing import Any

from distributed import get_worker

from trinim_cluster import trinim


@cache
def version(program: str) -> str:
    """The version here, asked once a worker."""
    return trinim.version(program)


def compute(command: list[str], expected_version: str) -> dict[str, Any]:
    """Runs the command line of a task.

    The result has `code`, `message`, `report` (of `--json`, also of a failure; or null), `host`,
    `worker` (its address) and the times `began` and `ended`, in seconds of this host's clock.
    `code` is 65 if the program here is another version than the driver's: it would compute no block
    of this run, and the worker leaves the cluster. Whoever keeps it running starts it again, more
    and more slowly.
    """
    began = time.time()
    result: dict[str, Any] = {
        "host": platform.node(),
        "worker": worker_address(),
        "began": began,
        "report": None,
        "message": "",
    }
    try:
        here = version(command[0])
        if here != expected_version:
            first, wanted = here.splitlines()[:1], expected_version.splitlines()[:1]
            text = (
                f"{command[0]} on this worker is another version: {first}, the driver has {wanted}"
            )
            leave(text)
            return result | {
                "code": trinim.REFUSED,
                "message": text,
                "foreign": True,
                "ended": time.time(),
            }
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except (OSError, trinim.TrinimError) as error:
        # No such program here, or no memory for a process: another worker may do better.
        return result | {"code": 127, "message": str(error), "ended": time.time()}
    result["code"] = ended.returncode
    result["ended"] = time.time()
    with suppress(ValueError):
        result["report"] = json.loads(ended.stdout)
    if ended.returncode != trinim.DONE:
        result["message"] = trinim.last_words(ended.stderr, ended.stdout)
    return result


def leave(reason: str) -> None:
    """Closes the worker that runs this, once the result of this task is delivered."""
    try:
        worker = get_worker()
    except ValueError:
        return
    worker.loop.add_callback(
        lambda: worker.loop.call_later(
            2.0, lambda: asyncio.ensure_future(worker.close(reason=reason))
        )
    )


def worker_address() -> str:
    """The address of the Dask worker that runs this; empty outside of one."""
    try:
        return str(get_worker().address)
    except ValueError:
        return ""
