public import TideoverJSON

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A JSON Web Signature in compact serialization (RFC 7515), taken apart strictly and not yet
/// believed: nothing in it may be used before something verified it.
public struct JWS: Sendable {
    /// The longest compact form that is taken apart, in bytes: three times a real notification.
    public static let maximumByteCount = 64 * 1024

    /// A part of the compact form.
    public enum Segment: String, Hashable, Sendable, CaseIterable {
        case header
        case payload
        case signature
    }

    /// The compact form as received.
    public let compact: [UInt8]
    /// The header as sent, still base64url.
    public let headerText: ArraySlice<UInt8>
    /// The header as JSON, an object without duplicate names.
    public let header: JSONDocument
    /// The decoded payload; bytes, whatever they say.
    public let payload: [UInt8]
    /// The decoded signature, of any length.
    public let signature: [UInt8]
    /// What the signature covers: `header.payload` as sent.
    public let signingInput: ArraySlice<UInt8>

    /// Takes a compact form apart; throws when it is not exactly three segments of canonical
    /// base64url whose header is a strict JSON object, or longer than `maximumByteCount`.
    public init(_ compact: some Collection<UInt8>) throws(SignatureRefusal) {
        try self.init(compact, known: { _ in nil })
    }

    /// Takes a compact form apart in the same way, and asks `known` whether the same text was read
    /// as a header before.
    init(
        _ compact: some Collection<UInt8>,
        known: (_ headerText: ArraySlice<UInt8>) -> JSONDocument?
    ) throws(SignatureRefusal) {
        guard compact.count <= Self.maximumByteCount else { throw .tooLarge(compact.count) }
        let compact = Array(compact)
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
        self.compact = compact
    }

    /// The compact form of `payload`, with the signature that `sign` makes of the bytes it is handed.
    /// The header is written as given. Throws `tooLarge` when nobody here would read it.
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
    /// Parameters that are refused rather than ignored. `crit` asks to be understood, `zip` and
    /// `b64` change what the bytes mean, and the others bring or fetch a key that nobody vouches
    /// for.
    static let parametersThatChangeMeaning = ["crit", "zip", "b64", "jku", "jwk", "x5u"]

    /// How many bytes a signature has, by ES256 and by Ed25519 alike.
    static let signatureByteCount = 64

    private static let dot = UInt8(ascii: ".")

    /// Throws unless the header names the algorithm, which is the caller's constant, and has none of
    /// the parameters.
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

    private static func dots(in compact: [UInt8]) throws(SignatureRefusal) -> (Int, Int) {
        guard let first = nextDot(in: compact, from: 0) else { throw .notCompactJWS(segments: 1) }
        guard let second = nextDot(in: compact, from: first + 1) else {
            throw .notCompactJWS(segments: 2)
        }
        guard nextDot(in: compact, from: second + 1) == nil else {
            throw .notCompactJWS(segments: compact.count { $0 == dot } + 1)
        }
        return (first, second)
    }

    private static func nextDot(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = memchr(base + start, Int32(dot), bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
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
