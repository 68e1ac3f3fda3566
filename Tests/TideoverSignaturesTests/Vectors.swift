import Foundation
import Testing
import TideoverJSON

/// Published test vectors, which are kept outside the repository.
enum Vectors {
    static let directory: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(fileURLWithPath: path)
        }
        var project = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 {
            project.deleteLastPathComponent()
        }
        return project.appendingPathComponent("../shared/vectors").standardizedFileURL
    }()

    static let present = FileManager.default.fileExists(
        atPath: directory.appendingPathComponent("apple").path
    )

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appendingPathComponent(path)))
    }

    static func json(_ path: String) throws -> JSONNode {
        try JSONDocument(bytes(path), limits: .local).root
    }
}

/// Decodes a text of hexadecimal digits.
func bytes(hex: String) throws -> [UInt8] {
    var rest = hex[...]
    var bytes: [UInt8] = []
    while !rest.isEmpty {
        bytes.append(try #require(UInt8(rest.prefix(2), radix: 16)))
        rest = rest.dropFirst(2)
    }
    return bytes
}
