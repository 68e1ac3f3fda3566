/// The result of one round of one measure.
struct Reading: Sendable {
    var perSecond: Double
    /// The processor time of all threads per request.
    var processorMicroseconds: Double
    var p50Milliseconds: Double
    var p99Milliseconds: Double
    /// The peak memory usage of the process until then.
    var peakMegabytes: Double = 0
    /// The number of allocations per request; nil if they are not counted.
    var allocations: Double?
    /// What one request costs the storage; nil if it is not counted.
    var storage: StorageCost?

    /// The work of the storage for one request.
    struct StorageCost: Hashable, Sendable {
        /// The SQL statements that ran.
        var statements: Double
        /// The writes to the database file and its log.
        var writes: Double
        var kilobytesWritten: Double
    }

    /// Creates the result of a loop on one thread from its sorted times in nanoseconds.
    init(times: [Int64], nanoseconds: Int64, ofProcessor: Int64, allocations: Double) {
        let count = Double(times.count)
        self.init(
            perSecond: count * 1_000_000_000 / Double(nanoseconds),
            processorMicroseconds: Double(ofProcessor) / 1_000 / count,
            p50Milliseconds: Double(times[times.count / 2]) / 1_000_000,
            p99Milliseconds: Double(times[times.count * 99 / 100]) / 1_000_000,
            allocations: allocations
        )
    }

    init(
        perSecond: Double,
        processorMicroseconds: Double,
        p50Milliseconds: Double,
        p99Milliseconds: Double,
        peakMegabytes: Double = 0,
        allocations: Double? = nil,
        storage: StorageCost? = nil
    ) {
        self.perSecond = perSecond
        self.processorMicroseconds = processorMicroseconds
        self.p50Milliseconds = p50Milliseconds
        self.p99Milliseconds = p99Milliseconds
        self.peakMegabytes = peakMegabytes
        self.allocations = allocations
        self.storage = storage
    }
}

extension Reading {
    private var numbers: [Double] {
        [perSecond, processorMicroseconds, p50Milliseconds, p99Milliseconds, peakMegabytes]
            + [allocations, storage?.statements, storage?.writes, storage?.kilobytesWritten]
            .compactMap(\.self)
    }

    /// The reading as one line, to pass it between processes.
    var text: String { numbers.map { "\($0)" }.joined(separator: " ") }

    init?(text: some StringProtocol) {
        let numbers = text.split(separator: " ").compactMap { Double($0) }
        guard [5, 6, 9].contains(numbers.count) else { return nil }
        self.init(
            perSecond: numbers[0],
            processorMicroseconds: numbers[1],
            p50Milliseconds: numbers[2],
            p99Milliseconds: numbers[3],
            peakMegabytes: numbers[4],
            allocations: numbers.count > 5 ? numbers[5] : nil,
            storage: numbers.count < 9
                ? nil
                : StorageCost(
                    statements: numbers[6],
                    writes: numbers[7],
                    kilobytesWritten: numbers[8]
                )
        )
    }
}
