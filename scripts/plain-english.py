#!/usr/bin/env python3
"""Counts the idioms that the project's English avoids, per 10,000 words.

plain-english.py [ROOT]           prints counts for documents, comments and string literals
plain-english.py [ROOT] --list    also prints each place as file:line
"""

import argparse
import pathlib
import re
import subprocess

IDIOMS = {
    "tell": r"tells?|told|telling",
    "nobody": r"nobody|somebody",
    "whose": r"whose",
    "stand": r"stands?|stood|standing",
    "word": r"words?",
    "hear": r"hears?|heard|unheard",
    "speak": r"speaks?|spoke|spoken",
    "whoever": r"whoever|whomever|whatever|whichever",
    "hold to": r"(?:hold|holds|held) to",
    "come of": r"(?:come|comes|came) of",
    "know of": r"(?:know|knows|knew) of",
    "let go": r"lets? go",
    "get round to": r"(?:get|gets|got) round to",
    "of which": r"(?:of|to|by|for|from) which",
    "that which": r"that which|thereof",
    "is none": r"(?:is|are) none",
    "at nought": r"nought",
}
# Names of the domain, features and usual technical terms that contain an idiom's word.
ALLOWED = re.compile(
    r"\brules? of standing\b|\bStandIns\b|\bstand-ins?\b|docs/words(\.md)?|\(words\.md\)"
    r"|`[^`]*`|\bstandard\w*\b|\blong-standing\b",
    re.IGNORECASE,
)
PATTERNS = {name: re.compile(rf"\b(?:{text})\b", re.IGNORECASE) for name, text in IDIOMS.items()}
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


def pieces(path, text):
    """Yields (kind, line number, text) for each piece of English in a file."""
    lines = text.splitlines()
    if path.endswith(".md"):
        fenced = False
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield "documents", number, line
        return
    mark = "//" if path.endswith((".swift", ".ts", ".tsx")) else "#"
    for number, line in enumerate(lines, 1):
        code = STRING.sub(lambda found: " " * len(found.group()), line)
        start = code.find(mark)
        if start >= 0:
            yield "comments", number, line[start:]
        for found in STRING.finditer(line if start < 0 else line[:start]):
            yield "strings", number, found.group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default=".", help="the project's folder")
    parser.add_argument("--list", action="store_true", help="print each place as file:line")
    options = parser.parse_args()
    root = pathlib.Path(options.root)
    names = subprocess.run(
        ["git", "-C", str(root), "ls-files"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    endings = (".md", ".swift", ".py", ".sh", ".ts", ".tsx")
    kinds = ["documents", "comments", "strings"]
    words = dict.fromkeys(kinds, 0)
    counts = {kind: dict.fromkeys(IDIOMS, 0) for kind in kinds}
    for name in names:
        if not name.endswith(endings) or name == "scripts/plain-english.py":
            continue
        if not (root / name).is_file():
            continue
        for kind, number, text in pieces(name, (root / name).read_text(encoding="utf-8")):
            words[kind] += len(WORD.findall(text))
            plain = ALLOWED.sub(" ", text)
            for idiom, pattern in PATTERNS.items():
                for found in pattern.finditer(plain):
                    counts[kind][idiom] += 1
                    if options.list:
                        print(f"{name}:{number}: {kind}: {found.group()}")
    print(f"{'per 10,000 words':18}" + "".join(f"{kind:>12}" for kind in kinds))
    for idiom in IDIOMS:
        rates = (counts[kind][idiom] * 10_000 / max(words[kind], 1) for kind in kinds)
        print(f"{idiom:18}" + "".join(f"{rate:12.1f}" for rate in rates))
    totals = (sum(counts[kind].values()) * 10_000 / max(words[kind], 1) for kind in kinds)
    print(f"{'all':18}" + "".join(f"{rate:12.1f}" for rate in totals))
    print(f"{'words':18}" + "".join(f"{words[kind]:12}" for kind in kinds))


if __name__ == "__main__":
    main()
