import Glibc
import TideoverCommandLine

/// This machine's maximum: ECDSA P-256 verifications per second on one core, as OpenSSL's own
/// benchmark measures them. Every score is a fraction of it.
enum Yardstick {
    /// The core of everything measured.
    static let core = 0
    /// The core of the load generator.
    static let loader = 1

    /// Uses elapsed time, so that other work on the core is visible.
    static func verifications(in folder: String, seconds: Int) throws -> Double {
        let words = ["openssl", "speed", "-elapsed", "-seconds", "\(seconds)", "ecdsap256"]
        let text = try Child.run(words, on: core, name: "openssl", in: folder)
        let line = text.split(separator: "\n").last { $0.contains("nistp256") }
        guard let rate = line?.split(separator: " ").last.flatMap({ Double($0) }), rate > 0 else {
            throw CommandFailure(.unavailable, "openssl speed said no rate:\n\(text)")
        }
        return rate
    }

    /// OpenSSL's operations per second, on the same core.
    struct Rates {
        /// Verifications of RSA with keys of 2048 bits.
        let verifications: Double
        /// Signatures of Ed25519.
        let signatures: Double

        func mean(_ other: Rates) -> Rates {
            Rates(
                verifications: (verifications + other.verifications) / 2,
                signatures: (signatures + other.signatures) / 2
            )
        }
    }

    /// The operations that every receipt and every pass needs.
    static func receiptsAndPasses(in folder: String, seconds: Int) throws -> Rates {
        let words = [
            "openssl", "speed", "-elapsed", "-seconds", "\(seconds)", "rsa2048", "ed25519",
        ]
        let text = try Child.run(words, on: core, name: "openssl", in: folder)
        // Both lines end with the signatures and the verifications per second.
        func rates(_ name: String) -> [Double] {
            let line = text.split(separator: "\n").last { $0.contains(name) }
            return line?.split(separator: " ").suffix(2).compactMap { Double($0) } ?? []
        }
        let (rsa, edwards) = (rates("2048 bits"), rates("Ed25519"))
        guard rsa.count == 2, edwards.count == 2, rsa[1] > 0, edwards[0] > 0 else {
            throw CommandFailure(.unavailable, "openssl speed said no rates:\n\(text)")
        }
        return Rates(verifications: rsa[1], signatures: edwards[0])
    }
}

/// The machine in one line, which every measurement must name.
enum Machine {
    static func description(in folder: String) -> String {
        var system = utsname()
        uname(&system)
        let release = withUnsafeBytes(of: &system.release) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        let openssl =
            (try? Child.run(["openssl", "version"], on: nil, name: "openssl", in: folder))
        let memory = (sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))) >> 30
        let parts: [String?] = [
            "\(sysconf(Int32(_SC_NPROCESSORS_ONLN))) x \(processor)", "\(memory) GiB",
            "Linux \(release)", openssl?.split(separator: " ").prefix(2).joined(separator: " "),
            synchronised(in: folder).map { "fdatasync of 4 KiB \($0) us" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    private static var processor: String {
        let line = Files.text("/proc/cpuinfo").split(separator: "\n")
            .first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.drop { $0 == " " } }.map(String.init)
            ?? "unknown processor"
    }

    /// The median time to append 4 KiB durably, in microseconds. Every commit waits for it.
    private static func synchronised(in folder: String) -> Int64? {
        let path = "\(folder)/disk"
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        defer {
            close(file)
            unlink(path)
        }
        let page = [UInt8](repeating: 0, count: 4_096)
        let times = (0..<200).map { _ in
            let begun = Clocks.now(CLOCK_MONOTONIC)
            _ = write(file, page, page.count)
            fdatasync(file)
            return Clocks.now(CLOCK_MONOTONIC) - begun
        }
        return times.sorted()[100] / 1_000
    }
}
