import TideoverCommandLine

/// `tideover sandbox`: simulated stores for development and tests.
enum Sandbox {
    static let command = Command(
        "sandbox",
        summary: "rehearse what can happen to a subscription",
        examples: [
            Example("tideover sandbox run Scenarios/*.json5", "every rehearsal of the project"),
            Example(
                "tideover sandbox serve Examples/store.json5 --target http://127.0.0.1:8080",
                "a store that keeps running, for your back end"
            ),
        ],
        subcommands: [
            SandboxRun.command, SandboxServe.command, SandboxControl.command,
            SandboxStories.command,
        ]
    )
}
