import TideoverCommandLine

/// `soak MINUTES`: runs all attacks at the same time and checks the server's guarantees.
enum SoakCommand {
    private static let minutes = Parameter.argument(
        "MINUTES",
        "How long the attacks go on",
        as: .integer(in: 1...1_440)
    )
    private static let purchases = Parameter.option(
        "--purchases",
        "N",
        "How many consumables one customer has bought before; 10,000 by default",
        as: .integer(in: 1...100_000)
    )
    private static let customers = Parameter.option(
        "--customers",
        "N",
        "How many others have bought a subscription before; 2,000 by default",
        as: .integer(in: 1...1_000_000)
    )
    private static let attacks = Parameter.arguments(
        "ATTACK",
        "Which of the attacks; all without one",
        isRequired: false,
        as: ValueForm(
            "an attack: " + SoakAttack.allCases.map(\.rawValue).joined(separator: ", "),
            choices: SoakAttack.allCases.map(\.rawValue)
        ) { SoakAttack(rawValue: $0) }
    )
    private static let ownNetwork = Parameter.flag(
        "--own-network",
        "This process has the addresses 10.99.0.1 to 10.99.0.40 for itself, as scripts/soak.sh makes them"
    )
    private static let short = Parameter.flag(
        "--short",
        "No verdict on times: for a machine that others use too"
    )

    static let command = Command(
        "soak",
        summary: "attack a server in every known way at once, beside honest clients",
        examples: [
            Example(
                "TideoverTrials soak 60 --server .build/static/release/tideover",
                "for an hour, from addresses of loopback"
            ),
            Example(
                "TideoverTrials soak 1 reports --server .build/static/release/tideover",
                "what reports do to notifications"
            ),
        ],
        parameters: [
            minutes, attacks, purchases, customers, ownNetwork, short, FaultsCommand.server,
        ],
        notes: [
            "Honest: notifications of eight senders, devices, reads, a customer with many purchases.",
            "Attacks: forgeries, idle and slow connections, a public key misused, reports without end, a "
                + "log without a reader.",
            "Exit code 1 if anything acknowledged is lost, memory or disk grows without bound, or answers "
                + "take too long.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let folder = try WorkFolder()
        let chosen = arguments[attacks]
        let trial = SoakTrial(
            server: ServerCommand(program: arguments[FaultsCommand.server]),
            network: arguments[ownNetwork] ? .own : .loopback,
            minutes: arguments[minutes],
            attacks: Set(chosen.isEmpty ? SoakAttack.allCases : chosen),
            purchases: arguments[purchases] ?? 10_000,
            customers: arguments[customers] ?? 2_000,
            judgesTimes: !arguments[short],
            tell: { output.message($0) }
        )
        let (table, finding) = try await Threads.one { try trial.run(in: folder.path) }
        for sentence in finding.sentences { output.message(sentence) }
        output.print(table)
        output.print("soak: \(arguments[minutes]) min, \(finding.isPassed ? "passed" : "FAILED")")
        if finding.isPassed { folder.remove() } else { folder.keep() }
        return finding.isPassed ? .success : .failure
    }
}
