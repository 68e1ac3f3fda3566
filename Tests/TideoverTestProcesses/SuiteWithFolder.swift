public import Foundation

/// A suite in which each test has a folder of its own, removed after the test.
open class SuiteWithFolder {
    public let folder = FileManager.default.temporaryDirectory
        .appending(path: "tideover-test-\(UUID().uuidString)")

    public init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Writes a file in the folder, and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
