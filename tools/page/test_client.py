"""A client generated from `/v1/openapi.json`, without a line of ours: every operation is called, and
every answer is what the client expects; see the script `check` beside this file.
"""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from io import BytesIO
from pathlib import Path

PROGRAM = os.environ["TRINIM"]
LINES = b"1/11/101/1111\n0x3ff\n"
# One object a line is none of the forms that the generator knows: it is to be handed over as text.
CONFIG = json.dumps(
    {"post_hooks": [], "content_type_overrides": {"application/x-ndjson": "text/plain"}}
)


class Client(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        command = [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--layers", "4", "--quiet"]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.server.stdout.close)
        self.addCleanup(self.server.wait, 30)
        self.addCleanup(self.server.kill)
        self.url = self.server.stdout.readline().split()[2].rstrip("/")

    def generate(self):
        description, config = self.folder / "openapi.json", self.folder / "config.json"
        with urllib.request.urlopen(self.url + "/v1/openapi.json", timeout=30) as answer:
            description.write_bytes(answer.read())
        config.write_text(CONFIG)
        command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
        command += ["--path", description, "--config", config, "--output-path", self.folder / "generated"]
        made = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        # The text form of the lines is one of two that are offered; the other is understood.
        self.assertNotIn("Unable to parse", made.stdout + made.stderr)
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        return importlib.import_module("generated"), json.loads(description.read_text())

    def test_every_operation_is_understood(self):
        generated, description = self.generate()
        types = importlib.import_module("generated.types")
        names = [one.name for one in pkgutil.walk_packages(generated.__path__, "generated.")]
        modules = map(importlib.import_module, names)
        calls = [module for module in modules if hasattr(module, "sync_detailed")]
        paths = description["paths"]
        self.assertEqual(len(calls), len(paths))
        seen = set()
        with generated.Client(self.url, raise_on_unexpected_status=True) as client:
            for call in calls:
                path = call._get_kwargs.__code__.co_consts
                path = next(text for text in path if isinstance(text, str) and text in paths)
                operation = next(iter(paths[path].values()))
                given = {
                    parameter["name"]: parameter["example"]
                    for parameter in operation["parameters"]
                    if "example" in parameter
                }
                for name, value in given.items():
                    kind = call._get_kwargs.__annotations__[name]
                    enum = next((one for one in getattr(kind, "__args__", ()) if hasattr(one, "__members__")), None)
                    given[name] = enum(value) if enum else value
                def asked(**given):
                    if "requestBody" in operation:
                        given["body"] = types.File(BytesIO(LINES))
                    return call.sync_detailed(client=client, **given)

                found = asked(**given)
                self.assertEqual(found.status_code, 200, path)
                self.assertIsNotNone(found.parsed, path)
                if path == "/v1/positions":
                    values = [json.loads(line)["value"] for line in found.parsed.splitlines()]
                    self.assertEqual(values, ["win", "win"])
                if path == "/v1/position":
                    self.assertEqual(found.parsed.value, "win")
                if "board" in given:
                    wrong = asked(**{**given, "board": "none"})
                    self.assertEqual((wrong.status_code, wrong.parsed.status), (404, 404), path)
                seen.add(path)
        self.assertEqual(seen, set(paths))


if __name__ == "__main__":
    unittest.main()
