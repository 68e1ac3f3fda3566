import Glibc

/// Samples a server's memory, disk usage and descriptors.
final class Gauge {
    /// The samples of one quantity, in order.
    struct Series {
        private(set) var values: [Int] = []

        mutating func add(_ value: Int) { values.append(value) }

        var first: Int { values.first ?? 0 }
        var last: Int { values.last ?? 0 }
        var peak: Int { values.max() ?? 0 }

        /// Returns the maximum of the first (0) or the second (1) half of the samples.
        func peak(inHalf half: Int) -> Int {
            let middle = values.count / 2
            return (half == 0 ? values[..<middle] : values[middle...]).max() ?? 0
        }
    }

    private let process: ServerProcess
    private let database: String
    /// In KiB.
    private(set) var memory = Series()
    /// The database with its log, in KiB.
    private(set) var disk = Series()
    private(set) var descriptors = Series()

    init(_ process: ServerProcess, _ database: String) {
        self.process = process
        self.database = database
        read()
    }

    func read() {
        memory.add(process.memory.now)
        disk.add((Self.size(of: database) + Self.size(of: "\(database)-wal")) / 1024)
        descriptors.add(process.descriptors)
    }

    private static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
