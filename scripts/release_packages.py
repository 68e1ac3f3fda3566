"""Which Debian packages a program's shared libraries come from."""

import pathlib
import re
import subprocess


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def shared_libraries(program):
    """All libraries that a program loads, the loader among them, by their paths."""
    found = re.findall(r"(/\S+) \(0x", output("ldd", str(program)))
    return sorted({pathlib.Path(path) for path in found})


def needed_names(program):
    """The names of the libraries that a program itself names."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", str(program)))


def owners(libraries):
    """The package of each library by its path, such as `libssl3:amd64`."""
    places = {}
    for library in libraries:
        for place in (library, library.parent.resolve() / library.name, library.resolve()):
            places[str(place)] = library
            # The database contains paths from before /lib became /usr/lib.
            places[str(place).removeprefix("/usr")] = library
    answer = subprocess.run(["dpkg", "-S", *places], capture_output=True, text=True).stdout
    found = {}
    for line in answer.splitlines():
        package, place = line.rsplit(": ", 1)
        if place in places:
            found[places[place]] = package.split(", ")[0]
    strangers = [str(library) for library in libraries if library not in found]
    if strangers:
        raise SystemExit(f"from no Debian package: {', '.join(strangers)}; build with Debian's")
    return found


def status_of(package):
    """The record of an installed package, as `dpkg --status` prints it."""
    return output("dpkg", "--status", package)


def fields(package, *names):
    form = "\\n".join(f"${{{name}}}" for name in names)
    return output("dpkg-query", "--show", f"--showformat={form}", package).split("\n")
