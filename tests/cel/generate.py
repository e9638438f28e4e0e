"""Random selectors and devices: mostly well-typed, often nearly right, as people write them, and sometimes noise."""

DOMAINS = ["gpu.nvidia.com", "d", "resource.kubernetes.io", "none"]
LIKELY = DOMAINS[:3] * 4 + DOMAINS[3:]
NAMES = ["productName", "type", "index", "version", "memory", "sriov", "uuid", "none"]
# What a name has on most devices.
KINDS = {"productName": "string", "type": "string", "index": "int", "version": "version", "memory": "int", "sriov": "bool", "uuid": "string"}
STRINGS = ["", "gpu", "mig", "NVIDIA A100-SXM4-40GB", "NVIDIA A10", "NVIDIA H100 80GB HBM3", "a,b,,c", "\u00e9t\u00e9", "1g.5gb", "K", "ſ", " x ",
           "9.0.0", "0", "true", "a\nb"]
VERSIONS = ["9.0.0", "8.0.0", "12.4.1", "1.0.0-rc.1", "1.0.0-rc.2", "1.0.0-1", "1.0.0+b", "0.0.1"]
QUANTITIES = ["80Gi", "81559Mi", "40Gi", "0", "1", "1500m", "1.5", "1k", "1e3", "100n", "1.5Gi", "-1", "0.0000000001", "79.6Gi"]
BAD_QUANTITIES = ["80GB", "1 Gi", "x", "1.2.3", "Gi", "1e", "--1", "8Ei"]
BAD_VERSIONS = ["9.0", "v9.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "", "a.b.c", "1.2.3.4"]
PATTERNS = ["H100", "^.*a100.*$", "(?i)a100", "A10\\b", "^NVIDIA [AH]1[0]{2}", "a|b|", "(a*)*b", "[^a-z]+", "\\d+g\\.\\d+gb", "^$", ".", "[[:alpha:]]+$",
            "\\w{2,3}?x?", "(?s).", "(?m)^b$", "(?P<n>a)(?:b)?", "\\x41", "[\\d-]", "(?i)[k-s]", "(?i)ſ|k", "a{2}{3}", "*", "(", "a**", "[z-a]", "\\8",
            "a{1001}", "\\pL", "x{,3}", "[]a]", "\\Qa.b\\E", "\\B", "a{0}", "(|a)+", "(?i:G)pu", "[^\\n]*$", "\\S\\W*\\D", "^gpu$|mig"]


def quote(dice, text):
    mark = dice.choice("'\"")
    out = text.replace("\\", "\\\\").replace(mark, "\\" + mark).replace("\n", "\\n")
    return f"r{mark}{text}{mark}" if "\\" in text and mark not in text and "\n" not in text and dice.random() < 0.5 else mark + out + mark


def attribute(dice, kind):
    value = {"int": lambda: dice.choice([0, 1, 2, -1, 7, 2**53 + 1, 2**63 - 1, -2**63, dice.randrange(100)]), "bool": lambda: dice.random() < 0.5,
             "string": lambda: dice.choice(STRINGS), "version": lambda: dice.choice(VERSIONS)}[kind]()
    return {kind: value}


def device(dice):
    attributes, capacity = {}, {}
    share = dice.choice([0.3, 0.9])
    for name in NAMES[:-1]:
        for domain in DOMAINS[:-1]:
            if dice.random() < share:
                kind = KINDS[name] if dice.random() < 0.8 else dice.choice(["int", "bool", "string", "version"])
                attributes[name if domain == "gpu.nvidia.com" and dice.random() < 0.5 else f"{domain}/{name}"] = attribute(dice, kind)
            if dice.random() < share:
                capacity[f"{domain}/{name}"] = {"value": dice.choice(QUANTITIES)}
    out = {"attributes": attributes, "capacity": capacity}
    if dice.random() < 0.2:
        out["allowMultipleAllocations"] = dice.random() < 0.5
    if dice.random() < 0.01:
        attributes["d/list"] = {"strings": ["a"]}
    return out


class Generator:
    """One expression. Types: b bool, i int, s string, q quantity, v version, a attribute, L list, d double, u uint."""

    def __init__(self, dice):
        self.dice = dice
        self.names = []
        self.budget = dice.choice([3, 6, 10, 20, 40])

    def pick(self, *makers):
        return self.dice.choice(makers)()

    def make(self, kind):
        self.budget -= 1
        if self.dice.random() < 0.02:
            kind = self.dice.choice("bisqvaLdu")
        own = [name for name, of in self.names if of == kind]
        if own and self.dice.random() < 0.4:
            return self.dice.choice(own)
        if kind in "bisqv" and self.dice.random() < 0.15:
            return self.attribute(kind)
        if self.budget < 0:
            return self.leaf(kind)
        return {"b": self.boolean, "i": self.integer, "s": self.string, "q": self.quantity, "v": self.version, "a": self.attribute, "L": self.list,
                "d": self.double, "u": self.unsigned}[kind]()

    def leaf(self, kind):
        if kind == "b":
            return self.pick(lambda: "true", lambda: "false", lambda: f"device.driver == {self.key(DOMAINS)}", self.attribute)
        words = {"i": [0, 1, 2, -1, 7, "0x1f", 9223372036854775807, "-9223372036854775808"], "d": ["1.5", "0.0", "1e3", "-2.5"], "u": ["0u", "7U"],
                 "L": ["[]", "['gpu', 'mig']", "[0, 1]"], "a": ["device.attributes.d.index"], "v": ["semver('9.0.0')"],
                 "q": ["quantity('40Gi')", "device.capacity.d.memory"], "s": [quote(self.dice, text) for text in STRINGS]}
        return str(self.dice.choice(words[kind]))

    def key(self, words):
        return quote(self.dice, self.dice.choice(words))

    def domain(self, which):
        text = f"device.{which}"
        return self.pick(lambda: f"{text}[{self.key(LIKELY)}]", lambda: f"{text}[{self.key(LIKELY)}]", lambda: f"{text}.d", lambda: f"{text}[{self.key(DOMAINS[:1])}]")

    def attribute(self, kind=None):
        """One that most devices have of that kind, or any."""
        inner = self.domain("attributes")
        fitting = [name for name, of in KINDS.items() if of[0] == kind]
        name = self.dice.choice(fitting if fitting and self.dice.random() < 0.85 else NAMES)
        if self.dice.random() < 0.08 and self.budget > 0:
            return f"{inner}.?{name}.orValue({self.make(self.dice.choice('bisva'))})"
        if self.dice.random() < 0.03 and self.budget > 0:
            return f"device.attributes[?{self.key(DOMAINS)}].{name}.orValue({self.make('s')})"
        return f"{inner}.{name}" if self.dice.random() < 0.7 else f"{inner}[{quote(self.dice, name)}]"

    def double(self):
        return self.pick(lambda: self.dice.choice(["1.5", "0.0", "1e3", "-2.5", "2.0", ".5"]), lambda: f"double({self.make('i')})",
                         lambda: f"({self.make('d')} {self.dice.choice('+-*/')} {self.make('d')})")

    def unsigned(self):
        return self.pick(lambda: self.dice.choice(["0u", "1u", "0x1Fu", "7U"]), lambda: f"({self.make('u')} {self.dice.choice('+-*/%')} {self.make('u')})")

    def integer(self):
        return self.pick(lambda: str(self.dice.choice([0, 1, 2, -1, 7, 9223372036854775807])), lambda: str(self.dice.randrange(100)),
                         lambda: f"({self.make('i')} {self.dice.choice('+-*/%')} {self.make('i')})", lambda: f"size({self.make(self.dice.choice('sL'))})",
                         lambda: f"{self.make('s')}.size()", lambda: f"{self.make('s')}.indexOf({self.make('s')})",
                         lambda: f"{self.make('q')}.compareTo({self.make('q')})", lambda: f"{self.make('v')}.compareTo({self.make('v')})",
                         lambda: f"{self.make('v')}.{self.dice.choice(['major', 'minor', 'patch'])}()", lambda: f"int({self.make(self.dice.choice('siud'))})",
                         lambda: f"-({self.make('i')})", lambda: f"({self.make('b')} ? {self.make('i')} : {self.make('i')})",
                         lambda: f"device.attributes.size()", lambda: f"{self.make('L')}[{self.make('i')}]")

    def string(self):
        return self.pick(lambda: quote(self.dice, self.dice.choice(STRINGS)), lambda: quote(self.dice, self.dice.choice(STRINGS)), lambda: "device.driver",
                         lambda: self.attribute(), lambda: f"{self.make('s')}.{self.dice.choice(['lowerAscii', 'upperAscii', 'trim'])}()",
                         lambda: f"({self.make('s')} + {self.make('s')})", lambda: f"{self.make('s')}.substring({self.dice.randrange(3)})",
                         lambda: f"{self.make('s')}.substring({self.dice.randrange(3)}, {self.dice.randrange(5)})",
                         lambda: f"{self.make('s')}.replace({self.make('s')}, {self.make('s')})", lambda: f"{self.make('s')}.split(',')[{self.dice.randrange(3)}]",
                         lambda: f"string({self.make(self.dice.choice('sibua'))})", lambda: f"{self.make('s')}.charAt({self.dice.randrange(4)})",
                         lambda: f"{self.make('s')}.split({self.make('s')}).join({self.make('s')})", lambda: f"({self.make('b')} ? {self.make('s')} : {self.make('s')})")

    def quantity(self):
        return self.pick(lambda: f"quantity({quote(self.dice, self.dice.choice(QUANTITIES))})", lambda: f"{self.domain('capacity')}.{self.dice.choice(NAMES)}",
                         lambda: f"{self.domain('capacity')}.{self.dice.choice(NAMES)}", lambda: f"quantity({quote(self.dice, self.dice.choice(BAD_QUANTITIES))})",
                         lambda: f"{self.make('q')}.{self.dice.choice(['add', 'sub'])}({self.make(self.dice.choice('qi'))})")

    def version(self):
        return self.pick(lambda: f"semver({quote(self.dice, self.dice.choice(VERSIONS))})", lambda: self.attribute(),
                         lambda: f"semver({quote(self.dice, self.dice.choice(BAD_VERSIONS))})",
                         lambda: f"semver({quote(self.dice, self.dice.choice(BAD_VERSIONS + VERSIONS))}, true)")

    def list(self):
        kind = self.dice.choice("issbqa")
        if self.dice.random() < 0.2:
            return f"{self.make('s')}.split({self.make('s')})"
        if self.dice.random() < 0.15 and self.budget > 0:
            return self.fold(self.dice.choice(["map", "filter"]))
        return "[" + ", ".join(self.literal(kind) if self.dice.random() < 0.7 else self.make(kind) for _ in range(self.dice.randrange(4))) + "]"

    def literal(self, kind):
        return {"i": lambda: str(self.dice.randrange(-1, 8)), "s": lambda: quote(self.dice, self.dice.choice(STRINGS)), "b": lambda: self.dice.choice(["true", "false"]),
                "q": self.quantity, "a": self.attribute}[kind]()

    def fold(self, name):
        over = self.pick(lambda: ("a", self.domain("attributes")), lambda: ("s", "device.attributes"), lambda: ("i", self.make("L")),
                         lambda: ("s", f"{self.make('s')}.split(',')"), lambda: ("s", self.domain("capacity")))
        variable = self.dice.choice(["x", "y", "device"] if self.dice.random() < 0.05 else ["x", "y"])
        outer = list(self.names)
        self.names.append((variable, "s" if over[0] == "a" else over[0]))
        body = self.make(self.dice.choice("is") if name == "map" else "b")
        self.names = outer
        return f"{over[1]}.{name}({variable}, {body})"

    def bind(self):
        kind = self.dice.choice("bisqva")
        value = self.make(kind)
        outer = list(self.names)
        self.names.append(("z", kind))
        body = self.make("b")
        self.names = outer
        if self.dice.random() < 0.3:
            return f"cel.bind(dra, device.attributes[{self.key(DOMAINS)}], dra.{self.dice.choice(NAMES)} == {self.make('s')})"
        return f"cel.bind(z, {value}, {body})"

    def boolean(self):
        kind = self.dice.choice("bisssqvavaadu")
        other = kind if self.dice.random() < 0.9 else self.dice.choice("bisqvadu")
        return self.pick(lambda: f"{self.make('b')} && {self.make('b')}", lambda: f"({self.make('b')} || {self.make('b')})", lambda: f"!({self.make('b')})",
                         lambda: f"{self.make(kind)} == {self.make(other)}", lambda: f"{self.make('a')} == {self.make(other)}",
                         lambda: f"{self.make(kind)} != {self.make(other)}", lambda: f"{self.make('a')} {self.dice.choice(['<', '<=', '>', '>='])} {self.make('i')}",
                         lambda: f"{self.make(kind)} {self.dice.choice(['<', '<=', '>', '>='])} {self.make(other)}",
                         lambda: f"{self.make(kind)} in {self.make('L')}", lambda: f"{self.key(DOMAINS)} in device.attributes",
                         lambda: f"{self.key(NAMES)} in {self.domain(self.dice.choice(['attributes', 'capacity']))}", lambda: f"has({self.domain('attributes')}.{self.dice.choice(NAMES)})",
                         lambda: f"{self.make('s')}.matches({quote(self.dice, self.dice.choice(PATTERNS))})",
                         lambda: f"{self.make('s')}.{self.dice.choice(['startsWith', 'endsWith', 'contains'])}({self.make('s')})",
                         lambda: f"{self.make('q')}.{self.dice.choice(['isGreaterThan', 'isLessThan'])}({self.make('q')})",
                         lambda: f"{self.make('v')}.{self.dice.choice(['isGreaterThan', 'isLessThan'])}({self.make('v')})",
                         lambda: f"({self.make('b')} ? {self.make('b')} : {self.make('b')})", lambda: self.fold(self.dice.choice(["all", "exists", "exists_one"])),
                         self.bind, lambda: f"isQuantity({self.make('s')})", lambda: f"isSemver({self.make('s')})", lambda: "device.allowMultipleAllocations",
                         lambda: f"{self.domain('attributes')}.?{self.dice.choice(NAMES)}.hasValue()", lambda: f"optional.of({self.make('i')}).value() == {self.make('i')}",
                         lambda: f"optional.none().orValue({self.make('b')})")


def spoil(dice, text):
    """Now and then a text with a character or a word less or more."""
    chance = dice.random()
    if chance < 0.03:
        at = dice.randrange(len(text) + 1)
        return text[:at] + text[at + dice.randrange(1, 4):]
    if chance < 0.06:
        at = dice.randrange(len(text) + 1)
        return text[:at] + dice.choice(["(", ")", "'", ".", " not ", "?", "[", "]", "!", "-", ",", "{", "1", "x", "\\", " in ", "\u00e9", "//", "%"]) + text[at:]
    return text


def question(dice, n_devices):
    text = spoil(dice, Generator(dice).make("b"))
    return {"expression": text, "driver": "gpu.nvidia.com", "devices": [device(dice) for _ in range(n_devices)]}
