import Testing
import TideoverJSON

@Suite(.enabled(if: Vectors.present, "vectors are not beside the project"))
struct ConformanceTests {
    @Test(arguments: Vectors.names("y_"))
    func `what every parser must accept is accepted`(name: String) throws {
        let bytes = try Vectors.bytes(name)
        if Self.repeatsAKey.contains(name) {
            #expect(reason(bytes) == .duplicateKey("a", firstLine: 1))
        } else {
            #expect(reason(bytes) == nil)
        }
    }

    /// RFC 8259 leaves these open; law L13 does not.
    static let repeatsAKey = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    ]

    @Test(arguments: Vectors.names("n_"))
    func `what every parser must refuse is refused`(name: String) throws {
        let bytes = try Vectors.bytes(name)
        #expect(reason(bytes) != nil)
        #expect(reason(bytes, limits: .local) != nil)
    }
}

/// Why a text is refused; nil if it is accepted.
func reason(
    _ bytes: [UInt8],
    syntax: JSONDocument.Syntax = .strict,
    limits: JSONLimits = .inbound
) -> JSONError.Reason? {
    do throws(JSONError) {
        _ = try JSONDocument(bytes, syntax: syntax, limits: limits)
        return nil
    } catch {
        return error.reason
    }
}
