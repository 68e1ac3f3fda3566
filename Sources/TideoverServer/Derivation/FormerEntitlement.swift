import TideoverCore
import TideoverJSON

/// An entitlement of a stored answer.
struct FormerEntitlement {
    let name: String
    /// Its part of the answer, as stored.
    let form: ArraySlice<UInt8>
    /// The values of the members of `MirroredMember.written`.
    let mirrored: [JSONValue]

    /// Returns the entitlements of an answer; none if it cannot be read.
    static func all(in answer: [UInt8]) -> [FormerEntitlement] {
        let read = WrittenJSON.read(answer) { json throws(WrittenJSON.Mismatch) in
            try all(in: answer, &json)
        }
        return read ?? allOfDocument(answer)
    }

    private static func all(
        in answer: [UInt8],
        _ json: inout WrittenJSON
    ) throws(WrittenJSON.Mismatch) -> [FormerEntitlement] {
        var all: [FormerEntitlement] = []
        try json.beginObject()
        guard json.nextKey(is: "entitlements") else { throw WrittenJSON.Mismatch() }
        try json.beginObject()
        while !json.endsObject() { all.append(try FormerEntitlement(of: answer, &json)) }
        while !json.endsObject() { try json.skipMember() }
        return all
    }

    private init(
        of answer: [UInt8],
        _ json: inout WrittenJSON
    ) throws(WrittenJSON.Mismatch) {
        name = try json.nextKey()
        let start = json.offset
        var mirrored: [JSONValue] = []
        try json.beginObject()
        for member in MirroredMember.written {
            while !json.nextKey(is: member.rawValue) { try json.skipMember() }
            mirrored.append(try json.scalar())
        }
        while !json.endsObject() { try json.skipMember() }
        form = answer[start..<json.offset]
        self.mirrored = mirrored
    }

    /// Reads an answer with texts that have escapes or are not ASCII, or of an earlier version.
    private static func allOfDocument(_ answer: [UInt8]) -> [FormerEntitlement] {
        let document = try? JSONDocument(answer, limits: .local)
        guard let entitlements = document?.root["entitlements"] else { return [] }
        return entitlements.members.map { FormerEntitlement($0.key, $0.value) }
    }

    private init(_ name: String, _ node: JSONNode) {
        self.name = name
        form = node.source
        mirrored = MirroredMember.written.map { member in
            node[member.rawValue].map { JSONValue($0) } ?? .null
        }
    }
}
