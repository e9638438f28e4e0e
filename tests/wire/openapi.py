"""Validates answers by docs/openapi.yaml.

The document leaves objects open, because clients must ignore unknown members. This module reads it strictly: an answer must not
have undocumented members. It does not interpret answers.
"""

import copy
import decimal
import json
import os

import jsonschema
import yaml
from service import ROOT

PATH = os.path.join(ROOT, "docs/openapi.yaml")
METHODS = {"get", "post", "put", "delete", "patch"}


def load():
    with open(PATH, encoding="utf-8") as file:
        return yaml.load(file, yaml.CSafeLoader)


def watched_kinds():
    """In the order of the program's table."""
    return load()["components"]["schemas"]["Freshness"]["properties"]["kind"]["enum"]


def resolve(document, node):
    """The node itself, or what it refers to."""
    while "$ref" in node:
        found = document
        for key in node["$ref"].removeprefix("#/").split("/"):
            found = found[key]
        node = found
    return node


def close(schema):
    """Every object with listed members has no others."""
    if isinstance(schema, list):
        for item in schema:
            close(item)
    elif isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for item in schema.values():
            close(item)


class Judge:
    """Returns the faults of an answer by the document."""

    def __init__(self, document):
        self.document = document
        self.strict = copy.deepcopy(document["components"])
        close(self.strict["schemas"])

    def operations(self):
        """{(METHOD, path): operation}."""
        return {
            (method.upper(), path): operation
            for path, item in self.document["paths"].items()
            for method, operation in item.items()
            if method in METHODS
        }

    def documented(self):
        """(METHOD, path, status, media type) of everything that is said to be answered."""
        return [
            (method, path, int(status), media)
            for (method, path), operation in self.operations().items()
            for status, response in operation["responses"].items()
            for media in resolve(self.document, response).get("content", ())
        ]

    def faults(self, schema, value):
        """Returns one line for each violation of the schema."""
        closed = copy.deepcopy(schema)
        close(closed)
        validator = jsonschema.Draft202012Validator({**closed, "components": self.strict})
        return [f"{error.json_path}: {error.message}" for error in leaves(validator.iter_errors(value))]

    def faults_of_answer(self, method, path, answer):
        response = self.operations()[method, path]["responses"].get(str(answer.status))
        if not response:
            return [f"status {answer.status} is not documented for {method} {path}"]
        response = resolve(self.document, response)
        media = answer.headers["content-type"].split(";")[0]
        if media not in response["content"]:
            return [f"{media} is not documented for {method} {path} {answer.status}"]
        found = self.faults(response["content"][media]["schema"], value_of(answer, media))
        for name, header in response.get("headers", {}).items():
            have = answer.headers.get(name.lower())
            found += [f"header {name}: {fault}" for fault in self.faults(header["schema"], have)]
        return found


def value_of(answer, media):
    """A number written as a real is no integer, even if whole: an amount must not be 1.0."""
    return json.loads(answer.body, parse_float=decimal.Decimal) if media == "application/json" else answer.text


def leaves(errors):
    """The errors; for an error of several choices also those of each choice, which name the fault."""
    for error in errors:
        yield error
        yield from leaves(error.context or [])
