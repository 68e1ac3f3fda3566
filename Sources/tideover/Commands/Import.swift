import TideoverCommandLine

/// `tideover import`: imports customers from another system or another Tideover.
enum Import {
    static let command = Command(
        "import",
        summary: "import data of another system",
        examples: [
            Example(
                "tideover import cards.jsonl",
                "everything of an app, as `tideover export` wrote it"
            ),
            Example(
                "tideover import revenuecat answers.jsonl",
                "RevenueCat's answers about customers, one on each line"
            ),
        ],
        subcommands: [ImportLines.command, ImportRevenueCat.command],
        unlessNamed: ImportLines.command
    )
}
