import Foundation
import Testing
import TideoverHTTP
import TideoverHTTPClient
import TideoverTestProcesses

/// Tests the client against `openssl s_server`.
@Suite(
    .enabled(if: SecurePeer.isPossible, "the openssl command is not on the PATH"),
    .timeLimit(.minutes(20))
)
struct TLSTests {
    private func client(_ roots: TrustedRoots) throws -> HTTPClient {
        try HTTPClient(userAgent: "tideover/test", roots: roots)
    }

    @Test func `an untrusted certificate is refused`() async throws {
        let peer = try SecurePeer(name: "IP:127.0.0.1")
        defer { peer.stop() }
        // 18 is OpenSSL's X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT.
        let refusal = HTTPClientError.notProtected(.untrustedCertificate(code: 18))
        await #expect(throws: refusal) {
            try await client(.system).send(to: destination(peer.url))
        }
    }

    @Test func `a certificate under a trusted root is accepted`() async throws {
        let peer = try SecurePeer(name: "IP:127.0.0.1")
        defer { peer.stop() }
        let client = try client(.pem(peer.certificate))
        #expect(try await client.send(to: destination(peer.url)).status == 200)
    }

    @Test func `a certificate of another host is refused`() async throws {
        let peer = try SecurePeer(name: "DNS:other.example")
        defer { peer.stop() }
        await #expect(throws: HTTPClientError.notProtected(.wrongHost)) {
            try await client(.pem(peer.certificate)).send(to: destination(peer.url))
        }
    }

    @Test func `an old protocol is refused`() async throws {
        let peer = try SecurePeer(
            name: "IP:127.0.0.1",
            options: ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]
        )
        defer { peer.stop() }
        await #expect(throws: HTTPClientError.notProtected(.handshake)) {
            try await client(.pem(peer.certificate)).send(to: destination(peer.url))
        }
    }

    @Test func `a server without TLS is refused`() async throws {
        let peer = try RawPeer { $0.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
        await #expect(throws: HTTPClientError.notProtected(.handshake)) {
            try await client(.system).send(to: destination(peer.url(scheme: "https")))
        }
    }
}

/// A TLS server on loopback with a self-signed certificate.
private final class SecurePeer {
    static let command = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":").map { "\($0)/openssl" }
        .first(where: FileManager.default.isExecutableFile)
    static var isPossible: Bool { command != nil }

    let certificate: String
    let url: String
    private let process: ChildProcess
    private let folder: URL

    struct Failure: Error { var call: String }

    init(name: String, options: [String] = []) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tideover-tls-\(UUID().uuidString)")
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (key, pem) = (folder.path + "/key.pem", folder.path + "/certificate.pem")
        let made = try Self.start([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", "/CN=peer", "-addext", "subjectAltName=\(name)", "-days", "2",
            "-keyout", key, "-out", pem,
        ])
        _ = made.wait()
        certificate = try String(contentsOfFile: pem, encoding: .utf8)
        let server = try Self.start(
            [
                "s_server", "-accept", "127.0.0.1:0", "-www", "-naccept", "1", "-cert", pem, "-key",
                key,
            ] + options
        )
        process = server
        url = try "https://127.0.0.1:\(Self.port(from: server.results))/"
    }

    func stop() {
        process.terminate()
        _ = process.wait()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func start(_ arguments: [String]) throws -> ChildProcess {
        guard let command else { throw Failure(call: "openssl") }
        return try ChildProcess([command] + arguments)
    }

    /// Reads the port from the command's output `ACCEPT 127.0.0.1:PORT`.
    private static func port(from output: ChildOutput) throws -> Int {
        var text = ""
        while !text.contains("\n") || !text.contains("ACCEPT") {
            let data = output.next()
            guard !data.isEmpty else { throw Failure(call: "s_server: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT") } ?? ""
        guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw Failure(call: "s_server: \(text)")
        }
        return port
    }
}
