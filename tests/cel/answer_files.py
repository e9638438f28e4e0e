"""Files of answers that were recorded from upstream's code, for tests/cel and tests/allocate.

A line is a question: eight digits of its hash, and the answer, whose form is the folder's own. The question itself is made again,
from what the head of the file names; the hash shows that it is the one that was answered. Lines that begin with "#" are the head.
"""

import hashlib
import json


class Outdated(Exception):
    """A file does not answer today's questions."""


def digest(question):
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:8]


def lines_of(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line for line in file.read().split("\n") if line and not line.startswith("#")]


def write(path, head, lines):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"# {line}\n" for line in head.strip().split("\n"))
        file.writelines(f"{line}\n" for line in lines)


def lines_for(questions, answers):
    return [f"{digest(question)}\t{answer}" for question, answer in zip(questions, answers, strict=True)]


def answers_for(questions, path, command):
    """The answers of the file. command: records it anew."""
    lines = [line.split("\t", 1) for line in lines_of(path)]
    anew = f"record again, with {command}"
    if len(lines) != len(questions):
        raise Outdated(f"{path} answers {len(lines)} questions and there are {len(questions)}: {anew}")
    for number, ((was, _), question) in enumerate(zip(lines, questions, strict=True), 1):
        if was != digest(question):
            raise Outdated(f"{path}: answer {number} is of another question ({was}, not {digest(question)}). The generator of questions has changed, or this Python's random has: {anew}")
    return [answer for _, answer in lines]


def first_change(path, fresh, command, is_open=lambda was, now: False):
    """What a file has that is not in the fresh lines; None if they are the same. is_open: whether two lines may differ."""
    recorded = lines_of(path)
    for number, (was, now) in enumerate(zip(recorded, fresh, strict=False), 1):
        if was != now and not is_open(was, now):
            return f"{path} is out of date: {command} records anew.\n  line {number} is {was[:600]}\n  and would be {now[:600]}"
    if len(recorded) != len(fresh):
        return f"{path} has {len(recorded)} lines and would have {len(fresh)}: {command} records anew"
    return None
