import TideoverCommandLine

/// `tideover import`: what others know, brought in from a file.
enum Import {
    static let command = Command(
        "import",
        summary: "bring in from a file what others know",
        examples: [
            Example(
                "tideover import revenuecat answers.jsonl --app cards --config tideover.json",
                "RevenueCat's answers about customers, one on each line"
            )
        ],
        subcommands: [ImportRevenueCat.command]
    )
}
