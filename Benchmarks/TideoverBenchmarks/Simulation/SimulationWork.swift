import TideoverCommandLine

/// `simulation`: measures the speed of the simulated stores, without signing.
enum SimulationWork {
    private static let customers = Parameter.option(
        "--customers",
        "N",
        "How many subscribe",
        as: ValueForm<Int>.integer(in: 100...1_000_000),
        default: "10000"
    )
    private static let seed = Parameter.option(
        "--seed",
        "N",
        "What customers do, and every number that the stores give away, follow from it",
        as: ValueForm<Int>.integer(in: 0...Int.max),
        default: "7"
    )

    static let command = Command(
        "simulation",
        summary: "measure a year of subscribers in the simulated stores",
        examples: [
            Example("TideoverBenchmarks simulation", "10,000 subscribers, on one core"),
            Example("TideoverBenchmarks simulation --seed 8", "who do other things"),
        ],
        parameters: [customers, seed],
        notes: [
            "Every year is lived twice; exit code 1 if the stores then said different things.",
            "A tenth of the customers come first: what a month costs should not depend on how many "
                + "there are.",
        ]
    ) { arguments, output in
        let many = arguments[customers]
        let seed = UInt64(arguments[seed])
        output.print(try table(customers: [many / 10, many], seed: seed))
        return .success
    }

    /// Runs everything once, with few customers.
    static func smoke() throws -> Table { try table(customers: [50], seed: 7) }

    private static func table(customers: [Int], seed: UInt64) throws -> Table {
        var table = Table([
            .init("a year of"), .init("subscriber-months", .trailing), .init("a second", .trailing),
            .init("us a month", .trailing), .init("messages", .trailing),
            .init("refused", .trailing), .init("s", .trailing), .init("digest"),
        ])
        for customers in customers {
            let plan = CustomerYear(customers: customers, seed: seed)
            for year in try years(plan, seed) { table.add(row(year)) }
        }
        return table
    }

    /// Returns one year of each store.
    private static func years(_ plan: CustomerYear, _ seed: UInt64) throws -> [SimulatedYear] {
        [
            try twice(MeasuredAppStore.self, plan, seed),
            try twice(MeasuredGooglePlay.self, plan, seed),
        ]
    }

    /// Runs the same year twice. Returns the faster one if both are equal.
    private static func twice<Store: MeasuredStore>(
        _ store: Store.Type,
        _ plan: CustomerYear,
        _ seed: UInt64
    ) throws -> SimulatedYear {
        let one = try SimulatedYear.run(with: store, plan, seed: seed)
        let other = try SimulatedYear.run(with: store, plan, seed: seed)
        guard one.digest == other.digest else {
            throw CommandFailure(
                .failure,
                "\(Store.name), simulated, said two different things after the seed \(seed)"
            )
        }
        return one.nanoseconds < other.nanoseconds ? one : other
    }

    private static func row(_ year: SimulatedYear) -> [Table.Cell] {
        let digest = year.digest.prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0" + digits : digits
        }
        return [
            .init("\(year.customers) in \(year.store)"), .init("\(year.months)"),
            .init(year.monthsPerSecond.written), .init(year.microsecondsPerMonth.written),
            .init("\(year.messages)"), .init("\(year.refusals)"),
            .init((Double(year.nanoseconds) / 1_000_000_000).written), .init(digest.joined()),
        ]
    }
}
