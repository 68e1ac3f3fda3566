/// Checks that the parts of a request's head are laid out in memory exactly as strict HTTP
/// requires.
///
/// libmicrohttpd before 1.0 accepts bare line feeds, folded lines, NUL bytes inside values and
/// extra spaces. A proxy may parse each of them differently. The engine parses in place, so the
/// addresses of the parts reveal the bytes between them, without a second scan.
package struct HeadLayout {
    /// The required address of the next part; nil after a mismatch.
    private var expected: UInt?
    private let start: UInt

    /// Creates the layout of a head with a method at an address.
    package init(methodAt start: UInt, length: Int) {
        self.start = start
        expected = start + UInt(length) + 1
    }

    /// Checks the target or the version, followed by one space, or by one line break after the
    /// version.
    package mutating func part(at address: UInt, length: Int, followedBy gap: Int) {
        guard expected == address else { return expected = nil }
        expected = address + UInt(length + gap)
    }

    /// Checks a field line: name, colon, white space, value, CR and LF.
    package mutating func field(name: UInt, nameLength: Int, value: UInt, valueLength: Int) {
        let colonEnd = name + UInt(nameLength) + 1
        guard expected == name, value >= colonEnd, value - colonEnd <= Self.mostWhiteSpace else {
            return expected = nil
        }
        expected = value + UInt(valueLength) + 2
    }

    /// Whether the head ended at its length, after an empty line.
    package func ends(afterBytes bytes: Int) -> Bool {
        expected == start + UInt(bytes) - 2
    }

    /// A larger gap between colon and value is not white space but unrelated memory.
    private static let mostWhiteSpace: UInt = 64 * 1024
}
