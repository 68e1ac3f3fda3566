import Glibc

/// What a server holds of memory, disk and descriptors, looked at from time to time.
final class Gauge {
    /// Readings of one thing, in order.
    struct Series {
        private(set) var values: [Int] = []

        mutating func add(_ value: Int) { values.append(value) }

        var first: Int { values.first ?? 0 }
        var last: Int { values.last ?? 0 }
        var peak: Int { values.max() ?? 0 }

        /// The highest of the first half of the readings, 0, or of the second, 1.
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
