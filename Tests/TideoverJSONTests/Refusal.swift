import TideoverJSON

/// Returns the error of a text; nil if it is accepted.
func refusal(
    of bytes: [UInt8],
    syntax: JSONDocument.Syntax = .strict,
    limits: JSONLimits = .inbound
) -> JSONError? {
    do throws(JSONError) {
        _ = try JSONDocument(bytes, syntax: syntax, limits: limits)
        return nil
    } catch {
        return error
    }
}

/// Returns the error of a text; nil if it is accepted.
func refusal(
    of text: String,
    syntax: JSONDocument.Syntax = .strict,
    limits: JSONLimits = .inbound
) -> JSONError? {
    refusal(of: Array(text.utf8), syntax: syntax, limits: limits)
}

/// Returns the value of a text that must be accepted.
func value(
    of text: String,
    syntax: JSONDocument.Syntax = .strict,
    limits: JSONLimits = .local
) throws -> JSONValue {
    JSONValue(try JSONDocument(text, syntax: syntax, limits: limits).root)
}

/// Returns a text of `depth` nested arrays.
func nested(_ depth: Int) -> String {
    String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
}
