public import TideoverJSON

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A JSON Web Signature in compact serialization (RFC 7515), strictly parsed but not verified.
/// Verify it before using any of its content.
public struct JWS: Sendable {
    /// The maximum length of a compact form in bytes: three times a real notification.
    public static let maximumByteCount = 64 * 1024

    /// A part of the compact form.
    public enum Segment: String, Hashable, Sendable, CaseIterable {
        case header
        case payload
        case signature
    }

    private let text: ArraySlice<UInt8>
    /// The header as sent, still base64url.
    public let headerText: ArraySlice<UInt8>
    /// The header as JSON, an object without duplicate names.
    public let header: JSONDocument
    /// The decoded payload, with any content.
    public let payload: [UInt8]
    /// The decoded signature, of any length.
    public let signature: [UInt8]
    /// The signed bytes: `header.payload` as sent.
    public let signingInput: ArraySlice<UInt8>

    /// Parses a compact form. Throws unless it has exactly three segments of canonical base64url, a
    /// strict JSON object as header, and at most `maximumByteCount` bytes.
    public init(_ compact: some Collection<UInt8>) throws(SignatureRefusal) {
        guard compact.count <= Self.maximumByteCount else { throw .tooLarge(compact.count) }
        try self.init(Array(compact)[...], known: { _ in nil })
    }

    /// Parses a compact form in the same way, and refers to its bytes: a document is usually a part
    /// of another one, which is kept as well. `known` returns the header for a text that was parsed
    /// before.
    init(
        _ compact: ArraySlice<UInt8>,
        known: (_ headerText: ArraySlice<UInt8>) -> JSONDocument?
    ) throws(SignatureRefusal) {
        guard compact.count <= Self.maximumByteCount else { throw .tooLarge(compact.count) }
        let (first, second) = try Self.dots(in: compact)
        headerText = compact[..<first]
        signingInput = compact[..<second]
        if let header = known(headerText) {
            self.header = header
        } else {
            header = try Self.header(Self.decode(headerText, .header))
        }
        payload = try Self.decode(compact[(first + 1)..<second], .payload)
        signature = try Self.decode(compact[(second + 1)...], .signature)
        text = compact
    }

    /// The compact form as received.
    public var compact: [UInt8] { Array(text) }

    /// Returns the compact form of `payload`, with the signature that `sign` returns for the
    /// signing input. The header is written unchanged. Throws `tooLarge` if the result exceeds the
    /// limit for reading.
    public static func sign(
        header: JSONObject,
        payload: [UInt8],
        by sign: (_ signingInput: [UInt8]) -> [UInt8]
    ) throws(SignatureRefusal) -> [UInt8] {
        var compact = Base64.encode(JSONValue.object(header).encoded(), .urlSafe)
        compact.append(dot)
        compact += Base64.encode(payload, .urlSafe)
        let signature = sign(compact)
        compact.append(dot)
        compact += Base64.encode(signature, .urlSafe)
        guard compact.count <= maximumByteCount else { throw .tooLarge(compact.count) }
        return compact
    }
}

extension JWS {
    /// Parameters that are rejected rather than ignored. `crit` lists parameters that must be
    /// understood; `zip` and `b64` change the meaning of the bytes. The others provide or fetch an
    /// untrusted key.
    static let parametersThatChangeMeaning = ["crit", "zip", "b64", "jku", "jwk", "x5u"]

    /// The number of bytes of a signature, for both ES256 and Ed25519.
    static let signatureByteCount = 64

    private static let dot = UInt8(ascii: ".")

    /// Throws unless the header names the algorithm, which is the caller's constant, and has none
    /// of the forbidden parameters.
    func checkHeader(
        algorithm: String,
        forbidding parameters: [String]
    ) throws(SignatureRefusal) {
        let found = header.root["alg"]?.string
        guard found == algorithm else { throw .algorithm(found: found) }
        for parameter in parameters where header.root[parameter] != nil {
            throw .forbiddenHeader(parameter)
        }
    }

    func checkSignatureLength() throws(SignatureRefusal) {
        guard signature.count == Self.signatureByteCount else {
            throw .signatureLength(signature.count)
        }
    }

    private static func dots(in compact: ArraySlice<UInt8>) throws(SignatureRefusal) -> (Int, Int) {
        guard let first = nextDot(in: compact, from: compact.startIndex) else {
            throw .notCompactJWS(segments: 1)
        }
        guard let second = nextDot(in: compact, from: first + 1) else {
            throw .notCompactJWS(segments: 2)
        }
        guard nextDot(in: compact, from: second + 1) == nil else {
            throw .notCompactJWS(segments: compact.count { $0 == dot } + 1)
        }
        return (first, second)
    }

    private static func nextDot(in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
        bytes[start...].withUnsafeBytes { rest in
            guard let base = rest.baseAddress, let found = memchr(base, Int32(dot), rest.count)
            else { return nil }
            return start + (UnsafeRawPointer(found) - base)
        }
    }

    private static func decode(
        _ text: ArraySlice<UInt8>,
        _ segment: Segment
    ) throws(SignatureRefusal) -> [UInt8] {
        guard let bytes = Base64.decode(text, .urlSafe) else { throw .notBase64URL(segment) }
        return bytes
    }

    private static func header(_ bytes: [UInt8]) throws(SignatureRefusal) -> JSONDocument {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes)
        } catch {
            throw .headerNotJSON(error)
        }
        guard document.root.kind == .object else { throw .headerNotObject }
        return document
    }
}
