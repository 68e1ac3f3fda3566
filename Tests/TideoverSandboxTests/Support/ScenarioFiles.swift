import Foundation

/// The project's scenario files.
enum ScenarioFiles {
    /// Returns the bytes of a file, found from a test file in this target's folder.
    static func read(_ name: String, from test: String = #filePath) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: test).deletingLastPathComponent()
        let file = folder.appending(path: "../../Scenarios/\(name)")
        return Array(try Data(contentsOf: file))
    }
}
