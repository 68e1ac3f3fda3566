import Foundation
import Testing
import TideoverKit

@Suite struct KeptFileTests {
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tideover-kit-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    @Test func `a file is replaced as a whole`() async throws {
        try await withFolder { folder in
            let file = KeptFile.onDisk(path: "\(folder)/kept.json")
            #expect(try await file.read() == nil)
            let long = [UInt8](repeating: 65, count: 300_000)
            try await file.write(long)
            #expect(try await file.read() == long)
            try await file.write([66])
            #expect(try await file.read() == [66])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["kept.json"])
        }
    }

    @Test func `an interrupted write leaves the old file`() async throws {
        try await withFolder { folder in
            let file = KeptFile.onDisk(path: "\(folder)/kept.json")
            try await file.write([1, 2, 3])
            // The temporary file left by a process that is killed before the rename.
            #expect(
                FileManager.default.createFile(atPath: "\(folder)/kept.json.new", contents: nil)
            )
            #expect(try await file.read() == [1, 2, 3])
            try await file.write([4])
            #expect(try await file.read() == [4])
        }
    }

    @Test func `a missing folder is an error, not an empty file`() async {
        await #expect(throws: KeptFileError.self) {
            try await KeptFile.onDisk(path: "/nowhere/kept.json").write([1])
        }
    }
}
