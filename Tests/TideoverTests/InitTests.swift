import Foundation
import Testing
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverTestProcesses

@testable import tideover

/// Tests the files of `tideover init`, and its errors.
@Suite final class InitTests: SuiteWithFolder {
    private static let storeKitFile = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Examples/Products.storekit").path

    private func run(_ words: [String]) async -> (ExitCode, Output) {
        await Tideover.run(["init", "--folder", folder.path] + words)
    }

    private func mode(_ name: String) throws -> Int? {
        let path = folder.path + "/" + name
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    private func load() throws -> Configuration {
        let path = folder.path + "/tideover.json"
        return try Configuration.load(
            file: path,
            text: Array(try Data(contentsOf: URL(filePath: path))),
            environment: [:],
            readFile: { Array(try Data(contentsOf: URL(filePath: $0))) }
        )
    }

    @Test func `one command creates a configuration that works with its own keys`() async throws {
        let (code, output) = await run([
            "--bundle", "com.example.cards", "--product", "cards.pro.monthly:P1M",
            "--product", "cards.lifetime",
        ])
        #expect(code == .success, "\(output.messages.captured)")
        #expect(try mode("admin.key") == 0o600)
        #expect(try mode("secret.key") == 0o600)
        let app = try #require(try load().apps.first)
        #expect(app.id == "cards")
        #expect(app.environments == [.sandbox])
        #expect(app.catalogue.products.count == 2)
        let config = folder.path + "/tideover.json"
        let told = output.results.captured
        #expect(told.contains("tideover doctor --config \(config)"))
        #expect(told.contains("tideover serve --config \(config)"))
        #expect(told.contains("$(cat \(folder.path)/secret.key)"))
        #expect(told.contains("https://YOUR-HOST/v1/apps/cards/notifications/app-store"))
        #expect(told.contains("version 2, for the sandbox:"))
        #expect(output.messages.captured.contains("only the sandbox is served. For production"))
        let (listed, list) = await Tideover.run(["keys", "list", "--config", config])
        #expect(listed == .success)
        #expect(list.results.captured.contains("secret  cards"))
        let text = try String(contentsOfFile: folder.path + "/secret.key", encoding: .utf8)
        #expect(text.hasPrefix("tideover_secret_"))
        #expect(APIKey(text.dropLast()) != nil)
    }

    @Test func `both stores get their notification URL`() async throws {
        let (code, output) = await run([
            "--bundle", "com.example.cards", "--app-apple-id", "1234567890",
            "--package", "com.example.cards", "--push-email", "push@p.iam.gserviceaccount.com",
            "--public-url", "https://billing.example.com/", "--storekit",
            Self.storeKitFile, "--app", "my-cards",
        ])
        #expect(code == .success, "\(output.messages.captured)")
        let base = "https://billing.example.com/v1/apps/my-cards/notifications"
        #expect(output.results.captured.contains("\(base)/app-store\n"))
        #expect(output.results.captured.contains("\(base)/google-play\n"))
        let app = try #require(try load().apps.first)
        #expect(app.environments == [.production, .sandbox])
        #expect(app.googlePlay?.audience == "\(base)/google-play")
        #expect(app.catalogue.products.values.contains { $0.entitlements == ["premium"] })
        // The file cannot state how long the season lasts.
        let messages = output.messages.captured.split(separator: "\n")
        #expect(messages.count == 1)
        #expect(messages.first?.contains("states no length of `cards.season`") == true)
    }

    @Test(arguments: ["tideover.json", "admin.key", "secret.key", "tideover.db"])
    func `an existing file is never replaced, and no other file is written`(
        name: String
    ) async throws {
        let path = folder.appending(path: name)
        try Data("mine".utf8).write(to: path)
        let (code, output) = await run(["--bundle", "com.example.cards"])
        #expect(code == .cannotCreate)
        #expect(output.messages.captured.contains("nothing was written"))
        #expect(try names == [name])
        // Also before any question is asked.
        #expect(await run([]).0 == .cannotCreate)
        #expect(try Data(contentsOf: path) == Data("mine".utf8))
    }

    @Test(arguments: [
        ["--bundle", "not a bundle"], ["--bundle", "com.example.cards", "--push-email", "x"],
        ["--package", "com.example.cards", "--push-email", "no-address"],
        ["--bundle", "com.example.cards", "--product", "a:P1X"],
        ["--bundle", "com.example.cards", "--product", "a", "--storekit", "b"],
        ["--bundle", "com.example.cards", "--storekit", "/nonexistent.storekit"],
        ["--bundle", "com.example.cards", "--app", "-x"],
        ["--bundle", "com.example.cards", "--public-url", "http://a.example.com"],
    ])
    func `values that the server refuses are refused before anything is written`(
        words: [String]
    ) async throws {
        let (code, _) = await run(words)
        #expect(code != .success)
        #expect(try names.isEmpty)
    }

    private func ask(_ lines: [String]) throws -> (NewConfiguration, String) {
        var rest = lines[...]
        let output = Output(capturingAs: .plain)
        let wish = try InitQuestions(output) { rest.popFirst() }.complete(NewConfiguration()) {
            NewConfiguration.StoreKit(path: $0, names: ["Pro"])
        }
        #expect(rest.isEmpty)
        return (wish, output.messages.captured)
    }

    @Test func `questions complete the command line`() throws {
        let (wish, asked) = try ask([
            " com.example.cards ", "", "zero", "1234567890", "", "", "pro:P1X", "pro:P1M life",
            "gold", "http://b.example.com", "https://b.example.com",
        ])
        #expect(wish.bundleId == "com.example.cards")
        #expect(wish.packageName == nil)
        #expect(wish.appAppleId == 1_234_567_890)
        #expect(wish.id == "cards")
        #expect(wish.products.map(\.id) == ["pro", "life"])
        #expect(wish.products.map(\.period) == ["P1M", nil])
        #expect(wish.entitlement == "gold")
        #expect(wish.publicURL == "https://b.example.com")
        #expect(asked.contains("`zero` is not a number such as 1234567890."))
        #expect(asked.contains("`pro:P1X` is not product ids with blanks between them"))
        #expect(asked.contains("`http://b.example.com` is not an https URL."))
    }

    @Test func `the questions repeat for an unreadable StoreKit file`() throws {
        var rest = ["com.example.cards", "", "", "", "no.storekit", "P.storekit", "", ""][...]
        let output = Output(capturingAs: .plain)
        let wish = try InitQuestions(output) { rest.popFirst() }.complete(NewConfiguration()) {
            guard $0 == "P.storekit" else { throw CommandFailure(.noInput, "\($0): no such file") }
            return NewConfiguration.StoreKit(path: $0, names: ["Pro"])
        }
        #expect(rest.isEmpty)
        #expect(wish.storeKit?.path == "P.storekit")
        #expect(output.messages.captured.contains("tideover: no.storekit: no such file"))
    }

    @Test func `Google Play alone uses production, and the missing values are named`()
        async throws
    {
        let (code, output) = await run(["--package", "com.example.cards", "--product", "pro:P1M"])
        #expect(code == .success, "\(output.messages.captured)")
        #expect(output.results.captured.contains("/v1/apps/cards/customers/u_42'\n"))
        #expect(
            output.messages.captured.contains(
                "set googlePlay.push.audience and googlePlay.push.email in tideover.json"
            )
        )
        let app = try #require(try load().apps.first)
        let finding = Finding.pushEndpoint(of: app, under: "https://billing.example.com")
        #expect(finding?.verdict == .problem)
        #expect(Finding.pushEndpoint(of: app, under: nil)?.verdict == .warning)
        #expect(finding?.detail.contains("YOUR-HOST") == true)
    }

    @Test func `an end of input within the questions writes nothing`() throws {
        #expect(throws: CommandFailure.self) { try ask(["com.example.cards"]) }
    }

    @Test func `a missing folder is created, but not the folders around it`() async throws {
        let new = folder.path + "/new"
        let words = ["--bundle", "com.example.cards", "--folder"]
        let (code, output) = await Tideover.run(["init"] + words + [new])
        #expect(code == .success, "\(output.messages.captured)")
        #expect(FileManager.default.fileExists(atPath: new + "/secret.key"))
        let (deeper, refusal) = await Tideover.run(["init"] + words + [folder.path + "/a/b"])
        #expect(deeper == .cannotCreate)
        #expect(refusal.messages.captured.contains("cannot write \(folder.path)/a/b: No such"))
        #expect(try names == ["new"])
    }

    @Test func `a failure after the database was created leaves no file`() async throws {
        // In place of the write-ahead log, so that the new database cannot be written to.
        let obstacle = folder.appending(path: "tideover.db-wal")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
        let (code, _) = await run(["--bundle", "com.example.cards"])
        #expect(code == .cannotCreate)
        #expect(try names == ["tideover.db-wal"])
        try FileManager.default.removeItem(at: obstacle)
        #expect(await run(["--bundle", "com.example.cards"]).0 == .success)
    }
}
