#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the house's floors: what may include what.

    tools/layers.py [ROOT]

Includes point down only (main.c and tools over http over agent over sip, media
and store over core; those three never include each other), inside agent call
is over dialogue over pathway over engine, only core/ knows libuv, and headers
include each other without a cycle. Each violation is printed with its place;
exit status 1 when there is one.
"""
import os
import re
import sys

# A room's files may include its own room's and these.
BELOW = {
    "core": set(),
    "store": {"core"},
    "sip": {"core"},
    "media": {"core"},
    "agent": {"sip", "media", "store", "core"},
    "http": {"agent", "sip", "media", "store", "core"},
    "tools": {"http", "agent", "sip", "media", "store", "core"},
    "main.c": {"http", "agent", "sip", "media", "store", "core"},
}
# Floors inside agent; agent/*.h (what all share) lies with the uppermost.
AGENT = ["engine", "pathway", "dialogue", "call"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def room_of(path):
    return path.split("/")[0]


def agent_floor(path):
    parts = path.split("/")
    return AGENT.index(parts[1]) if parts[1] in AGENT else len(AGENT) - 1


def sources(root):
    for room in BELOW:
        if room.endswith(".c"):
            yield room
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    full = os.path.join(folder, name)
                    yield os.path.relpath(full, root)


def includes_of(root, path):
    """(line, is_quoted, target) of each include."""
    with open(os.path.join(root, path), encoding="utf-8") as source:
        text = source.read()
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        yield line, match.group(1) == '"', match.group(2)


def judge(root, path, is_quoted, target):
    """What is wrong with path including target, or None."""
    room = room_of(path)
    if not is_quoted:
        is_uv = target == "uv.h" or target.startswith("uv/")
        if is_uv and room != "core":
            return f"<{target}>: only core/ touches libuv"
        return None
    if not os.path.exists(os.path.join(root, target)):
        return f'"{target}": not a path from the root'
    other = room_of(target)
    if other == room:
        if room == "agent" and agent_floor(target) > agent_floor(path):
            return (f'"{target}": in agent, includes point down: '
                    f'{" over ".join(reversed(AGENT))}')
        return None
    if other not in BELOW[room]:
        return f'"{target}": {room} may not include {other}'
    return None


def find_cycle(graph):
    """One cycle as a list of headers, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for target in graph.get(node, ()):
            cycle = visit(target)
            if cycle:
                return cycle
        path.pop()
        done.add(node)
        return None

    for node in sorted(graph):
        cycle = visit(node)
        if cycle:
            return cycle
    return None


def check(root):
    """The violations, and how many files were looked at."""
    faults, graph, n = [], {}, 0
    for path in sources(root):
        n += 1
        for line, is_quoted, target in includes_of(root, path):
            wrong = judge(root, path, is_quoted, target)
            if wrong:
                faults.append(f"{path}:{line}: {wrong}")
            if is_quoted and path.endswith(".h"):
                graph.setdefault(path, []).append(target)
    cycle = find_cycle(graph)
    if cycle:
        faults.append("cycle of includes: " + " -> ".join(cycle))
    return faults, n


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..")
    faults, n = check(root)
    for fault in faults:
        print(fault)
    print(f"layers: {n} files, {len(faults)} violation(s)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
