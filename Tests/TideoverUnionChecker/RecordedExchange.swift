package import Foundation
import TideoverHTTP
package import TideoverJSON

/// A request and its answer in the SDKs' protocol, with what the SDKs' own decoders concluded. They
/// are stored beside the project.
package struct RecordedExchange {
    package let exchange: UnionChecker.Exchange
    /// The decoded body of the request.
    package let requestBody: JSONObject?
    /// The decoded body of the answer.
    package let body: JSONValue
    /// What iOS and Android conclude, with sorted lists; empty for other answers.
    package let observed: [UnionChecker.Platform: JSONValue]
    /// Whether the answer shows a fault.
    package let isWrong: Bool

    package static let folder: URL = {
        if let vectors = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(filePath: vectors).appending(path: "revenuecat-sdk")
        }
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return root.appending(path: "../shared/vectors/revenuecat-sdk").standardized
    }()

    package static let present = FileManager.default.fileExists(atPath: folder.path)

    package static let names: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted()
    }()

    package static func document(_ name: String) throws -> JSONNode {
        let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
        return try JSONDocument(bytes, limits: .local).root
    }

    /// Throws an error for a file that cannot be read, or without a request and an answer.
    package init(_ name: String) throws {
        let root = try Self.document(name)
        exchange = try UnionChecker.Exchange(root)
        requestBody = root["request"]?["body"].flatMap { JSONValue($0).object }
        body = root["response"]?["body"].map { JSONValue($0) } ?? .null
        isWrong = root["level"]?.string == "NEVER"
        observed = UnionChecker.Platform.allCases.reduce(into: [:]) { found, platform in
            let seen = root["observed_with_real_decoders"]?[platform.rawValue]
            found[platform] = seen.map { JSONValue($0).withSortedLists }
        }
    }
}

extension UnionChecker.Exchange {
    /// Reads a request and its answer. A body that is not a JSON value is in `body_bytes_utf8`.
    package init(_ node: JSONNode) throws {
        guard let sent = node["request"], let method = sent["method"]?.string,
            let path = sent["path"]?.string, let answer = node["response"],
            let status = answer["status"]?.int64
        else { throw UnionChecker.Refusal("file", "lacks a request or an answer") }
        let request = Request(
            method: method,
            path: path,
            headers: Self.headers(sent),
            body: Self.body(sent)
        )
        let response = Response(
            status: Int(status),
            headers: Self.headers(answer),
            body: Self.body(answer)
        )
        self.init(request, response)
    }

    private static func headers(_ node: JSONNode) -> Headers {
        (node["headers"]?.members.map { $0 } ?? []).reduce(into: [:]) { headers, field in
            headers[field.key] = field.value.string
        }
    }

    private static func body(_ node: JSONNode) -> [UInt8] {
        if let text = node["body_bytes_utf8"]?.string { return Array(text.utf8) }
        return node["body"].map { $0.isNull ? [] : Array($0.source) } ?? []
    }
}

extension JSONValue {
    /// The value with its lists of texts in order.
    fileprivate var withSortedLists: JSONValue {
        guard var object else { return self }
        for member in object {
            let texts = member.value.array?.compactMap(\.string).sorted()
            if let texts { object[member.key] = .array(texts.map(JSONValue.string)) }
        }
        return .object(object)
    }
}
