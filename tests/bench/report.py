"""Output of benchmarks: date, machine, and Markdown tables."""

import datetime
import os
import re


def heading():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    processor = model.group(1) if model else "unknown processor"
    return f"{datetime.date.today()}, {os.cpu_count()} cores, {processor}, load average {os.getloadavg()[0]:.1f}\n"


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def table(headings, rows):
    """An aligned Markdown table."""
    rows = [headings, ["---"] * len(headings), *rows]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(headings))]
    for row in rows:
        cells = [str(cell).ljust(width) for cell, width in zip(row, widths)]
        print("| " + " | ".join("-" * w if c.strip() == "---" else c for c, w in zip(cells, widths)) + " |")
    print()
