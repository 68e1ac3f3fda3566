"""Writes or checks the declarations of one module: api.py check|write SYMBOLS MODULE."""

import json
import pathlib
import sys


def text(fragments):
    return " ".join("".join(part["spelling"] for part in fragments).split())


def declarations(symbols, module):
    """Returns one line for each public declaration: its path and its text."""
    lines = set()
    # Extensions of other modules' types have a file of their own.
    for path in sorted(symbols.glob(f"{module}.symbols.json")) + sorted(
        symbols.glob(f"{module}@*.symbols.json")
    ):
        for symbol in json.loads(path.read_text())["symbols"]:
            place = ".".join(symbol["pathComponents"])
            lines.add(f"{place}: {text(symbol['declarationFragments'])}")
    return sorted(lines)


def main():
    mode, symbols, module = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    recorded = pathlib.Path("docs/api") / f"{module}.txt"
    found = declarations(symbols, module)
    if not found:
        sys.exit(f"{module} has no public declaration. Build it first.")
    if mode == "write":
        recorded.write_text("\n".join(found) + "\n")
        print(f"{recorded}: {len(found)} declarations")
        return
    known = recorded.read_text().splitlines()
    removed = sorted(set(known) - set(found))
    added = sorted(set(found) - set(known))
    for line in removed:
        print(f"- {line}", file=sys.stderr)
    for line in added:
        print(f"+ {line}", file=sys.stderr)
    if removed:
        print(
            f"{module}: {len(removed)} declarations were removed or changed, which breaks apps. "
            "If that is intended, name it in CHANGELOG.md and run scripts/api.sh --write.",
            file=sys.stderr,
        )
    elif added:
        print(
            f"{module}: {len(added)} declarations are not recorded. "
            "Run scripts/api.sh --write.",
            file=sys.stderr,
        )
    if removed or added:
        sys.exit(1)
    print(f"{module}: {len(found)} declarations, unchanged")


main()
