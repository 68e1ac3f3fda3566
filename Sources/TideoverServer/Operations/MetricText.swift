/// Metrics in the text format 0.0.4 of Prometheus.
/// https://prometheus.io/docs/instrumenting/exposition_formats/
struct MetricText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    enum Kind: String { case counter, gauge, histogram }

    /// Writes one family with its series; nothing if there are none.
    mutating func family(
        _ name: String,
        _ kind: Kind,
        _ help: String,
        _ series: [(labels: [(String, String)], value: Double)]
    ) {
        guard !series.isEmpty else { return }
        head(name, kind, help)
        for one in series { sample(name, one.labels, Self.number(one.value)) }
    }

    /// Writes one family with one series without labels.
    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        family(name, kind, help, [([], value)])
    }

    mutating func histograms(
        _ name: String,
        _ help: String,
        _ series: [(labels: [(String, String)], histogram: Histogram)]
    ) {
        guard !series.isEmpty else { return }
        head(name, .histogram, help)
        for (labels, histogram) in series {
            var count = 0
            for (bucket, bound) in zip(histogram.buckets, Histogram.bounds.map(\.text) + ["+Inf"]) {
                count += bucket
                sample("\(name)_bucket", labels + [("le", bound)], "\(count)")
            }
            sample("\(name)_sum", labels, Self.number(Double(histogram.nanoseconds) / 1e9))
            sample("\(name)_count", labels, "\(count)")
        }
    }

    private mutating func head(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func sample(_ name: String, _ labels: [(String, String)], _ value: String) {
        let pairs = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        text += pairs.isEmpty ? "\(name) \(value)\n" : "\(name){\(pairs)} \(value)\n"
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    /// Escapes single scalars: a quotation mark with a combining mark behind it is one `Character`.
    private static func escaped(_ value: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text.append(contentsOf: "\\\\".unicodeScalars)
            case "\"": text.append(contentsOf: "\\\"".unicodeScalars)
            case "\n": text.append(contentsOf: "\\n".unicodeScalars)
            default: text.append(scalar)
            }
        }
        return String(text)
    }
}
