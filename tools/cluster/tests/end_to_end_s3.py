"""Whole solves in a bucket of an S3 server on the loopback: kills, counts, what is refused.

The server is that of moto, which keeps the objects in memory.
"""

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from tests.session import starts
from tests.whole import LONG, TASK, TRINIM, Whole, output

BUCKET = "solves"
VARIABLES = {
    "AWS_ACCESS_KEY_ID": "anyone",
    "AWS_SECRET_ACCESS_KEY": "anything",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}


# Says its port, which was free.
SERVER = """
import signal
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
signal.pause()
"""


def serve(environment: dict[str, str], cleanup: Callable[..., object]) -> str:
    """Starts a server; its address. It is stopped by the cleanup."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    cleanup(process.stdout.close)
    cleanup(process.wait)
    cleanup(process.kill)
    port = process.stdout.readline().strip()
    assert port, f"no S3 server: exit code {process.wait()}"
    return f"http://127.0.0.1:{port}"


def refused(environment: dict[str, str], *arguments: str) -> tuple[int, str]:
    """Exit code and errors of the real program."""
    ended = subprocess.run(
        [TASK, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return ended.returncode, ended.stderr


class Buckets(Whole):
    address: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.address = serve({}, cls.addClassCleanup)
        request = urllib.request.Request(f"{cls.address}/{BUCKET}", method="PUT")
        urllib.request.urlopen(request, timeout=60).close()
        # The driver, its workers and their tasks inherit them.
        patch = mock.patch.dict(os.environ, VARIABLES | {"AWS_ENDPOINT_URL": cls.address})
        patch.start()
        cls.addClassCleanup(patch.stop)

    def place(self) -> str:
        return f"s3://{BUCKET}/{self.id()}"

    def bring_home(self) -> Path:
        """A copy of the store in a folder."""
        output(TASK, "copy", "--store", self.place(), "--to", str(self.store))
        return self.store

    def test_worker_and_scheduler_are_killed(self) -> None:
        session = self.session(program=self.wrapper(seconds=0.2))
        session.wait_for_done(1, LONG)
        blocks = len(self.plan().tasks)
        self.kill_worker_and_scheduler(session, blocks)
        home = self.bring_home()
        self.check_result(session, home / "db")
        output(TRINIM, "verify", str(home))
        # In shares, from the bucket itself.
        check = self.check_in_shares()
        self.assertEqual(check.wait(LONG), 0, check.said())
        report = check.report()
        self.assertEqual((report["ok"], report["blocks"], report["findings"]), (True, blocks, []))
        # The same command again computes nothing.
        before = starts(self.starts)
        session = self.session(program=self.wrapper())
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual(starts(self.starts), before)

    def test_counts_and_batches(self) -> None:
        """Blocks are removed while the solve goes on; what a solve keeps is left."""
        session = self.session("--batches", "20", "--keep", "counts", program=self.wrapper())
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.check_counts(session, self.bring_home() / "db")

    def test_what_is_refused(self) -> None:
        absent = f"s3://not-{BUCKET}/x"
        code, said = refused({}, "init", "--store", absent, "--layers", "3")
        self.assertEqual(code, 2)
        self.assertIn(f"{absent}: no such bucket", said)
        # Another solve at the same place, by the driver.
        output(TASK, "init", "--store", self.place(), "--layers", "7")
        session = self.session(program=TASK)
        self.assertEqual(session.wait(LONG), 65, session.said())
        self.assertIn("bid_cells", session.report()["reason"])
        # A server that knows no one.
        strict = serve({"INITIAL_NO_AUTH_ACTION_COUNT": "0"}, self.addCleanup)
        variables = {"AWS_ENDPOINT_URL": strict}
        for command in (["init", "--layers", "3"], ["list"]):
            code, said = refused(variables, *command, "--store", self.place())
            self.assertEqual(code, 65, said)
            self.assertIn(f"{self.place()}/task.json: InvalidAccessKeyId", said)
        # No server at all: whoever asks is told to try again, after a while. The port is taken, so
        # nobody else begins to listen there.
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            variables = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{taken.getsockname()[1]}"}
            code, said = refused(variables, "list", "--store", self.place())
        self.assertEqual(code, 75, said)
        self.assertIn("the same command may succeed later", said)
