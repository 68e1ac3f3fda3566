import Foundation

/// The published parsing vectors, which are kept outside the repository.
enum Vectors {
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(fileURLWithPath: path)
        }
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return root.deletingLastPathComponent().appendingPathComponent("shared/vectors")
    }()

    static let parsing = folder.appendingPathComponent("json/test_parsing")

    static var present: Bool { FileManager.default.fileExists(atPath: parsing.path) }

    /// Returns the names of the parsing vectors that start with a prefix.
    static func names(_ prefix: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: parsing.path)
        return (names ?? []).filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }.sorted()
    }

    static func bytes(_ name: String) throws -> [UInt8] {
        let file = try FileHandle(forReadingFrom: parsing.appendingPathComponent(name))
        defer { try? file.close() }
        return Array(try file.readToEnd() ?? Data())
    }
}
