import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverServer
import TideoverStorage
import TideoverStoreKitFile

/// `tideover init`: creates a configuration with its keys.
enum Init {
    private static let folder = Parameter.option(
        "--folder",
        "FOLDER",
        "Where to write the files; it is created if missing",
        default: "."
    )
    private static let app = Parameter.option(
        "--app",
        "ID",
        "Your name for the app in URLs and commands (default: from its bundle id or package)",
        as: ValueForm("1 to 63 of a-z, 0-9 and -, no - first") {
            NewConfiguration.isAppID($0) ? $0 : nil
        }
    )
    private static let bundle = Parameter.option("--bundle", "ID", "The bundle id in the App Store")
    private static let appAppleId = Parameter.option(
        "--app-apple-id",
        "N",
        "The number in its App Store URL; without it only the sandbox is configured",
        as: .integer(in: 1...Int.max)
    )
    private static let package = Parameter.option(
        "--package",
        "NAME",
        "The package name on Google Play"
    )
    private static let pushEmail = Parameter.option(
        "--push-email",
        "ADDRESS",
        "The service account of the Pub/Sub push subscription"
    )
    private static let products = Parameter.repeatedOption(
        "--product",
        "ID[:PERIOD]",
        "A product: pro.monthly:P1M; without a period it is bought once",
        as: ValueForm("a product id, or one with its period such as pro.monthly:P1M") {
            NewConfiguration.Product($0)
        }
    )
    private static let storeKit = Parameter.option(
        "--storekit",
        "FILE",
        "Read the products from Xcode's StoreKit configuration file instead"
    )
    private static let entitlement = Parameter.option(
        "--entitlement",
        "NAME",
        "What the products unlock",
        default: NewConfiguration.usualEntitlement
    )
    private static let publicURL = Parameter.option(
        "--public-url",
        "URL",
        "The https URL under which the stores reach the server",
        as: ValueForm("an https URL") { text in
            (try? HTTPURL(text)).flatMap { $0.scheme == .https ? text : nil }
        }
    )

    static let command = Command(
        "init",
        summary: "create a configuration with its keys",
        examples: [
            Example("tideover init", "answer questions, at a terminal"),
            Example(
                "tideover init --bundle com.example.cards --product cards.pro.monthly:P1M",
                "no questions: the sandbox of one app, with one subscription"
            ),
            Example(
                "tideover init --bundle com.example.cards --storekit Examples/Products.storekit "
                    + "--package com.example.cards",
                "both stores, products from Xcode's file"
            ),
        ],
        parameters: [
            app, bundle, appAppleId, package, pushEmail, products, storeKit, entitlement,
            publicURL, folder,
        ],
        notes: [
            "It writes tideover.json, admin.key, secret.key and the database, and replaces no file. Only "
                + "you can read the keys. It asks questions only if neither --bundle nor --package is "
                + "given and standard input is a terminal."
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        var wish = try wish(arguments)
        let files = NewFiles(folder: arguments[folder])
        try files.requireAbsent()
        if wish.bundleId == nil, wish.packageName == nil {
            guard isatty(STDIN_FILENO) == 1 else {
                throw arguments.usageError(.missingOneOf(["--bundle", "--package"]))
            }
            wish = try InitQuestions(output).complete(wish) { try storeKitFile($0, besides: "") }
        }
        try files.check(wish.text, variables: arguments.variables)
        try await files.write(wish, variables: arguments.variables, output)
        files.tellNext(wish, output)
        return .success
    }

    private static func wish(_ arguments: Arguments) throws -> NewConfiguration {
        if arguments.has(products), arguments.has(storeKit) {
            throw arguments.usageError(.conflict("--product", "--storekit"))
        }
        if arguments.has(appAppleId), !arguments.has(bundle) {
            throw arguments.usageError(.needs("--app-apple-id", other: "--bundle"))
        }
        if arguments.has(pushEmail), !arguments.has(package) {
            throw arguments.usageError(.needs("--push-email", other: "--package"))
        }
        return NewConfiguration(
            app: arguments[app],
            bundleId: arguments[bundle],
            appAppleId: arguments[appAppleId].map(Int64.init),
            packageName: arguments[package],
            pushEmail: arguments[pushEmail],
            products: arguments[products],
            storeKit: try arguments[storeKit].map {
                try storeKitFile($0, besides: arguments[folder])
            },
            entitlement: arguments[entitlement],
            publicURL: arguments[publicURL]
        )
    }

    /// Returns the file's products, and its path relative to the configuration's folder.
    private static func storeKitFile(
        _ path: String,
        besides folder: String
    ) throws -> NewConfiguration.StoreKit {
        let file: StoreKitFile
        do {
            file = try StoreKitFile(try FileInput.read(path, atMost: 8 << 20))
        } catch let error as StoreKitFileError {
            throw CommandFailure(.data, "\(TextLayout.visible(path)): \(error)")
        }
        let isBeside = path.hasPrefix("/") || folder.isEmpty || folder == "."
        return NewConfiguration.StoreKit(
            path: isBeside ? path : try absolute(path),
            names: file.groups.map(\.name)
                + file.purchases.filter { $0.kind != .consumable }.map(\.id)
        )
    }

    private static func absolute(_ path: String) throws(CommandFailure) -> String {
        guard let resolved = realpath(path, nil) else { throw FileOutput.failure(path, errno) }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// The files that `tideover init` creates in a folder.
private struct NewFiles {
    let folder: String

    private var configuration: String { path("tideover.json") }
    private var adminKey: String { path(NewConfiguration.adminKeyFile) }
    private var secretKey: String { path("secret.key") }

    private func path(_ name: String) -> String { folder == "." ? name : "\(folder)/\(name)" }

    func requireAbsent() throws(CommandFailure) {
        let names = [configuration, adminKey, secretKey, path(NewConfiguration.database)]
        let present = names.filter { access($0, F_OK) == 0 }
        guard present.isEmpty else {
            throw CommandFailure(
                .cannotCreate,
                "nothing was written: \(present.map(TextLayout.visible).joined(separator: ", ")) "
                    + (present.count == 1 ? "exists" : "exist")
                    + "\nMove \(present.count == 1 ? "it" : "them"), or name another folder with "
                    + "--folder."
            )
        }
    }

    /// Validates the configuration as `tideover serve` would, before any file is written.
    func check(_ text: String, variables: [String: String]) throws {
        do {
            _ = try Configuration.load(
                file: configuration,
                text: Array(text.utf8),
                environment: variables,
                readFile: { try FileInput.read($0, atMost: 8 << 20) }
            )
        } catch {
            throw CommandFailure(.configuration, "nothing was written: \(error)")
        }
    }

    /// Writes all files, or leaves none.
    func write(
        _ wish: NewConfiguration,
        variables: [String: String],
        _ output: Output
    ) async throws {
        let isFolderNew = try makeFolder()
        var written: [String] = []
        func write(_ text: String, _ path: String, _ mode: mode_t) throws {
            try FileOutput.write(
                Array(text.utf8),
                to: path,
                mode: mode,
                isNew: true,
                isSynced: true
            )
            written.append(path)
        }
        do {
            let key = APIKey(.admin) { .random(in: .min ... .max) }
            try write(wish.text, configuration, 0o644)
            try write("\(key.text)\n", adminKey, 0o600)
            try write("", secretKey, 0o600)
            written += newDatabaseFiles()
            let secret = try await addSecretKey(for: wish.id, variables, output)
            try FileOutput.replace(Array("\(secret)\n".utf8), at: secretKey)
        } catch {
            for path in written { unlink(path) }
            if isFolderNew { rmdir(folder) }
            throw error
        }
    }

    /// Creates the folder, but none around it. Returns false if it exists.
    private func makeFolder() throws(CommandFailure) -> Bool {
        guard mkdir(folder, 0o755) != 0 else { return true }
        guard errno == EEXIST else { throw FileOutput.failure(folder, errno) }
        return false
    }

    /// The files of the database that do not exist yet.
    private func newDatabaseFiles() -> [String] {
        ["", "-wal", "-shm", "-journal", ".lock"].map { path(NewConfiguration.database) + $0 }
            .filter { access($0, F_OK) != 0 }
    }

    private func addSecretKey(
        for app: String,
        _ variables: [String: String],
        _ output: Output
    ) async throws -> String {
        let loaded = try ConfigurationFile.load(
            configuration,
            variables: variables,
            telling: output
        )
        let body: JSONValue = [
            "kind": .string(KeyKind.secret.rawValue), "apps": [.string(app)],
            "name": "tideover init",
        ]
        let made = try await AdminClient(loaded, configuration, server: nil, output).run(
            Request(method: "POST", path: "/v1/keys", body: body.encoded()),
            makesDatabase: true
        )
        return made["key"]?.string ?? ""
    }

    func tellNext(_ wish: NewConfiguration, _ output: Output) {
        let config = folder == "." ? "" : " --config \(configuration)"
        let sandbox = wish.servesProduction ? "" : "?environment=sandbox"
        output.print("Wrote \(configuration), \(adminKey) and \(secretKey).")
        output.print("\nNext:")
        output.print("  tideover doctor\(config)")
        output.print("  tideover serve\(config)")
        output.print("  curl -H \"Authorization: Bearer $(cat \(secretKey))\" \\")
        output.print("    'http://127.0.0.1:8080/v1/apps/\(wish.id)/customers/u_42\(sandbox)'")
        if wish.bundleId != nil {
            let environments = wish.servesProduction ? "production and the sandbox" : "the sandbox"
            output.print("\nApp Store Connect: your app, App Information, App Store Server")
            output.print("Notifications, version 2, for \(environments):")
            output.print("  \(wish.notificationURL("app-store"))")
        }
        if wish.packageName != nil {
            output.print("\nGoogle Cloud, Pub/Sub: the endpoint of the push subscription, with")
            output.print("authentication, on the topic that the Play Console names:")
            output.print("  \(wish.notificationURL("google-play"))")
        }
        for line in wish.toComplete { output.message("tideover: \(line)") }
    }
}
