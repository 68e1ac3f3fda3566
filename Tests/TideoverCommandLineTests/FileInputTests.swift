import Glibc
import Testing

@testable import TideoverCommandLine

@Suite struct FileInputTests {
    /// A temporary folder for one test.
    private struct Folder: ~Copyable {
        let path: String

        init() throws {
            var template = Array("/tmp/tideover-input-XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            path = String(
                decoding: template.dropLast().map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
        }

        func file(_ name: String, _ text: String) throws -> String {
            let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT, 0o600)
            try #require(descriptor >= 0)
            Sink(descriptor: descriptor).write(Array(text.utf8))
            close(descriptor)
            return "\(path)/\(name)"
        }

        deinit {
            unlink("\(path)/a")
            rmdir(path)
        }
    }

    private func refusal(_ path: String, atMost limit: Int = 100) -> FileInputError? {
        do {
            _ = try FileInput.read(path, atMost: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file is read whole`() throws {
        let folder = try Folder()
        let path = try folder.file("a", "some text")
        #expect(try FileInput.read(path, atMost: 9) == Array("some text".utf8))
    }

    @Test func `a file larger than the bound is refused`() throws {
        let folder = try Folder()
        let path = try folder.file("a", "some text")
        #expect(refusal(path, atMost: 8) == .tooLarge(path: path, limit: 8))
        #expect(refusal("/dev/zero", atMost: 1000) == .tooLarge(path: "/dev/zero", limit: 1000))
    }

    @Test func `a missing file and a folder are different errors`() throws {
        let folder = try Folder()
        let path = folder.path
        #expect(refusal("\(path)/none") == .notFound(path: "\(path)/none"))
        #expect(refusal(path) == .isDirectory(path: path))
        let file = try folder.file("a", "")
        #expect(refusal("\(file)/b") == .notFound(path: "\(file)/b"))
    }

    @Test(.enabled(if: getuid() != 0, "root may read everything"))
    func `an unreadable file is an error of its own`() throws {
        let folder = try Folder()
        let path = try folder.file("a", "secret")
        try #require(chmod(path, 0) == 0)
        #expect(refusal(path) == .noPermission(path: path))
    }

    @Test(arguments: [
        (FileInputError.notFound(path: "a"), ExitCode.noInput, "a: there is no such file"),
        (.isDirectory(path: "a"), .noInput, "a: is a directory, not a file"),
        (.noPermission(path: "a"), .noPermission, "a: this user may not read it"),
        (
            .tooLarge(path: "-", limit: 9), .data,
            "standard input: larger than the maximum of 9 bytes"
        ),
        (.unreadable(path: "a", errno: EIO), .io, "a: cannot be read: Input/output error"),
    ])
    func `each failure has its exit code and its message`(
        error: FileInputError,
        code: ExitCode,
        message: String
    ) {
        #expect(error.exitCode == code)
        #expect(error.message == message)
        #expect(message.hasSuffix(": \(error)"))
    }
}
