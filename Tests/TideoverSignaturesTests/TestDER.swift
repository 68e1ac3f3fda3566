import TideoverASN1
import TideoverSignatures

/// An ASN.1 value that a test can change, part by part, before encoding it again.
struct TestDER {
    var identifier: UInt8
    /// The contents of a primitive value.
    var contents: [UInt8] = []
    /// The elements of a constructed value.
    var parts: [TestDER] = []
    /// The form of the length.
    var length = Length.shortest

    enum Length { case shortest, long, open }

    init(_ identifier: UInt8, _ contents: [UInt8]) {
        (self.identifier, self.contents) = (identifier, contents)
    }

    init(_ identifier: UInt8, _ parts: [TestDER]) {
        (self.identifier, self.parts) = (identifier, parts)
    }

    /// Decodes a value with all its elements.
    init(reading bytes: [UInt8]) throws {
        try self.init(BERReader.only(bytes[...]))
    }

    private init(_ value: BERValue) throws {
        identifier = value.identifier
        guard identifier & 0x20 != 0 else {
            contents = Array(value.contents)
            return
        }
        var elements = value.elements
        while !elements.isAtEnd { parts.append(try TestDER(elements.next())) }
    }

    var bytes: [UInt8] {
        let body = contents + parts.flatMap(\.bytes)
        let count: [UInt8] = [UInt8(body.count >> 8), UInt8(body.count & 0xFF)]
        return switch length {
        case .open: [identifier, 0x80] + body + [0, 0]
        case .long: [identifier, 0x83, 0] + count + body
        case .shortest where body.count < 0x80: [identifier, count[1]] + body
        case .shortest where body.count < 0x100: [identifier, 0x81, count[1]] + body
        case .shortest: [identifier, 0x82] + count + body
        }
    }

    /// Changes the value inside a string, the form in which extensions contain theirs.
    mutating func changeInside(_ change: (inout TestDER) -> Void) throws {
        var inside = try TestDER(reading: contents)
        change(&inside)
        contents = inside.bytes
    }
}

/// A certificate that a test can change and sign again with a valid signature.
struct TestCertificate {
    /// The parts of a certificate like the store's.
    enum Field: Int { case version, serial, algorithm, issuer, validity, subject, key, extensions }
    /// The extensions in the order of creation.
    enum Extension: Int { case basicConstraints, keyUsage, marker, authorityKey, subjectKey }

    private var whole: TestDER

    init(_ der: [UInt8]) throws {
        whole = try TestDER(reading: der)
    }

    var bytes: [UInt8] { whole.bytes }

    /// The signed part, the algorithm and the signature.
    var parts: [TestDER] {
        get { whole.parts }
        set { whole.parts = newValue }
    }

    var statement: TestDER {
        get { parts[0] }
        set { parts[0] = newValue }
    }

    var length: TestDER.Length {
        get { whole.length }
        set { whole.length = newValue }
    }

    subscript(_ field: Field) -> TestDER {
        get { statement.parts[field.rawValue] }
        set { statement.parts[field.rawValue] = newValue }
    }

    var extensions: [TestDER] {
        get { self[.extensions].parts[0].parts }
        set { self[.extensions].parts[0].parts = newValue }
    }

    subscript(_ found: Extension) -> TestDER {
        get { extensions[found.rawValue] }
        set { extensions[found.rawValue] = newValue }
    }

    /// Changes the value of an extension.
    mutating func change(
        _ found: Extension,
        _ change: (inout TestDER) -> Void
    ) throws {
        let value = self[found].parts.count - 1
        try self[found].parts[value].changeInside(change)
    }

    mutating func sign(by key: P256PrivateKey) {
        let signature = ECDSASignature.der(raw: key.sign(statement.bytes))
        parts[2] = TestDER(BERValue.bitString, [0] + signature)
    }
}
