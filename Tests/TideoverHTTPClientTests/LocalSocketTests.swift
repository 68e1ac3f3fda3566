import Foundation
import Testing
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer

/// Tests a server on a Unix socket, and a client of it.
@Suite final class LocalSocketTests {
    private let path = FileManager.default.temporaryDirectory
        .appending(path: "tideover-\(UUID().uuidString).sock").path

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func ask(_ target: String, body: [UInt8] = []) async throws -> Response {
        let client = try HTTPClient(userAgent: "tests")
        var place = try destination("http://localhost")
        place.socket = path
        return try await client.handler(under: place)(
            Request(method: "POST", path: target, body: body)
        )
    }

    @Test func `requests reach the socket by path, and only its user can open it`() async throws {
        let server = try LocalHTTPServer(socket: path) { request in
            await Task.yield()
            return Response(body: Array(request.path.utf8) + request.body)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        for number in 0..<3 {
            let answer = try await ask("/a/\(number)", body: Array("b".utf8))
            #expect(answer.status == 200)
            #expect(String(decoding: answer.body, as: UTF8.self) == "/a/\(number)b")
        }
        await server.stop(within: .zero)
        #expect(!FileManager.default.fileExists(atPath: path))
        await #expect(throws: HTTPClientError.self) { try await self.ask("/") }
    }

    @Test func `a socket that a killed process left is replaced`() async throws {
        try leaveSocket()
        let server = try LocalHTTPServer(socket: path) { _ in Response(status: 204) }
        #expect(try await ask("/").status == 204)
        await server.stop(within: .zero)
    }

    @Test func `a file that is not a socket is left alone`() throws {
        try Data("x".utf8).write(to: URL(filePath: path))
        #expect(throws: HTTPServerError.self) {
            try LocalHTTPServer(socket: path) { _ in Response(status: 204) }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "x")
    }

    /// Creates a socket without a listening process.
    private func leaveSocket() throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length)
            }
        }
        try #require(code == 0)
    }

    @Test func `a path that is too long for a socket is an error`() {
        let long = "/tmp/" + String(repeating: "x", count: 120)
        #expect(throws: HTTPServerError.self) {
            try LocalHTTPServer(socket: long) { _ in Response(status: 204) }
        }
    }
}
