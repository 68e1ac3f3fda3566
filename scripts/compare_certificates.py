"""Certificates for compare_apple.py that are changed and then signed again by the right issuer.

A certificate is read into a tree of ASN.1 values, the values inside its extensions included. A change is
drawn for one value of the tree, or for one byte of what is signed; the issuer's key then signs the result,
so that no signature tells that anything was changed.
"""

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

FIELDS = ["version", "serial", "algorithm", "issuer", "validity", "subject", "key", "extensions"]
EXTENSIONS = {
    bytes.fromhex("551d0e"): "subjectKeyIdentifier", bytes.fromhex("551d0f"): "keyUsage",
    bytes.fromhex("551d11"): "subjectAlternativeName", bytes.fromhex("551d13"): "basicConstraints",
    bytes.fromhex("551d1e"): "nameConstraints", bytes.fromhex("551d1f"): "crlDistributionPoints",
    bytes.fromhex("551d20"): "certificatePolicies", bytes.fromhex("551d23"): "authorityKeyIdentifier",
    bytes.fromhex("551d25"): "extendedKeyUsage", bytes.fromhex("2b06010505070101"): "authorityInformationAccess",
}
ECDSA_DIGESTS = {
    bytes.fromhex("2a8648ce3d040301"): hashes.SHA224, bytes.fromhex("2a8648ce3d040302"): hashes.SHA256,
    bytes.fromhex("2a8648ce3d040303"): hashes.SHA384, bytes.fromhex("2a8648ce3d040304"): hashes.SHA512,
}
BOOLEAN, INTEGER, BITS, OCTETS, NULL, OBJECT, SEQUENCE, SET = 1, 2, 3, 4, 5, 6, 0x30, 0x31
TAGS = [0, 1, 2, 3, 4, 5, 6, 9, 0x0A, 0x0C, 0x0D, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1A, 0x1C, 0x1E, 0x24, 0x30,
        0x31, 0x80, 0x81, 0x82, 0x83, 0x86, 0x87, 0xA0, 0xA1, 0xA2, 0xA3, 0xA4]


class Value:
    """One value: its identifier, and its contents or the values that it is made of."""

    def __init__(self, tag, contents=b"", parts=None, wraps=False):
        self.tag, self.contents, self.parts = tag, contents, parts
        # Whether the parts are the contents of an octet string: an extension's value.
        self.wraps = wraps
        self.length = "shortest"

    def bytes(self):
        body = self.contents if self.parts is None else b"".join(part.bytes() for part in self.parts)
        count = len(body)
        if self.length == "open":
            return bytes([self.tag, 0x80]) + body + b"\0\0"
        if self.length == "long":
            return bytes([self.tag, 0x84]) + count.to_bytes(4, "big") + body
        if self.length == "wrong":
            count += 1
        if count < 0x80:
            return bytes([self.tag, count]) + body
        size = (count.bit_length() + 7) // 8
        return bytes([self.tag, 0x80 | size]) + count.to_bytes(size, "big") + body

    def walk(self, parent=None):
        yield self, parent
        for part in self.parts or []:
            yield from part.walk(self)


def read(data):
    """The value that these bytes are, sound DER of short tags."""
    value, rest = read_first(data)
    if rest:
        raise ValueError("bytes behind the value")
    return value


def read_first(data):
    tag, count, at = data[0], data[1], 2
    if count & 0x80:
        size = count & 0x7F
        count, at = int.from_bytes(data[2:2 + size], "big"), 2 + size
    body, rest = data[at:at + count], data[at + count:]
    if len(body) != count:
        raise ValueError("too short")
    if not tag & 0x20:
        return Value(tag, body), rest
    parts = []
    while body:
        part, body = read_first(body)
        parts.append(part)
    return Value(tag, parts=parts), rest


class Certificate:
    """A certificate as a tree. What is in an extension is part of the tree as far as it is DER."""

    def __init__(self, der):
        self.whole = read(der)
        for extension in self.extensions:
            value = extension.parts[-1]
            try:
                value.parts, value.wraps = [read(value.contents)], True
            except (ValueError, IndexError):
                pass

    @property
    def signed(self):
        return self.whole.parts[0]

    @property
    def extensions(self):
        return self.signed.parts[7].parts[0].parts

    def named_values(self):
        """(name of the field, value, the value around it) of all that is signed."""
        for name, field in zip(FIELDS, self.signed.parts):
            if name != "extensions":
                for value, parent in field.walk(self.signed):
                    yield name, value, parent
                continue
            yield name, field, self.signed
            yield name, field.parts[0], field
            for extension in self.extensions:
                which = EXTENSIONS.get(extension.parts[0].contents, "other extension")
                for value, parent in extension.walk(field.parts[0]):
                    yield which, value, parent

    def sign(self, key, signed=None):
        """The DER, signed by the key with the digest that the certificate names."""
        data = self.signed.bytes() if signed is None else signed
        names = [part.contents for part in self.whole.parts[1].parts or [] if part.tag == OBJECT]
        digest = ECDSA_DIGESTS.get(names[0] if names else b"", hashes.SHA256)()
        signature = Value(BITS, b"\0" + key.sign(data, ec.ECDSA(digest)))
        algorithm = self.whole.parts[1].bytes()
        return Value(SEQUENCE, data + algorithm + signature.bytes()).bytes()


def drawn_value(r):
    """A small value that may be put where none belongs."""
    return r.choice([
        lambda: Value(NULL), lambda: Value(BOOLEAN, bytes([r.choice([0, 1, 0xFF])])),
        lambda: Value(INTEGER, bytes([r.randrange(256)])), lambda: Value(0x0C, b"text"),
        lambda: Value(OCTETS, b"\1"), lambda: Value(SEQUENCE, parts=[]), lambda: Value(BITS, b"\0\1"),
        lambda: Value(OBJECT, b"\x2a\x03"), lambda: Value(r.choice(TAGS), r.randbytes(r.randrange(3))),
    ])()


def changed_contents(r, value):
    """(name, contents): other contents of a plain value, of the kind that its tag invites."""
    data = bytearray(value.contents)
    ways = ["empty", "zero in front", "zero behind", "other byte", "flipped bit", "drawn"]
    ways += {BITS: ["unused bits", "unused bits", "last bit"], BOOLEAN: ["truth", "truth"],
             INTEGER: ["number", "number"]}.get(value.tag, [])
    way = r.choice(ways)
    if way == "empty" or not data:
        return "empty", b""
    if way == "zero in front":
        data.insert(0, 0)
    elif way == "zero behind":
        data.append(0)
    elif way == "other byte":
        data[r.randrange(len(data))] = r.randrange(256)
    elif way == "flipped bit":
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)
    elif way == "drawn":
        data = bytearray(r.randbytes(r.randint(1, 24)))
    elif way == "unused bits":
        data[0] = r.choice([1, 2, 3, 4, 5, 6, 7, 8, 0xFF])
    elif way == "last bit":
        data[-1] ^= 1 << r.randrange(8)
    elif way == "truth":
        data = bytearray([r.choice([0, 1, 0x7F, 0x80, 0xFE])])
    elif way == "number":
        data = bytearray(r.choice([b"\0", b"\xff", b"\0\0", b"\xff\xff", b"\x7f" * 8, b"\x01" * 9, b"\x01" * 21,
                                   b"\1", b"\2", b"\3", b"\4", b"\0\2"]))
    return way, bytes(data)


def change_structure(r, certificate):
    """Changes one value of the tree; the name of the field and of the change."""
    by_field = {}
    for name, value, parent in certificate.named_values():
        by_field.setdefault(name, []).append((value, parent))
    # Chooses the field first, because most values are in the names.
    field = r.choice(list(by_field))
    value, parent = r.choice(by_field[field])
    index = next(i for i, part in enumerate(parent.parts) if part is value)
    ways = ["tag", "length", "remove", "double", "insert", "default"] + ["contents"] * 4
    way = r.choice(ways)
    if way == "contents" and value.parts is not None and not value.wraps:
        way = r.choice(["tag", "order", "inside", "insert", "swap"])
    if way == "tag":
        value.tag = r.choice(TAGS + [value.tag ^ 0x20, value.tag ^ 0x80, value.tag ^ 1])
    elif way == "length":
        value.length = r.choice(["open", "long", "long", "wrong"])
    elif way == "remove":
        del parent.parts[index]
    elif way == "double":
        parent.parts.insert(index, value)
    elif way == "insert":
        parent.parts.insert(index + r.randint(0, 1), drawn_value(r))
    elif way == "default":
        parent.parts.insert(index + r.randint(0, 1), Value(BOOLEAN, b"\0"))
    elif way == "order":
        r.shuffle(value.parts)
    elif way == "swap":
        r.shuffle(parent.parts)
    elif way == "inside":
        value.parts.append(drawn_value(r))
    elif value.wraps:
        way, value.contents = "bytes behind", value.parts[0].bytes() + r.randbytes(1)
        value.parts = None
    else:
        detail, value.contents = changed_contents(r, value)
        way = f"contents {detail}"
    return field, way


def changed(r, der, key):
    """(name, DER): the certificate with one change drawn, signed again by its issuer's key."""
    certificate = Certificate(der)
    if r.random() < 0.35:
        return changed_byte(r, certificate, key)
    field, way = change_structure(r, certificate)
    if field == "algorithm" and r.random() < 0.8:
        certificate.whole.parts[1] = certificate.signed.parts[min(2, len(certificate.signed.parts) - 1)]
    try:
        return f"{field}: {way}", certificate.sign(key)
    except (ValueError, OverflowError):
        return changed(r, der, key)


def changed_byte(r, certificate, key):
    data = bytearray(certificate.signed.bytes())
    at = r.randrange(len(data))
    field, end = "frame", len(data) - sum(len(part.bytes()) for part in certificate.signed.parts)
    for name, part in zip(FIELDS, certificate.signed.parts):
        for inside, size in pieces(certificate, name, part):
            if end <= at:
                field = inside
            end += size
    way = r.choice(["flip", "flip", "other", "insert", "remove"])
    if way == "flip":
        data[at] ^= 1 << r.randrange(8)
    elif way == "other":
        data[at] = r.randrange(256)
    elif way == "insert":
        data.insert(at, r.randrange(256))
    else:
        del data[at]
    return f"{field}: byte {way}", certificate.sign(key, bytes(data))


def pieces(certificate, name, part):
    """The parts of a field by name, with the count of their bytes."""
    if name != "extensions":
        return [(name, len(part.bytes()))]
    sizes = [(EXTENSIONS.get(e.parts[0].contents, "other extension"), len(e.bytes())) for e in certificate.extensions]
    return [(name, len(part.bytes()) - sum(size for _, size in sizes))] + sizes
