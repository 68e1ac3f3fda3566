import Foundation
import TideoverJSON

/// Apple's published examples, stored beside the project.
enum Vectors {
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(fileURLWithPath: path)
        }
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return root.deletingLastPathComponent().appendingPathComponent("shared/vectors")
    }()

    static var present: Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("apple").path)
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appendingPathComponent(path)))
    }

    static func document(_ path: String) throws -> JSONDocument {
        try JSONDocument(bytes(path))
    }

    /// The payload of a vector that is a JWS.
    static func payload(_ path: String) throws -> [UInt8]? {
        let parts = try bytes(path).split(separator: UInt8(ascii: "."))
        return parts.count == 3 ? Base64.decode(parts[1], .urlSafe) : nil
    }
}
