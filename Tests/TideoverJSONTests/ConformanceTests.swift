import Testing
import TideoverJSON

/// The published parsing vectors: every parser must accept `y_` and reject `n_`; each may decide on
/// `i_`.
@Suite(.enabled(if: Vectors.present, "vectors are not beside the project"))
struct ConformanceTests {
    /// Valid by RFC 8259, but rejected by the strict syntax: a repeated key.
    static let repeatsAKey: Set = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    ]

    @Test func `all vectors are present`() {
        #expect(Vectors.names("y_").count == 95)
        #expect(Vectors.names("n_").count == 188)
        #expect(Vectors.names("i_").count == 35)
    }

    @Test(arguments: Vectors.names("y_"))
    func `documents that every parser must accept are accepted, except duplicate keys`(
        name: String
    ) throws {
        let refused = refusal(of: try Vectors.bytes(name))
        if Self.repeatsAKey.contains(name) {
            #expect(refused?.reason == .duplicateKey("a", firstLine: 1))
        } else {
            #expect(refused == nil)
        }
    }

    @Test(arguments: Vectors.names("y_"))
    func `relaxed syntax reads strict documents with the same meaning`(
        name: String
    ) throws {
        let bytes = try Vectors.bytes(name)
        guard let strict = try? JSONDocument(bytes) else { return }
        let relaxed = try JSONDocument(bytes, syntax: .relaxed)
        #expect(JSONValue(strict.root) == JSONValue(relaxed.root))
    }

    @Test(arguments: Vectors.names("y_"), [false, true])
    func `accepted documents pass the writer unchanged`(name: String, pretty: Bool) throws {
        guard let document = try? JSONDocument(try Vectors.bytes(name)) else { return }
        let value = JSONValue(document.root)
        let written = try JSONDocument(value.encoded(pretty: pretty))
        #expect(JSONValue(written.root) == value)
    }

    @Test(arguments: Vectors.names("n_"))
    func `documents that every parser must refuse are refused`(name: String) throws {
        let bytes = try Vectors.bytes(name)
        #expect(refusal(of: bytes) != nil)
        #expect(refusal(of: bytes, limits: .local) != nil)
    }

    @Test func `a hundred thousand opening brackets are refused by the depth limit`() throws {
        let bytes = try Vectors.bytes("n_structure_100000_opening_arrays.json")
        #expect(refusal(of: bytes)?.reason == .tooDeep(limit: 32))
        #expect(refusal(of: bytes)?.offset == 32)
    }

    /// The expected results where each parser may choose; nil accepts.
    static let verdicts: [String: JSONError.Reason?] = [
        "number_double_huge_neg_exp": nil,
        "number_huge_exp": .numberOutOfRange,
        "number_neg_int_huge_exp": .numberOutOfRange,
        "number_pos_double_huge_exp": .numberOutOfRange,
        "number_real_neg_overflow": .numberOutOfRange,
        "number_real_pos_overflow": .numberOutOfRange,
        "number_real_underflow": nil,
        "number_too_big_neg_int": nil,
        "number_too_big_pos_int": nil,
        "number_very_big_negative_int": nil,
        "object_key_lone_2nd_surrogate": .loneSurrogate,
        "string_1st_surrogate_but_2nd_missing": .loneSurrogate,
        "string_1st_valid_surrogate_2nd_invalid": .loneSurrogate,
        "string_UTF-16LE_with_BOM": .invalidUTF8,
        "string_UTF-8_invalid_sequence": .invalidUTF8,
        "string_UTF8_surrogate_U+D800": .invalidUTF8,
        "string_incomplete_surrogate_and_escape_valid": .loneSurrogate,
        "string_incomplete_surrogate_pair": .loneSurrogate,
        "string_incomplete_surrogates_escape_valid": .loneSurrogate,
        "string_invalid_lonely_surrogate": .loneSurrogate,
        "string_invalid_surrogate": .loneSurrogate,
        "string_invalid_utf-8": .invalidUTF8,
        "string_inverted_surrogates_U+1D11E": .loneSurrogate,
        "string_iso_latin_1": .invalidUTF8,
        "string_lone_second_surrogate": .loneSurrogate,
        "string_lone_utf8_continuation_byte": .invalidUTF8,
        "string_not_in_unicode_range": .invalidUTF8,
        "string_overlong_sequence_2_bytes": .invalidUTF8,
        "string_overlong_sequence_6_bytes": .invalidUTF8,
        "string_overlong_sequence_6_bytes_null": .invalidUTF8,
        "string_truncated-utf-8": .invalidUTF8,
        "string_utf16BE_no_BOM": .expectedValue,
        "string_utf16LE_no_BOM": .expectedValue,
        "structure_500_nested_arrays": .tooDeep(limit: 32),
        "structure_UTF-8_BOM_empty_object": .byteOrderMark,
    ]

    @Test(arguments: Vectors.names("i_"))
    func `implementation-defined documents get the verdict of our table`(name: String) throws {
        let key = String(name.dropFirst("i_".count).dropLast(".json".count))
        let verdict = try #require(Self.verdicts[key])
        #expect(refusal(of: try Vectors.bytes(name))?.reason == verdict)
    }
}
