"""Large and costly requests of the allowed size: what a caller can send to make the API work hard."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from docrail.api.body_sizes import MAX_JSON_BYTES, VALUE_BYTES

JSON_TYPE = "application/json"
STEP = {"id": "a", "handler": "noop"}


@dataclass(frozen=True, slots=True)
class Attack:
    """A hostile request. `at_once`: how many are sent at the same time."""

    name: str
    path: str
    body: Callable[[], bytes]
    method: str = "POST"
    at_once: int = 1
    content_type: str = JSON_TYPE


def unknown_keys(count: int = 350_000) -> bytes:
    return _cut(b'{"' + b'":0,"'.join(b"k%d" % number for number in range(count)) + b'":0}')


def empty_steps(count: int = 1_300_000, name: str = "definition") -> bytes:
    return _cut(b'{"%s":{"id":"x","steps":[%s]}}' % (name.encode(), b",".join([b"{}"] * count)))


def zeros() -> bytes:
    """Return as many small values as the size allows."""
    return b'{"answer":[%s]}' % b",".join([b"0"] * (VALUE_BYTES // 2 - 20))


def parts_to_the_limit(name: str = "definition") -> bytes:
    """Return just fewer values than a definition may have, each of them wrong."""
    return empty_steps(24_900, name)


def wrong_items() -> bytes:
    """Return 10,000 overrides of items, each of them wrong in three ways."""
    items = {f"item-{number}": {"a": 1, "b": 2, "skip": False} for number in range(10_000)}
    return json.dumps({"steps": {"load": {"items": items}}}).encode()


def wrong_steps() -> bytes:
    return json.dumps({"steps": {f"step-{number}": 0 for number in range(49_000)}}).encode()


def halves() -> bytes:
    """Return keys that are not text: each is half of a character."""
    return b'{"definition":{%s}}' % b",".join(rb'"\ud800%d":0' % number for number in range(49_000))


def unknown_keys_of_letter() -> bytes:
    return json.dumps({"letters": [{f"k{number}": 0 for number in range(5_000)}]}).encode()


def wrong_letters(count: int = 15_000) -> bytes:
    return json.dumps({"letters": [{}] * count}).encode()


def wrong_approvals(count: int = 15_000) -> bytes:
    return json.dumps({"items": [{}] * count}).encode()


def repeated_key() -> bytes:
    """Return small objects, the last of which has a key twice."""
    return b'{"definition":{"steps":[%s,{"a":0,"a":1}]}}' % b",".join([b'{"a":0}'] * 24_000)


def long_key() -> bytes:
    return b'{"%s":0}' % (b"k" * (MAX_JSON_BYTES - 100))


def escaped_text() -> bytes:
    """Return a text in which every character is escaped."""
    return b'{"definition":"%s"}' % (rb"\u0041" * (MAX_JSON_BYTES // 6 - 10))


def long_number() -> bytes:
    return b'{"answer":1.%s}' % (b"3" * (VALUE_BYTES - 100))


def brackets() -> bytes:
    return b'{"answer":%s' % (b"[" * (VALUE_BYTES - 100))


def yaml_text(steps: int = 70_000, name: str = "definition") -> bytes:
    """Return a definition's text with many steps, all of which depend on one that is misspelt."""
    lines = "".join(f"- {{id: s{number}, depends_on: [t{number}]}}\n" for number in range(steps))
    return json.dumps({name: f"id: x\nsteps:\n{lines}"}).encode()


def misspelt_definition(steps: int = 5_000) -> bytes:
    """Return a definition at its limit of steps, in which every name is wrong."""
    step = "- {{id: s{0}, handlr: ecko, depends_on: [t{0}, u{0}, v{0}], condition: 'x{0}.y{0} > z{0}'}}\n"
    return json.dumps({"definition": "id: x\nsteps:\n" + "".join(map(step.format, range(steps)))}).encode()


def right_definition(steps: int = 3_500, tests: int = 0) -> bytes:
    """Return a valid definition near its limit of bytes, with tests."""
    listed = [
        {"id": f"s{number}", "handler": "noop", "depends_on": [f"s{number - 1}"] if number else []}
        for number in range(steps)
    ]
    trials = [{"name": f"t{number}", "expect": {"status": "completed"}} for number in range(tests)]
    return json.dumps({"definition": {"id": "right", "steps": listed, "tests": trials}}).encode()


def costly_patterns(most: int = 1000) -> bytes:
    """Return a small definition with 150 regular expressions, each of which takes up to 0.1 s to compile or refuse."""
    inputs = {f"x{n}": {"type": "string", "pattern": rf"\p{{L}}{{{most - n}}}"} for n in range(150)}
    return json.dumps({"definition": {"id": "patterns", "inputs": inputs, "steps": [STEP]}}).encode()


def large_inputs() -> bytes:
    """Return inputs that have to be compared with each other, at their limit of size."""
    schema = {"type": "array", "uniqueItems": True, "items": {"anyOf": [{"const": {"a": n}} for n in range(50)]}}
    definition = {
        "id": "compare",
        "inputs": {"list": schema},
        "steps": [{"id": "a", "handler": "noop"}],
    }
    return json.dumps({"definition": definition, "inputs": {"list": [[n] for n in range(16_000)]}}).encode()


def many_inputs() -> bytes:
    """Return more inputs than the size of a run's inputs allows."""
    definition = {"id": "one", "steps": [{"id": "a", "handler": "noop"}]}
    return json.dumps({"definition": definition, "inputs": {f"k{number}": [0] for number in range(140_000)}}).encode()


def form(*fields: bytes, name: bytes = b"f%d") -> bytes:
    """Return a form of these fields, and then a small file."""
    heads = (b'name="%s"' % (name.replace(b"%d", b"%d" % number)) for number in range(len(fields)))
    parts = [*zip(heads, fields, strict=True), (b'name="file"; filename="a.txt"', b"text")]
    return b"".join(b"--x\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n" % part for part in parts) + b"--x--\r\n"


def slow_encoding() -> bytes:
    """Return a form with fields whose decoding takes time by the square of their length, ten seconds each."""
    return form(*[b"99a" + b"a" * 400_000] * 4)


def long_fields() -> bytes:
    return form(*[b"a" * 1_000_000] * 24)


def percents() -> bytes:
    """Return fields in which every character is escaped."""
    return b"&".join(b"f%d=%s" % (number, b"%41" * 330_000) for number in range(24))


def _cut(body: bytes) -> bytes:
    """Return the body. It must be of the allowed size, or another limit than ours is tested."""
    assert len(body) <= MAX_JSON_BYTES, len(body)
    return body


FORM_TYPE = "multipart/form-data; boundary=x"
RETRY, RUNS, VALIDATE, PUBLISH = "/v1/runs/x.y/retry", "/v1/runs", "/v1/definitions/validate", "/v1/definitions"
ATTACKS = (
    Attack("unknown keys: retry", RETRY, unknown_keys),
    Attack("unknown keys: runs", RUNS, unknown_keys),
    Attack("unknown keys: alias", "/v1/definitions/x/aliases/y", unknown_keys, "PUT"),
    Attack("49,000 unknown keys", RUNS, lambda: unknown_keys(49_000)),
    Attack("5,000 unknown keys of a letter", "/v1/dead-letters/retry", unknown_keys_of_letter),
    Attack("49,000 halves of characters", RUNS, halves),
    Attack("one repeated key of 24,000", VALIDATE, repeated_key),
    Attack("one key of 4 MB", RUNS, long_key),
    Attack("empty steps: validate", VALIDATE, empty_steps),
    Attack("empty steps: runs", RUNS, empty_steps),
    Attack("empty steps: workflow", "/v1/workflow", empty_steps),
    Attack("empty rules: routing", "/v1/routing", lambda: empty_steps(name="routing"), "PUT"),
    Attack("24,900 empty steps", VALIDATE, parts_to_the_limit),
    Attack("24,900 empty rules", "/v1/routing/validate", lambda: parts_to_the_limit("routing")),
    Attack("260,000 zeros: wait", "/v1/runs/x.y/waits/z", zeros),
    Attack("10,000 wrong items", RETRY, wrong_items),
    Attack("49,000 wrong steps", RETRY, wrong_steps),
    Attack("15,000 wrong letters", "/v1/dead-letters/retry", wrong_letters),
    Attack("15,000 wrong approvals", "/v1/reviews/approve", wrong_approvals),
    Attack("text of escapes", VALIDATE, escaped_text),
    Attack("number of 512 KB", "/v1/runs/x.y/waits/z", long_number),
    Attack("500,000 brackets", "/v1/runs/x.y/waits/z", brackets),
    Attack("YAML of 70,000 steps", VALIDATE, yaml_text),
    Attack("YAML of 13,000 rules", "/v1/routing/validate", lambda: yaml_text(13_000, "routing")),
    Attack("5,000 misspelt steps", VALIDATE, misspelt_definition),
    Attack("3,500 steps: plan", "/v1/definitions/plan", right_definition),
    Attack("3,500 steps: publish", PUBLISH, right_definition),
    Attack("3,500 steps: runs", RUNS, right_definition),
    Attack("3,500 steps, 100 tests", f"{PUBLISH}?run_tests=true", lambda: right_definition(tests=100)),
    Attack("150 costly patterns", VALIDATE, costly_patterns),
    Attack("150 costly patterns: runs", RUNS, lambda: costly_patterns(200)),
    Attack("inputs to compare", RUNS, large_inputs),
    Attack("140,000 inputs", RUNS, many_inputs),
    Attack("9,000 parameters", "/v1/runs?" + "&".join(f"k{number}" for number in range(9_000)), lambda: b"", "GET"),
    Attack("fields in a slow encoding", "/v1/documents", slow_encoding, content_type=f"{FORM_TYPE}; charset=punycode"),
    Attack("24 fields of 1 MB", "/v1/documents", long_fields, content_type=FORM_TYPE),
    Attack("1,000 fields", "/v1/documents", lambda: form(*[b"a"] * 1_000), content_type=FORM_TYPE),
    Attack("8 million escapes", "/v1/documents", percents, content_type="application/x-www-form-urlencoded"),
    Attack("49,000 unknown keys, 8 at once", RUNS, lambda: unknown_keys(49_000), at_once=8),
    Attack("unknown keys, 8 at once", RUNS, unknown_keys, at_once=8),
    Attack("empty steps, 8 at once", VALIDATE, empty_steps, at_once=8),
    Attack("3,500 steps, 8 at once", "/v1/definitions/plan", right_definition, at_once=8),
    Attack("24,900 empty steps, 8 at once", VALIDATE, parts_to_the_limit, at_once=8),
)
