import Foundation
import TideoverJSON

/// Google's discovery documents, stored beside the project.
enum Vectors {
    private static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDEOVER_VECTORS"] {
            return URL(fileURLWithPath: path)
        }
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return root.deletingLastPathComponent().appendingPathComponent("shared/vectors")
    }()

    private static let publisher = folder.appendingPathComponent(
        "google/discovery/googleapis/androidpublisher__v3.json"
    )

    static var present: Bool { FileManager.default.fileExists(atPath: publisher.path) }

    static func androidPublisher() throws -> JSONNode {
        try JSONDocument(Array(Data(contentsOf: publisher)), limits: .local).root
    }
}
