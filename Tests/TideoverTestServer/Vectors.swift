import Foundation

/// Real data of the stores' own libraries. It is stored outside the project.
enum Vectors {
    static let folder: URL = {
        if let named = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(filePath: named)
        }
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return root.appending(path: "../shared/vectors").standardized
    }()

    static var present: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: path)))
    }
}
