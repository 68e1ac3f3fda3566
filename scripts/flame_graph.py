"""Draws the samples of `perf script` as a flame graph, and prints their shares by kind of work.

    perf script -i FILE -F comm,ip,sym,dso | python3 scripts/flame_graph.py GRAPH.svg

The table on standard output is Markdown. Each sample counts for the kind of work that its innermost
known frame belongs to. Names of threads are not used: each is the name of the thread that started it.
"""

import html
import re
import subprocess
import sys
from collections import Counter

# Kinds of work: a name, a colour, and the functions that belong to it. The first such function from the
# inside decides; those of the runtime and of libraries belong to their caller's.
KINDS = [
    ("signatures and digests", "#c2410c", r"^Signatures\.|^EVP_|^EC_|ecp_nistz|sha256|SHA256|libcrypto"),
    ("reading a notification", "#b45309", r"^AppStore\.|Base64|^Server\.AppStoreIngest\.believed"),
    ("rows before the commit: evidence, facts", "#a16207", r"CommitRequestRows|EvidenceForm|Dissection|FactRow\."),
    ("deriving the answer, its events", "#15803d", r"Projector\.derive|ChangeEvents|EventBodies|CustomerHistory"),
    ("reading facts from their form", "#0f766e", r"StoredFactReader|CustomerQueries\.facts"),
    ("SQLite: the log and the file", "#1d4ed8", r"WalFrames|[cC]heckpoint|pwrite|pread|pass_on|log_sync|[sS]ync"),
    ("SQLite: statements", "#3b82f6", r"^sqlite3|libsqlite3|^SQLite\."),
    ("reports in the background", "#64748b", r"FiguresSource|FiguresWorker|Lockouts|LongRead"),
    ("sockets and libmicrohttpd", "#7c3aed", r"microhttpd|^MHD_|^HTTPServer\.|sendmsg|recv|epoll"),
    ("log lines and counts", "#be185d", r"LogLine|BackgroundWriter|Sink\.write|Output\.message|Metrics\."),
    ("requests, tasks, waking threads", "#9333ea", r"^Server\.|^HTTP\.|^Locks\.|swift_job_run|swift_task|futex"),
]
PATTERNS = [(name, re.compile(pattern)) for name, _, pattern in KINDS]
COLOURS = {name: colour for name, colour, _ in KINDS}
OTHER = "others"
WIDTH, ROW, TOP, FOOT = 1200, 17, 44, 40
# Narrower frames are left out of the drawing: they are too narrow to read or to point at.
LEAST = 0.0008


def samples(lines):
    """Yields the frames of each sample, outermost first."""
    stack = []
    for line in lines:
        if not line.strip():
            if stack:
                yield stack[::-1]
            stack = []
        elif line[0] in " \t":
            found = re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)$", line.rstrip())
            if found:
                stack.append((found.group(1), found.group(2)))
    if stack:
        yield stack[::-1]


def demangled(names):
    """Returns readable names of Swift symbols."""
    mangled = sorted(name for name in names if name.startswith("$s"))
    command = ["swift", "demangle", "--compact"]
    ended = subprocess.run(command, input="\n".join(mangled), capture_output=True, text=True, check=True)
    return dict(zip(mangled, ended.stdout.splitlines()))


def short(name, library):
    """Returns what people call a function: without its types, and what the compiler made of it."""
    if name == "[unknown]":
        return f"in {library.rsplit('/', 1)[-1].strip('[]')}"
    name = re.sub(r"\(\d+\) (await|suspend) resume partial function for ", "", name)
    name = re.sub(r"\b(partial apply forwarder for|merged|protocol witness for|static|@objc) ", "", name)
    # A specialization is the function that follows, and what is said of the specialization is long.
    while found := re.search(r"(generic|function signature) specialization .*? of (?=\S+[.(])", name):
        name = name[: found.start()] + name[found.end() :]
    name = re.sub(r"\((\w+) in _[0-9A-F]+\)", r"\1", name)
    name = re.sub(r"closure #\d+ .* in ", "closure in ", name)
    name = re.sub(r"\(extension in (\w+)\):", r"\1:", name)
    name = re.sub(r"[<(].*", "", name)
    name = re.sub(r"\bTideover(?=\w)", "", name)
    return name.strip() or "closure"


# Where threads begin, and what the compiler and the unwinder put between functions.
SKIPPED = re.compile(r"^(__)?clone3?$|^start_thread$|Locks\.(startThread|ThreadBody)|^in unknown$|^reabstraction thunk")


def kind_of(frames):
    for text in reversed(frames):
        for name, pattern in PATTERNS:
            if pattern.search(text):
                return name
    return OTHER


class Node:
    def __init__(self):
        self.count = 0
        self.kinds = Counter()
        self.children = {}

    def add(self, frames, kind):
        node = self
        node.count += 1
        for frame in frames:
            node = node.children.setdefault(frame, Node())
            node.count += 1
            node.kinds[kind] += 1

    def depth(self, least):
        shown = (child for child in self.children.values() if child.count >= least)
        return 1 + max((child.depth(least) for child in shown), default=0)


def drawn(node, name, left, level, scale, least, rows):
    width = node.count * scale
    share = f"{100 * node.count * scale / WIDTH:.1f} %"
    kind = node.kinds.most_common(1)[0][0] if node.kinds else OTHER
    top = TOP + level * ROW
    letters = int((width - 6) / 6.2)
    text = name if len(name) <= letters else name[: letters - 1] + "…" if letters > 3 else ""
    rows.append(
        f'<g><title>{html.escape(name)}: {share}</title>'
        f'<rect x="{left:.1f}" y="{top}" width="{max(0.3, width - 0.4):.1f}" height="{ROW - 1}" '
        f'fill="{COLOURS.get(kind, "#94a3b8")}"/>'
        + (f'<text x="{left + 3:.1f}" y="{top + 12}">{html.escape(text)}</text>' if text else "")
        + "</g>"
    )
    for child_name, child in sorted(node.children.items(), key=lambda pair: -pair[1].count):
        if child.count >= least:
            drawn(child, child_name, left, level + 1, scale, least, rows)
        left += child.count * scale


def main():
    target = sys.argv[1]
    stacks = list(samples(sys.stdin))
    if not stacks:
        sys.exit("no samples: give it the output of `perf script -F comm,ip,sym,dso`")
    words = demangled({name for stack in stacks for name, _ in stack})
    root, shares = Node(), Counter()
    for stack in stacks:
        frames = []
        for name, library in stack:
            frame = short(words.get(name, name), library)
            if not SKIPPED.search(frame) and (not frames or frames[-1] != frame):
                frames.append(frame)
        kind = kind_of(frames)
        shares[kind] += 1
        root.add(frames, kind)
    least = LEAST * root.count
    rows = []
    drawn(root, "all threads", 0, 0, WIDTH / root.count, least, rows)
    height = TOP + root.depth(least) * ROW + FOOT
    legend, left, line = [], 8, height - FOOT + 14
    for name, colour, _ in KINDS + [(OTHER, "#94a3b8", "")]:
        if not shares[name]:
            continue
        if left + 26 + 5.0 * len(name) > WIDTH:
            left, line = 8, line + 14
        legend.append(f'<rect x="{left}" y="{line - 9}" width="10" height="10" fill="{colour}"/>')
        legend.append(f'<text x="{left + 14}" y="{line}" class="key">{html.escape(name)}</text>')
        left += 26 + 5.0 * len(name)
    with open(target, "w", encoding="utf-8") as file:
        file.write(
            # A line for each box.
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">\n'
            "<title>Where a durable notification's processor time goes</title>\n"
            "<style>text{font:11px sans-serif;fill:#fff}.key{font-size:9px;fill:#334155}"
            ".head{font-size:14px;fill:#0f172a}</style>\n"
            f'<rect width="{WIDTH}" height="{height}" fill="#f8fafc"/>\n'
            '<text x="8" y="26" class="head">Processor time of the server while it commits notifications, '
            f"{root.count} samples. "
            "Each box is a function, as wide as the time in it and in what it calls.</text>\n"
            + "\n".join(rows + legend)
            + "\n</svg>\n"
        )
    print("| work | share |\n|---|---|")
    for name, count in shares.most_common():
        print(f"| {name} | {100 * count / root.count:.1f} % |")


if __name__ == "__main__":
    main()
