import Foundation
import Testing
import TideoverJSON
import TideoverSandbox

/// Google's description of its API, stored outside of the project.
struct PublisherDocument {
    private static let file: URL = {
        let path = "google/discovery/googleapis/androidpublisher__v3.json"
        if let named = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(filePath: named).appending(path: path)
        }
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return root.appending(path: "../shared/vectors/\(path)").standardized
    }()

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file.path) }

    private let schemas: JSONNode

    init() throws {
        let document = try JSONDocument(Array(Data(contentsOf: Self.file)), limits: .local)
        schemas = try #require(document.root["schemas"])
    }

    /// Takes schemas in the same form.
    init(schemas: JSONNode) { self.schemas = schemas }

    /// Returns the paths of all values in an object that the description does not allow.
    func faults(in object: JSONObject, as schema: String) -> [String] {
        faults(in: object, as: schema, at: schema)
    }

    private func faults(in object: JSONObject, as schema: String, at path: String) -> [String] {
        let properties = schemas[schema]?["properties"]
        return object.flatMap { member -> [String] in
            let place = "\(path).\(member.key)"
            guard let type = properties?[member.key] else { return ["\(place) is unknown"] }
            return faults(in: member.value, of: type, at: place)
        }
    }

    private func faults(in value: JSONValue, of type: JSONNode, at path: String) -> [String] {
        if let schema = type["$ref"]?.string {
            guard let object = value.object else { return ["\(path) is no object"] }
            return faults(in: object, as: schema, at: path)
        }
        if type["type"]?.string == "array" {
            guard let items = type["items"], let values = value.array else {
                return ["\(path) is no array"]
            }
            return values.flatMap { faults(in: $0, of: items, at: path) }
        }
        return allows(value, type) ? [] : ["\(path) is \(value)"]
    }

    private func allows(_ value: JSONValue, _ type: JSONNode) -> Bool {
        if let words = type["enum"]?.elements.compactMap(\.string) {
            return value.string.map { words.contains($0) && !$0.hasSuffix("_UNSPECIFIED") } ?? false
        }
        switch (type["type"]?.string, type["format"]?.string) {
        case ("boolean", _): return value.bool != nil
        case ("integer", _): return value.int64.map { Int32(exactly: $0) != nil } ?? false
        case ("string", "google-datetime"):
            return value.string.map { InstantText.read($0) != nil } ?? false
        case ("string", "int64"): return value.string.map { Int64($0) != nil } ?? false
        case ("string", _): return value.string != nil
        default: return false
        }
    }
}
