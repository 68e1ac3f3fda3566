import TideoverCommandLine

/// `tideover version`: the version of the program.
enum Version {
    static let command = Command(
        "version",
        summary: "print the version and the commit it was built from",
        examples: [Example("tideover version", "as --version does")]
    ) { _, output in
        output.print("tideover \(Tideover.build)")
        return .success
    }
}
