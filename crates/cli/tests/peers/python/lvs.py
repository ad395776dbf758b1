"""Trust schemas of python-ndn: random ones are compiled, and its checker answers questions about random names."""

import asyncio
import random
import signal

from lark.exceptions import LarkError
from ndn.app_support.light_versec import Checker, SemanticError, compile_lvs
from ndn.app_support.light_versec.checker import DEFAULT_USER_FNS, LvsModelError
from ndn.encoding import Component, Name

import lines

VALUES = ["a", "b", "c", "KEY", "v=1", "v=2", "seg=0", "32=x", "%00%FF", ""]
# Processor time of one schema: python-ndn copies rules that use each other, and searches without a limit.
SECONDS = 5
PATTERNS = ["x", "y", "z", "who", "_", "_p", "_q"]


class Author:
    """Writes random schemas; rules use and are signed by earlier rules only, as a rule."""

    def __init__(self, draw):
        self.draw = draw

    def value(self):
        return f'"{self.draw.choice(VALUES)}"'

    def operand(self, patterns):
        named = [pattern for pattern in patterns if not pattern.startswith("_")]
        return self.draw.choice(named) if named and self.draw.random() < 0.4 else self.value()

    def option(self, patterns):
        if self.draw.random() < 0.25:
            function = self.draw.choice(["$eq", "$eq_type"])
            arguments = [self.operand(patterns) for _ in range(self.draw.randrange(3))]
            return f"{function}({', '.join(arguments)})"
        return self.operand(patterns)

    def term(self, patterns):
        options = [self.option(patterns) for _ in range(self.draw.randint(1, 3))]
        return f"{self.draw.choice(patterns)}: {' | '.join(options)}"

    def rule(self, number, known):
        parts, patterns = [], []
        for _ in range(self.draw.randint(1, 4)):
            kind = self.draw.random()
            if known and kind < 0.25:
                parts.append(self.draw.choice(known))
            elif kind < 0.6:
                parts.append(self.value())
            else:
                patterns.append(self.draw.choice(PATTERNS))
                parts.append(patterns[-1])
        again = known and self.draw.random() < 0.1
        identity = self.draw.choice(known) if again else f"#r{number}"
        text = f"{identity}: {self.draw.choice(['', '/'])}{'/'.join(parts)}"
        if patterns and self.draw.random() < 0.5:
            sets = []
            for _ in range(self.draw.randint(1, 2)):
                terms = [self.term(patterns) for _ in range(self.draw.randint(1, 2))]
                sets.append("{ " + ", ".join(terms) + " }")
            text += " & " + " | ".join(sets)
        if known and self.draw.random() < 0.7:
            signers = self.draw.sample(known, min(len(known), self.draw.randint(1, 2)))
            text += " <= " + " | ".join(signers)
        return identity, text

    def schema(self):
        known, texts = [], []
        for number in range(self.draw.randint(2, 7)):
            identity, text = self.rule(number, known)
            texts.append(text)
            if identity not in known:
                known.append(identity)
        self.draw.shuffle(texts)
        return "\n".join(texts)


def component(draw):
    return bytes(Component.from_str(draw.choice(VALUES + ["d", "v=3"])))


def walk(draw, model, context):
    """A name that follows edges of the model, most of the time."""
    name, node = [], model.nodes[model.start_id]
    while True:
        edges = node.v_edges + node.p_edges
        if not edges or (name and draw.random() < 0.05):
            return name
        edge = draw.choice(edges)
        if edge in node.v_edges:
            value = bytes(edge.value)
        elif edge.tag in context:
            value = context[edge.tag]
        else:
            options = [option for constraint in edge.cons_sets for option in constraint.options]
            fixed = [bytes(option.value) for option in options if option.value is not None]
            bound = [context[option.tag] for option in options if option.tag in context]
            choices = fixed + bound or [component(draw)]
            value = draw.choice(choices) if draw.random() < 0.9 else component(draw)
            if edge.tag <= model.named_pattern_cnt:
                context[edge.tag] = value
        name.append(value)
        node = model.nodes[edge.dest]


def names(draw, model):
    """The names of a packet and a key."""
    context = {}
    packet = walk(draw, model, context)
    key = walk(draw, model, context)
    for name in (packet, key):
        if name and draw.random() < 0.15:
            name[draw.randrange(len(name))] = component(draw)
        if draw.random() < 0.05:
            name.append(bytes(Component.from_bytes(bytes(32), Component.TYPE_IMPLICIT_SHA256)))
    return packet, key


def answer(checker, packet, key):
    """Whether the key may sign; None where python-ndn raises an error."""
    try:
        return checker.check(packet, key)
    except (TypeError, LvsModelError):
        return None


def repeats(text):
    """Whether a name uses one rule several times, directly or by way of others."""
    uses = {}
    for line in text.splitlines():
        identity, rest = line.split(": ", 1)
        name = rest.split(" & ")[0].split(" <= ")[0]
        uses.setdefault(identity, []).append([part for part in name.split("/") if part[:1] == "#"])

    def spread(identity):
        found = []
        for parts in uses[identity]:
            found += [part for one in parts for part in [one] + spread(one)]
        return found

    lists = [found for identity in uses for found in [spread(identity)]]
    return any(len(set(found)) < len(found) for found in lists)


class TooSlow(BaseException):
    """No error that python-ndn could handle."""


def interrupt(_signal, _frame):
    raise TooSlow


def limited(draw, questions):
    text = Author(draw).schema()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return one(draw, text, questions)
    except TooSlow:
        return {"text": text, "slow": True}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def one(draw, text, questions):
    try:
        model = compile_lvs(text)
    except (SemanticError, LarkError) as error:
        return {"text": text, "rejected": f"{type(error).__name__}: {error}"}
    try:
        checker = Checker(model, DEFAULT_USER_FNS)
    except (SemanticError, LvsModelError) as error:
        model = bytes(model.encode()).hex()
        return {"text": text, "model": model, "circle": f"{type(error).__name__}: {error}"}
    asked = []
    for _ in range(questions):
        packet, key = names(draw, model)
        if packet and key:
            verdict = answer(checker, packet, key)
            asked.append([Name.to_bytes(packet).hex(), Name.to_bytes(key).hex(), verdict])
    roots = sorted(checker.root_of_trust())
    repeated = repeats(text)
    model = bytes(checker.save()).hex()
    return {"text": text, "model": model, "roots": roots, "repeats": repeated, "asked": asked}


async def schemas(request):
    signal.signal(signal.SIGPROF, interrupt)
    draws = [random.Random(f"{request['seed']} {number}") for number in range(request["count"])]
    return {"schemas": [limited(draw, request["questions"]) for draw in draws]}


async def compiled(request):
    """Compiles a text."""
    return {"model": bytes(Checker(compile_lvs(request["text"]), DEFAULT_USER_FNS).save()).hex()}


asyncio.run(lines.serve({"schemas": schemas, "compile": compiled}))
