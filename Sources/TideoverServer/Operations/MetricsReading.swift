package import TideoverDoctor

extension MetricsReading {
    /// Reads the text of a response to `GET /metrics`.
    package init(_ text: String) {
        self.init()
        let lines = text.split(separator: "\n")
        untrustedForwarding =
            lines.first { $0.hasPrefix(CounterFamily.untrustedForwarding.name + " ") }
            .flatMap(Self.value)
        certificates = Self.certificates(lines)
        failingWorkers = Self.failingWorkers(lines)
        let unsupported = lines.filter { $0.hasPrefix(CounterFamily.sdkUnsupported.name + "{") }
            .compactMap(Self.value)
        commits = Self.commits(lines)
        unsupportedSDKRequests = unsupported.isEmpty ? nil : unsupported.reduce(0, +)
    }

    private static func value(of line: Substring) -> Int64? {
        line.split(separator: " ").last.flatMap { Double($0) }.flatMap { Int64(exactly: $0) }
    }

    private static func certificates(_ lines: [Substring]) -> Certificates? {
        func count(_ state: RevocationTable.State) -> Int64? {
            let name = "\(MetricsRoute.certificates){state=\"\(state.rawValue)\"} "
            return lines.first { $0.hasPrefix(name) }.flatMap(value)
        }
        guard let revoked = count(.revoked), let failing = count(.failing),
            let unchecked = count(.unchecked)
        else { return nil }
        return Certificates(revoked: revoked, failing: failing, unchecked: unchecked)
    }

    private static func commits(_ lines: [Substring]) -> Commits? {
        func count(_ series: String) -> Int64? {
            lines.first { $0.hasPrefix(MetricsRoute.commitDuration + series) }.flatMap(value)
        }
        guard let all = count("_count "), let prompt = count(#"_bucket{le="0.25"} "#) else {
            return nil
        }
        return Commits(count: all, prompt: prompt)
    }

    private static func failingWorkers(_ lines: [Substring]) -> Set<String>? {
        let samples = lines.filter { $0.hasPrefix(MetricsRoute.workers + "{") }
        guard !samples.isEmpty else { return nil }
        let failing = samples.filter {
            !$0.contains(#"state="running""#) && !$0.hasSuffix(" 0")
        }
        return Set(
            failing.compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
        )
    }
}
