/// A JSON text, validated once and read in place: values are created only on demand.
public struct JSONDocument: Sendable {
    /// The accepted syntax.
    public enum Syntax: Hashable, Sendable {
        /// RFC 8259, without repeated keys in an object.
        case strict
        /// For files written by people: also comments, bare and single-quoted keys, single-quoted
        /// strings and trailing commas, as in JSON5.
        case relaxed
    }

    let storage: JSONStorage

    /// Validates a text.
    ///
    /// - Throws: the first error in reading order; a repeated key is reported at the end of its
    ///   object.
    public init(
        _ bytes: [UInt8],
        syntax: Syntax = .strict,
        limits: JSONLimits = .inbound
    ) throws(JSONError) {
        storage = try JSONStorage(bytes, syntax: syntax, limits: limits)
    }

    /// Validates a text.
    ///
    /// - Throws: as for bytes.
    public init(
        _ text: String,
        syntax: Syntax = .strict,
        limits: JSONLimits = .inbound
    ) throws(JSONError) {
        try self.init(Array(text.utf8), syntax: syntax, limits: limits)
    }

    /// The top-level value.
    public var root: JSONNode { JSONNode(storage: storage, index: 0) }

    /// The original text.
    public var bytes: [UInt8] { storage.bytes }
}

/// The text and tape shared by all nodes of a document.
final class JSONStorage: Sendable {
    let bytes: [UInt8]
    let tape: [JSONToken]

    init(
        _ bytes: [UInt8],
        syntax: JSONDocument.Syntax,
        limits: JSONLimits
    ) throws(JSONError) {
        self.bytes = bytes
        switch bytes.withUnsafeBufferPointer({ Self.scan($0, syntax, limits) }) {
        case .success(let tape): self.tape = tape
        case .failure(let fault):
            let place = bytes.withUnsafeBufferPointer { position(of: fault.offset, in: $0) }
            throw JSONError(
                reason: fault.reason,
                offset: fault.offset,
                line: place.line,
                column: place.column
            )
        }
    }

    private static func scan(
        _ text: UnsafeBufferPointer<UInt8>,
        _ syntax: JSONDocument.Syntax,
        _ limits: JSONLimits
    ) -> Result<[JSONToken], JSONFault> {
        guard text.count <= limits.maxBytes else {
            let reason = JSONError.Reason.tooLarge(limit: limits.maxBytes)
            return .failure(JSONFault(reason: reason, offset: limits.maxBytes))
        }
        guard let base = text.baseAddress, !text.isEmpty else {
            return .failure(JSONFault(reason: .empty, offset: 0))
        }
        var scanner = JSONScanner(
            text,
            base: base,
            relaxed: syntax == .relaxed,
            depth: limits.maxDepth
        )
        do {
            try scanner.document()
            return .success(scanner.tape)
        } catch {
            return .failure(error)
        }
    }

    /// Reads the text of an entry in place.
    func withText<T>(_ token: JSONToken, _ body: (UnsafeBufferPointer<UInt8>) -> T) -> T {
        bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[token.text])) }
    }
}
