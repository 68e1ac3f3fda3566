import TideoverJSON

/// A saved state, as JSON that names its format.
protocol SavedState: Codable, Sendable {
    /// The name and version of the format.
    static var format: String { get }
    var format: String { get }
}

extension SavedState {
    var bytes: [UInt8] {
        do {
            return try StateEncoder.encode(self).encoded()
        } catch {
            preconditionFailure("everything that a store knows can be written: \(error)")
        }
    }

    /// Reads a saved state from `bytes`.
    init(_ bytes: [UInt8]) throws(SavedStoreError) {
        let json: JSONValue
        do {
            json = JSONValue(try JSONDocument(bytes, limits: .local).root)
        } catch {
            throw .syntax(error)
        }
        guard json["format"]?.string == Self.format else {
            throw .format(json["format"]?.string)
        }
        do {
            self = try StateDecoder.decode(Self.self, from: json)
        } catch let error as DecodingError {
            throw .content(error.words)
        } catch {
            throw .content("\(error)")
        }
    }
}

extension DecodingError {
    fileprivate var words: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            let place = context.codingPath.map(\.stringValue).joined(separator: ".")
            return place.isEmpty
                ? context.debugDescription : "\(place): \(context.debugDescription)"
        @unknown default: return "\(self)"
        }
    }
}
