#!/usr/bin/env python3
"""Checks the files for operators in Packaging/ against the project; see packaging-test.sh."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "Packaging"
METRIC = re.compile(r"\btideover_\w+")


def documented():
    """Returns the metrics of docs/operating.md, histograms with the names of their series."""
    names = set()
    for line in (ROOT / "docs/operating.md").read_text().splitlines():
        if found := re.match(r"\| `(tideover_\w+)` \|.*\| (.*) \|$", line):
            names.add(found[1])
            if found[2].startswith("histogram"):
                names |= {f"{found[1]}{suffix}" for suffix in ("_bucket", "_sum", "_count")}
    return names


def metric_faults():
    known = documented()
    for name in ("alerts.yml", "alerts.test.yml", "grafana.json"):
        text = (PACKAGING / "monitoring" / name).read_text()
        for metric in sorted(set(METRIC.findall(text)) - known):
            yield f"{name}: {metric} is not in docs/operating.md"


def dashboard_faults():
    panels = json.loads((PACKAGING / "monitoring/grafana.json").read_text())["panels"]
    if len({panel["id"] for panel in panels}) != len(panels):
        yield "grafana.json: two panels have one id"
    taken = {}
    for panel in panels:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if x >= 24 or taken.setdefault((x, y), panel["id"]) != panel["id"]:
                    yield f"grafana.json: the panel {panel['title']} has no place of its own"
                    break


def image():
    """Returns what the image exposes, by Packaging/Dockerfile."""
    text = (PACKAGING / "Dockerfile").read_text()
    return {
        "port": int(re.search(r"^EXPOSE (\d+)$", text, re.MULTILINE)[1]),
        "volume": re.search(r"^VOLUME (\S+)$", text, re.MULTILINE)[1],
        "user": int(re.search(r"--uid (\d+)", text)[1]),
        "configuration": re.search(r'"--config", "(\S+)"\]', text)[1],
    }


def manifests():
    return {part["kind"]: part for part in yaml.safe_load_all((PACKAGING / "kubernetes.yaml").read_text())}


def deployment_faults(expected):
    parts = manifests()
    pod = parts["StatefulSet"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    folder, name = expected["configuration"].rsplit("/", 1)
    service = yaml.safe_load((PACKAGING / "compose.yaml").read_text())["services"]["tideover"]
    volumes = dict(volume.split(":")[:2] for volume in service["volumes"])
    for what, actual, wanted in (
        ("kubernetes.yaml: port", container["ports"][0]["containerPort"], expected["port"]),
        ("kubernetes.yaml: user", pod["securityContext"]["runAsUser"], expected["user"]),
        ("kubernetes.yaml: database", mounts["database"], expected["volume"]),
        ("kubernetes.yaml: configuration", mounts["configuration"], folder),
        ("kubernetes.yaml: file", list(parts["ConfigMap"]["data"]), [name]),
        ("kubernetes.yaml: replicas", parts["StatefulSet"]["spec"]["replicas"], 1),
        ("compose.yaml: port", service["ports"], [f"127.0.0.1:{expected['port']}:{expected['port']}"]),
        ("compose.yaml: database", volumes["database"], expected["volume"]),
        ("compose.yaml: configuration", volumes["./tideover"], folder),
    ):
        if actual != wanted:
            yield f"{what} is {actual}, and should be {wanted}"


def configuration_faults(program):
    text = manifests()["ConfigMap"]["data"]["tideover.json"]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "tideover.json"
        file.write_text(text)
        run = subprocess.run(
            [program, "config", "--config", file], capture_output=True, text=True, check=False
        )
        if run.returncode != 0:
            yield f"kubernetes.yaml: the server rejects the configuration: {run.stderr}"


def main():
    faults = [
        *metric_faults(), *dashboard_faults(), *deployment_faults(image()),
        *configuration_faults(sys.argv[1]),
    ]
    for fault in faults:
        print(fault)
    print(f"{len(documented())} metrics known, {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
