"""Finds every place of a C source where a small fault can be put, and puts it there.

A tokenizer finds them, no parser, so some faults do not compile. Comments, strings, preprocessor lines, assertions and log
lines get none.
"""

import bisect
import hashlib
import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
      (?P<skip>   /\*.*?\*/ | //[^\n]* | ^[ \t]*\#(?:\\\n|[^\n])* | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' )
    | (?P<number> (?:0[xX][0-9a-fA-F]+ | \d+\.\d*(?:[eE][+-]?\d+)? | \d+)[uUlLfF]* )
    | (?P<word>   [A-Za-z_]\w* )
    | (?P<sign>   \.\.\. | <<= | >>= | -> | \+\+ | -- | && | \|\| | << | >> | [-+*/%&|^<>=!]= | [^\s\w] )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
OPPOSITES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}
# Calls that get no fault, nor do their arguments.
SPARED = {"assert", "static_assert", "_Static_assert", "LOG"}
NO_CALLS = {"if", "while", "for", "switch", "return", "sizeof"}
JUMPS = {"break", "continue"}
# A dropped statement never begins with these. A declaration begins with two words, or with one of these.
NO_STATEMENTS = {"return", "if", "while", "for", "switch", "do", "else", "case", "default", "goto", "struct", "const", "static", "enum", "sizeof"}
NOTHING = {"0", "false", "NULL"}
SIMPLE = re.compile(r"[&*!]?[A-Za-z_0-9][\w.>\[\]-]*")


@dataclass(frozen=True)
class Token:
    text: str
    kind: str
    start: int

    @property
    def end(self):
        return self.start + len(self.text)


@dataclass(frozen=True)
class Fault:
    """One edit. `line` and `changed` are the lines it spans, before and after, with single spaces; `nth` counts those that read alike."""

    file: str
    function: str
    kind: str
    line: str
    changed: str
    nth: int
    number: int  # of the line, from 1
    start: int
    end: int
    text: str

    @property
    def key(self):
        return (self.file, self.function, self.line, self.changed, str(self.nth))

    def rank(self, seed):
        """Its place in the random order of that seed; a change elsewhere in the tree does not move it."""
        return hashlib.sha256("\0".join((str(seed), *self.key)).encode()).digest()

    def applied(self, source):
        return source[: self.start] + self.text + source[self.end :]


def tokens_of(source):
    return [Token(match.group(), match.lastgroup, match.start()) for match in TOKEN.finditer(source) if match.lastgroup != "skip"]


def matching(tokens):
    """Index of an opening bracket -> of the one that closes it."""
    closes, open_ = {}, []
    for index, token in enumerate(tokens):
        if token.text in "([{":
            open_.append(index)
        elif token.text in ")]}" and open_:
            closes[open_.pop()] = index
    return closes


def functions(tokens, closes):
    """(name, first index, last index) of each body."""
    index, begin = 0, 0
    while index < len(tokens):
        text = tokens[index].text
        if text == "{":
            names = [
                tokens[at - 1].text
                for at in range(begin + 1, index)
                if tokens[at].text == "(" and tokens[at - 1].kind == "word" and tokens[at - 1].text != "__attribute__"
            ]
            last = closes.get(index, len(tokens) - 1)
            if names and "=" not in [token.text for token in tokens[begin:index]]:
                yield names[0], index, last
                begin = last + 1
            index = last
        elif text == ";":
            begin = index + 1
        elif text == "(":
            index = closes.get(index, index)
        index += 1


def spaced(text):
    return " ".join(text.split())


class _Finder:
    def __init__(self, file, source):
        self.file, self.source = file, source
        self.tokens = tokens_of(source)
        self.closes = matching(self.tokens)
        self.ends = [match.start() for match in re.finditer("\n", source)]
        self.bodies = list(functions(self.tokens, self.closes))
        self.opens = {last: first for first, last in self.closes.items()}
        self.in_brackets = set()
        for first, last in self.closes.items():
            if self.tokens[first].text != "{":
                self.in_brackets.update(range(first + 1, last))
        self.seen, self.found = {}, []

    def add(self, function, kind, start, end, text):
        text += "\n" * (self.source[start:end].count("\n") - text.count("\n"))  # the lines below keep their numbers
        first = self.source.rfind("\n", 0, start) + 1
        last = self.source.find("\n", end)
        last = len(self.source) if last < 0 else last
        line = spaced(self.source[first:last])
        changed = spaced(self.source[first:start] + text + self.source[end:last])
        if line == changed:
            return
        same = (self.file, function, line, changed)
        nth = self.seen[same] = self.seen.get(same, -1) + 1
        number = bisect.bisect_left(self.ends, start) + 1
        self.found.append(Fault(self.file, function, kind, line, changed, nth, number, start, end, text))

    def spared(self, first, last):
        """The indices of such calls and of all that stands in them."""
        inside = set()
        for index in range(first, last):
            if self.tokens[index].text in SPARED and self.tokens[index + 1].text == "(":
                inside.update(range(index, self.closes[index + 1] + 1))
        return inside

    def run(self):
        outside = set(range(len(self.tokens)))
        for name, first, last in self.bodies:
            outside.difference_update(range(first, last + 1))
            skipped = self.spared(first, last)
            for index in range(first + 1, last):
                if index not in skipped:
                    self.at(name, index, last)
        for index in sorted(outside - self.spared(0, len(self.tokens) - 1)):
            if self.tokens[index].kind == "number" and self.tokens[index - 1].text != ":":
                self.constant("", self.tokens[index])
        return self.found

    def at(self, function, index, last):
        token = self.tokens[index]
        if token.kind == "number":
            self.constant(function, token)
        if token.text in OPPOSITES:
            kind = "and-or" if token.text in ("&&", "||") else "comparison"
            self.add(function, kind, token.start, token.end, OPPOSITES[token.text])
        if token.text in "+-" and self.is_binary(index):
            self.add(function, "arithmetic", token.start, token.end, "-" if token.text == "+" else "+")
        if token.text in ("if", "while") and self.tokens[index + 1].text == "(":
            self.negate(function, index + 1)
        if token.text == "return":
            self.return_(function, index)
        if token.kind == "word" and token.text not in NO_CALLS and self.tokens[index + 1].text == "(":
            self.swap(function, index + 1)
        self.drop(function, index, last)

    def constant(self, function, token):
        digits = re.fullmatch(r"(\d+)(\D*)", token.text)
        if not digits or (digits[1].startswith("0") and len(digits[1]) > 1):
            self.add(function, "constant", token.start, token.end, f"({token.text} + 1)")
            return
        self.add(function, "constant", token.start, token.end, f"{int(digits[1]) + 1}{digits[2]}")
        if int(digits[1]) > 0:
            self.add(function, "constant", token.start, token.end, f"{int(digits[1]) - 1}{digits[2]}")

    def is_binary(self, index):
        before = self.tokens[index - 1]
        return (before.kind in ("word", "number") and before.text != "return") or before.text in (")", "]")

    def negate(self, function, bracket):
        start, end = self.tokens[bracket].end, self.tokens[self.closes[bracket]].start
        self.add(function, "condition", start, end, f"!({self.source[start:end]})")

    def return_(self, function, index):
        stop = self.end_of_statement(index)
        value = [token.text for token in self.tokens[index + 1 : stop]]
        if not value:
            self.add(function, "statement", self.tokens[index].start, self.tokens[index].end, "")
            return
        opposite = {"0": "1", "false": "true"}.get(value[0] if len(value) == 1 else "", "0")
        if len(value) > 1 or value[0] not in NOTHING or opposite != "0":
            self.add(function, "return", self.tokens[index + 1].start, self.tokens[stop].start, opposite)

    def end_of_statement(self, index):
        while self.tokens[index].text != ";":
            index = self.closes.get(index, index) + 1
        return index

    def arguments(self, bracket):
        """(first index, index after the last) of each argument of a call."""
        first, index, last = bracket + 1, bracket + 1, self.closes[bracket]
        while index < last:
            if self.tokens[index].text == ",":
                yield first, index
                first = index + 1
            index = self.closes.get(index, index) + 1
        if first < last:
            yield first, last

    def swap(self, function, bracket):
        spans = [(self.tokens[first].start, self.tokens[stop - 1].end) for first, stop in self.arguments(bracket) if stop > first]
        for (start, middle), (other, end) in zip(spans, spans[1:], strict=False):
            one, two = self.source[start:middle], self.source[other:end]
            if one != two and SIMPLE.fullmatch(one) and SIMPLE.fullmatch(two):
                self.add(function, "arguments", start, end, two + self.source[middle:other] + one)

    def begins_statement(self, index):
        before = self.tokens[index - 1].text
        if before in (";", "{", "}", "else"):
            return True
        if before != ")":
            return False
        # After the bracket of an if or a loop, not in an expression.
        caller = self.tokens[self.opens[index - 1] - 1].text
        return caller in ("if", "while", "for", "switch") or caller.isupper()

    def drop(self, function, index, last):
        token = self.tokens[index]
        if token.text in JUMPS:
            self.add(function, "statement", token.start, token.end, "")
            return
        begins = token.kind == "word" and token.text not in NO_STATEMENTS or token.text in ("*", "++", "--", "(")
        if not begins or index in self.in_brackets or not self.begins_statement(index):
            return
        stop = index
        while stop < last and self.tokens[stop].text not in (";", "{", "}"):
            stop = self.closes.get(stop, stop) + 1
        if self.tokens[stop].text != ";":
            return
        texts = [each.text for each in self.tokens[index:stop]]
        is_declaration = token.kind == "word" and index + 1 < stop and (
            self.tokens[index + 1].kind == "word" or texts[1] == "*"
        )
        if not is_declaration and ("(" in texts or ASSIGNMENTS.intersection(texts)):
            self.add(function, "statement", token.start, self.tokens[stop].start, "")


def find(file, source):
    """All faults that can be put into that text, in its order; `file` names it in them."""
    return _Finder(file, source).run()


def choose(faults, seed, count):
    """`count` of them at random: the same for the same seed, and more of them begin with the same."""
    return sorted(faults, key=lambda fault: fault.rank(seed))[:count]
