/// Checks that the parts of a request's head stand in memory exactly as strict HTTP lays them out.
///
/// libmicrohttpd before 1.0 takes bare line feeds, folded lines, NUL bytes inside values and spare
/// spaces, each of which a proxy in front may read in another way. It parses in place, so the
/// addresses of the parts tell what stood between them, and nothing has to be read twice.
package struct HeadLayout {
    /// Where the next part must start; nil once something stood elsewhere.
    private var expected: UInt?
    private let start: UInt

    /// A head whose method starts at an address.
    package init(methodAt start: UInt, length: Int) {
        self.start = start
        expected = start + UInt(length) + 1
    }

    /// The target or the version: one space, or one line break after the version, follows it.
    package mutating func part(at address: UInt, length: Int, followedBy gap: Int) {
        guard expected == address else { return expected = nil }
        expected = address + UInt(length + gap)
    }

    /// A field line: name, colon, white space, value, CR and LF.
    package mutating func field(name: UInt, nameLength: Int, value: UInt, valueLength: Int) {
        let colonEnd = name + UInt(nameLength) + 1
        guard expected == name, value >= colonEnd, value - colonEnd <= Self.mostWhiteSpace else {
            return expected = nil
        }
        expected = value + UInt(valueLength) + 2
    }

    /// Whether the head ended where its length says, after an empty line.
    package func ends(afterBytes bytes: Int) -> Bool {
        expected == start + UInt(bytes) - 2
    }

    /// More than this between colon and value is no white space but memory elsewhere.
    private static let mostWhiteSpace: UInt = 64 * 1024
}
