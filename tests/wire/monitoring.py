"""The alerts and dashboard queries of manifests/overlays/monitoring."""

import json
import os
import re

import yaml
from service import ROOT

OVERLAY = os.path.join(ROOT, "manifests/overlays/monitoring")
METRIC = re.compile(r"\b(?:gpu_extender|process)_[a-z0-9_]+")
# Of a histogram, by the name that its samples have.
PART = re.compile(r"_(?:bucket|sum|count)$")
# The values that replace Grafana's variables.
VARIABLES = {"$__rate_interval": "1m", "$namespace": ".*"}


def read(name):
    with open(os.path.join(OVERLAY, name), encoding="utf-8") as file:
        return file.read()


def rule_groups():
    """The configuration of a Prometheus without the operator."""
    return {"groups": yaml.safe_load(read("rules.yaml"))["spec"]["groups"]}


def alerts():
    return [rule for group in rule_groups()["groups"] for rule in group["rules"]]


def dashboard():
    return json.loads(read("dashboard.json"))


def queries():
    """(title of the panel, expression), as Prometheus gets it."""
    found = []
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            expression = target["expr"]
            for variable, value in VARIABLES.items():
                expression = expression.replace(variable, value)
            found.append((panel["title"], expression))
    return found


def metrics_of(expression):
    return {PART.sub("", name) for name in METRIC.findall(expression)}
