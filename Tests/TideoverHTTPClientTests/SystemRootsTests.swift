import Foundation
import Testing
import TideoverHTTPClient

@Suite struct SystemRootsTests {
    @Test func `system roots are a non-empty file or a folder with files`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tideover-roots-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "roots.crt")
        #expect(!SystemRoots(file: nil, folder: nil).arePresent)
        #expect(!SystemRoots(file: file.path, folder: nil).arePresent)
        #expect(!SystemRoots(file: nil, folder: folder.path).arePresent)
        try Data().write(to: file)
        #expect(!SystemRoots(file: file.path, folder: nil).arePresent)
        #expect(SystemRoots(file: nil, folder: folder.path).arePresent)
        try Data("x".utf8).write(to: file)
        #expect(SystemRoots(file: file.path, folder: nil).arePresent)
        #expect(!SystemRoots(file: nil, folder: file.path).arePresent)
    }

    @Test func `libcurl reports where it looks for roots`() throws {
        let roots = try #require(SystemRoots())
        #expect(roots.file?.hasPrefix("/") == true || roots.folder?.hasPrefix("/") == true)
    }
}
