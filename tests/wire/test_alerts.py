"""manifests/overlays/monitoring: each alert fires when it should and not before, has a runbook, and uses existing metrics.
The dashboard uses existing metrics too.
"""

import glob
import json
import os
import re
import subprocess

import marked
import pytest
import yaml
from monitoring import OVERLAY, alerts, dashboard, metrics_of, queries, read, rule_groups
from service import ROOT, run_to_end
from test_openapi import documented_metrics


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


ALERTS = alerts()
NAMES = [alert["alert"] for alert in ALERTS]
CODE = "".join(text_of(path) for path in glob.glob("src/**/*.c", root_dir=ROOT, recursive=True))
DOCUMENTS = ("docs/OPERATIONS.md", "docs/RUNBOOKS.md")


def run_promtool(promtool, folder, *arguments):
    done = subprocess.run([promtool, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_accepts_the_rules(promtool, tmp_path):
    (tmp_path / "rules.json").write_text(json.dumps(rule_groups()), encoding="utf-8")
    run_promtool(promtool, tmp_path, "check", "rules", "--lint-fatal", "rules.json")


@pytest.mark.long
def test_alerts_fire_when_they_should(promtool, tmp_path):
    """Alerts without their annotations, which would have to be repeated verbatim."""
    groups = rule_groups()
    for group in groups["groups"]:
        for rule in group["rules"]:
            del rule["annotations"]
    (tmp_path / "rules.json").write_text(json.dumps(groups), encoding="utf-8")
    (tmp_path / "alerts.yaml").write_text(text_of("tests/wire/alerts.yaml"), encoding="utf-8")
    run_promtool(promtool, tmp_path, "test", "rules", "alerts.yaml")


DAY = 24 * 60 // 10  # in minutes: promtool reads at most 10,000 samples, so the month is a tenth of one


def test_the_documented_query_adds_up_the_gpu_hours_of_a_month(promtool, tmp_path):
    """Of two replicas: one restarts after ten days, the other starts after five and is gone for the last five. What both count, counts
    once. A pod of team-a has 8 GPUs all the month, and borrows 4 more for ten days; team-b has 2 GPUs of a model for 15 days."""
    query = re.search(r"```promql\n(.*)\n```", text_of("docs/QUOTA.md")).group(1)
    assert query.count("[30d:") == 1
    metric = 'gpu_extender_gpu_seconds_total{namespace="%s", model="%s", kind="%s", pod="%s"}'
    series = [
        (metric % ("team-a", "H100", "guaranteed", "one"), f"0+480x{10 * DAY} 0+480x{20 * DAY}"),
        (metric % ("team-a", "H100", "guaranteed", "two"), f"_x{5 * DAY} 0+480x{20 * DAY} stale"),
        (metric % ("team-a", "H100", "borrowed", "one"), f"_x{12 * DAY} 0+240x{10 * DAY} stale"),
        (metric % ("team-b", "A100", "unlimited", "two"), f"_x{10 * DAY} 0+120x{15 * DAY} stale"),
    ]
    samples = [{"labels": '{namespace="team-a"}', "value": 8 * 72 + 4 * 24}, {"labels": '{namespace="team-b"}', "value": 2 * 36}]
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series],
        # Rounded: the first and last minutes of a series are extrapolated.
        "promql_expr_test": [{"expr": f"round({query.replace('30d', '3d')}, 2)", "eval_time": "3d", "exp_samples": samples}],
    }
    (tmp_path / "month.json").write_text(json.dumps({"rule_files": [], "evaluation_interval": "1m", "tests": [test]}), encoding="utf-8")
    run_promtool(promtool, tmp_path, "test", "rules", "month.json")


def test_each_alert_has_series_that_make_it_fire_and_others_that_do_not():
    cases = [case for test in yaml.safe_load(text_of("tests/wire/alerts.yaml"))["tests"] for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == set(NAMES)
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == set(NAMES)


def anchor(title):
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def test_each_alert_has_a_runbook_and_the_other_way_round():
    sections = re.findall(r"^## (\w+)$", text_of("docs/RUNBOOKS.md"), re.MULTILINE)
    assert sorted(sections) == sorted(NAMES)
    for alert in ALERTS:
        assert alert["annotations"]["runbook_url"] == f"docs/RUNBOOKS.md#{anchor(alert['alert'])}"
        assert alert["labels"]["severity"] in ("critical", "warning")
        assert alert["annotations"]["summary"] and alert["annotations"]["description"]


def test_metrics_of_alerts_and_dashboard_exist():
    """The tables of docs/openapi.yaml, which are compared with a page and with the code."""
    there = set.union(*documented_metrics())
    looked_at = set.union(*(metrics_of(alert["expr"]) for alert in ALERTS), *(metrics_of(query) for _, query in queries()))
    assert looked_at - there == set() and len(looked_at) > 25


def test_label_values_exist_in_the_code():
    labels = [found for alert in ALERTS for found in re.findall(r'(\w+)=~?"([\w|]+)"', alert["expr"])]
    assert {label for label, _ in labels} == {"code", "outcome", "reason", "result", "route", "state", "verb"}
    assert {value for label, values in labels if label != "code" for value in values.split("|") if f'"{value}"' not in CODE} == set()


def test_the_dashboard_is_well_formed():
    panels = dashboard()["panels"]
    places = {(x, y) for panel in panels for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"]) for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])}
    assert len(places) == sum(panel["gridPos"]["w"] * panel["gridPos"]["h"] for panel in panels), "none lies on another"
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(target["datasource"]["uid"] == "${datasource}" for panel in panels for target in panel.get("targets", ()))


def test_the_overlay_names_its_files():
    named = yaml.safe_load(read("kustomization.yaml"))
    files = set(named["resources"]) | {file for item in named["configMapGenerator"] for file in item["files"]}
    assert files | {"kustomization.yaml"} == set(os.listdir(OVERLAY))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_name_existing_alerts(document):
    text = text_of(document)
    assert metrics_of(text) - set.union(*documented_metrics()) == set() and len(metrics_of(text)) > 3
    assert set(re.findall(r"\bGpuExtender[A-Z]\w+", text)) - set(NAMES) == set()
    assert {said for said in re.findall(r'msg="([^"]+)"', text) if f'"{said}' not in CODE} == set()
    printed = run_to_end("--print-policy").stdout
    for section, key in re.findall(r"`(kubernetes|limits|listen|scheduler|filter|tls)\.(\w+)`", text):
        is_check_of_the_doctor = f'"{section}.{key}"' in CODE
        assert is_check_of_the_doctor or re.search(rf"^ *{key}:", printed, re.MULTILINE), key


def test_prometheus_accepts_the_documented_configuration(promtool, tmp_path):
    """Except the discovery, which Debian's build lacks, and the files, which are absent here."""
    text = marked.block("docs/OPERATIONS.md", "scrape")
    whole = yaml.safe_load(re.sub(r"(_file: )[\w./-]+", r"\1here", text))
    assert whole["scrape_configs"][0].pop("kubernetes_sd_configs")
    (tmp_path / "here").touch()
    (tmp_path / "prometheus.yaml").write_text(json.dumps(whole), encoding="utf-8")
    run_promtool(promtool, tmp_path, "check", "config", "--lint-fatal", "prometheus.yaml")


def test_no_metric_is_left_off_the_dashboard():
    """Every metric is on the dashboard, except those for other dashboards."""
    shown = set.union(*(metrics_of(query) for _, query in queries()))
    others = {"process_virtual_memory_bytes", "process_max_fds", "process_start_time_seconds", "gpu_extender_inventory_timestamp_seconds"}
    assert set.union(*documented_metrics()) - shown == others
