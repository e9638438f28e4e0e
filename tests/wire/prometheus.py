"""A real Prometheus process with rules. It scrapes one or more services every second; tests query its HTTP API."""

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from plane import free_port
from service import LIMIT_S, ROOT

# Number of scrapes of each service before the first query: rates need two.
SCRAPES = 3


def fetched(name):
    """The path of a program. If it is not installed, scripts/setup extracts it from a package."""
    there = os.path.join(ROOT, ".cache", name)
    found = shutil.which(name) or (there if os.path.exists(there) else None)
    if not found:
        pytest.skip(f"{name} could not be fetched by scripts/setup test")
    return found


class Prometheus:
    """Use as a context. `jobs`: {name: (address of a service, the rest of its scrape configuration)}. `groups`: rules."""

    def __init__(self, binary, folder, jobs, groups):
        self.binary, self.folder, self.n_targets = binary, folder, len(jobs)
        self.address = f"127.0.0.1:{free_port()}"
        self.config, self.log = folder / "prometheus.yaml", folder / "prometheus.log"
        (folder / "rules.json").write_text(json.dumps(groups), encoding="utf-8")
        read = [{"job_name": name, "static_configs": [{"targets": [address], "labels": {"namespace": "test"}}], **more} for name, (address, more) in jobs.items()]
        every = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        self.config.write_text(json.dumps({"global": every, "rule_files": ["rules.json"], "scrape_configs": read}), encoding="utf-8")

    def __enter__(self):
        options = [f"--config.file={self.config}", f"--storage.tsdb.path={self.folder / 'data'}", f"--web.listen-address={self.address}"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([self.binary, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.wait("the services are read", lambda: self.value(f"min(count_over_time(up[1h])) >= {SCRAPES} and count(up) == {self.n_targets}"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait(self, what, done):
        end = time.monotonic() + LIMIT_S
        while not (said := done()):
            assert self.process.poll() is None and time.monotonic() < end, f"waited in vain until {what}:\n{self.log.read_text()[-4000:]}"
            time.sleep(0.05)
        return said

    def ask(self, path, **query):
        """The data of an answer. An error of the API raises. None while Prometheus does not listen yet."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it is still reading its storage
                return None
            raise AssertionError(f"{query}: {error.code}: {error.read()}") from error
        except urllib.error.URLError:
            return None
        assert found["status"] == "success" and not found.get("warnings"), found
        return found["data"]

    def value(self, expression):
        """The samples as [(labels, value)]; [] while Prometheus does not listen yet."""
        data = self.ask("query", query=expression)
        return [(sample["metric"], float(sample["value"][1])) for sample in data["result"]] if data else []
