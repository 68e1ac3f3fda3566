import TideoverAppStore
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverJSON
import TideoverServer
import TideoverSignatures

/// `tideover inspect`: decodes signed data, verifies it, and shows what it would change.
enum Inspect {
    private static let files = Parameter.arguments("FILE", "The signed data; - is standard input")
    private static let app = Parameter.option(
        "--app",
        "ID",
        "The app of the configuration"
    )
    private static let roots = Parameter.repeatedOption(
        "--root",
        "DER",
        "A root certificate to trust for this environment; of receipts, one with a key of RSA"
    )
    private static let bundle = Parameter.option(
        "--bundle",
        "ID",
        "The bundle id that the data must name"
    )
    private static let environment = Parameter.option(
        "--environment",
        "NAME",
        "production, sandbox or simulated",
        as: ValueForm<NamedEnvironment>.choice
    )
    private static let appAppleId = Parameter.option(
        "--app-apple-id",
        "N",
        "The app's number in the store, checked in production",
        as: .integer(in: 1...Int.max)
    )
    private static let instant = Parameter.option(
        "--at",
        "INSTANT",
        "The standing at this time, or at the start of this day (UTC), instead of now",
        as: ValueForm<Instant>.instant(ofDay: .start)
    )
    private static let json = Parameter.flag(
        "--json",
        "Write one JSON object, or one a line for several files"
    )

    static let command = Command(
        "inspect",
        summary: "decode signed data and check its signature",
        examples: [
            Example(
                "tideover inspect body.json",
                "a notification, with the server's configuration"
            ),
            Example(
                "tideover inspect body.json --bundle com.example.cards --environment sandbox",
                "by Apple's built-in root"
            ),
            Example(
                "tideover inspect receipt.txt --root AppleIncRootCertificate.cer "
                    + "--bundle com.example.cards --environment production",
                "a receipt of StoreKit 1, by Apple's root of receipts, which is not built in"
            ),
            Example(
                "tideover inspect - --root root.der --bundle com.example.cards "
                    + "--environment simulated --json < body.json",
                "by a root of your own, on standard input"
            ),
        ],
        parameters: [
            files, app, ConfigurationFile.parameter, roots, bundle, environment, appAppleId,
            instant, json,
        ],
        usage: [
            "FILE... --app ID --config FILE [--at INSTANT] [--json]",
            "FILE... [--root DER...] --bundle ID --environment NAME [--app-apple-id N] "
                + "[--at INSTANT] [--json]",
        ],
        notes: [
            "Exit code 0 if every file is accepted or unsigned, 1 if one is rejected. "
                + "RevenueCat's answers and its SDKs' CustomerInfo are unsigned. Nothing is "
                + "stored, and old data is accepted. A --root is trusted for the environment named "
                + "with it. In an answer of verifyReceipt only the signed receipt counts."
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let subject = try subject(of: arguments, output)
        let instant = arguments[instant] ?? SystemClock.now()
        let paths = arguments[files]
        var areAccepted = true
        for path in paths {
            let inspection = Inspection(
                try FileInput.read(path, atMost: JSONLimits.storeAnswer.maxBytes),
                trust: subject.trust,
                catalogue: subject.catalogue,
                policy: subject.policy,
                at: instant
            )
            areAccepted = areAccepted && inspection.isAccepted
            if arguments[json] {
                var writer = JSONWriter(pretty: paths.count == 1)
                inspection.write(to: &writer)
                output.write(writer.bytes + [UInt8(ascii: "\n")])
            } else {
                if paths.count > 1 { output.print("file       \(TextLayout.visible(path))") }
                InspectionPrinter(output).print(inspection)
            }
        }
        return areAccepted ? .success : .failure
    }

    /// The trusted authorities, and the products' entitlements.
    private struct Subject {
        var trust: AppStoreTrust
        var catalogue = Catalogue()
        var policy = Policy()
    }

    private static func subject(of arguments: Arguments, _ output: Output) throws -> Subject {
        if isConfigured(arguments) {
            try refuseBesideConfiguration(arguments)
            return try configuredSubject(try ConfigurationFile.path(arguments), arguments, output)
        }
        if arguments.has(app) { throw arguments.usageError(.needs("--app", other: "--config")) }
        guard let bundleId = arguments[bundle] else { throw missing("--bundle", "ID", arguments) }
        guard let named = arguments[environment] else {
            throw missing("--environment", "NAME", arguments)
        }
        let authorities = try authorities(arguments[roots], named.environment)
        return Subject(
            trust: AppStoreTrust(
                identity: AppStoreIdentity(
                    bundleId: bundleId,
                    appAppleId: arguments[appAppleId].map(Int64.init),
                    environments: [named.environment]
                ),
                authorities: authorities.documents,
                receiptAuthorities: authorities.receipts
            )
        )
    }

    /// Whether the configuration provides the trust: it is named, or it exists and no trust options
    /// are given.
    private static func isConfigured(_ arguments: Arguments) -> Bool {
        if arguments.has(ConfigurationFile.parameter) { return true }
        guard !byHand(arguments).contains(where: \.isGiven) else { return false }
        return arguments.has(app) || ConfigurationFile.find(arguments) != nil
    }

    private static func byHand(_ arguments: Arguments) -> [(name: String, isGiven: Bool)] {
        [
            ("--root", arguments.has(roots)), ("--bundle", arguments.has(bundle)),
            ("--environment", arguments.has(environment)),
            ("--app-apple-id", arguments.has(appAppleId)),
        ]
    }

    /// Rejects options that the configuration would override.
    private static func refuseBesideConfiguration(_ arguments: Arguments) throws {
        for (name, isGiven) in byHand(arguments) where isGiven {
            throw arguments.usageError(.conflict("--config", name))
        }
    }

    private static func configuredSubject(
        _ path: String,
        _ arguments: Arguments,
        _ output: Output
    ) throws -> Subject {
        let configuration = try ConfigurationFile.load(path, arguments, telling: output)
        let configured = try ConfigurationFile.app(arguments[app], of: configuration, path)
        guard let trust = try App(configured).appStore else {
            throw CommandFailure(
                .configuration,
                "the app \(configured.id) has no appStore in \(path)"
            )
        }
        return Subject(trust: trust, catalogue: configured.catalogue, policy: configured.policy)
    }

    /// Returns the authorities from the named roots, for signed documents and for receipts. Without
    /// any, documents use Apple's built-in root.
    private static func authorities(
        _ paths: [String],
        _ environment: Environment
    ) throws -> (documents: [TrustAnchor: Authority], receipts: [TrustAnchor: Authority]) {
        guard !paths.isEmpty else { return (try AppStoreTrust.roots(simulated: nil), [:]) }
        var documents: [TrustAnchor: Authority] = [:]
        var receipts: [TrustAnchor: Authority] = [:]
        for path in paths {
            let der = try FileInput.read(path, atMost: 64 << 10)
            if let anchor = try? TrustAnchor(name: path, der: der, keys: .rsa) {
                receipts[anchor] = .pinned(environment)
                continue
            }
            do {
                documents[try TrustAnchor(name: path, der: der)] = .pinned(environment)
            } catch {
                throw CommandFailure(
                    .data,
                    "\(path) is not a root certificate in DER (\(error))\n"
                        + "From PEM: openssl x509 -in FILE -outform der -out root.der"
                )
            }
        }
        return (documents, receipts)
    }

    private static func missing(
        _ option: String,
        _ valueName: String,
        _ arguments: Arguments
    ) -> UsageError {
        arguments.usageError(.missingOption(option, valueName: valueName))
    }
}

/// The environments for which data can be inspected.
enum NamedEnvironment: String, CaseIterable {
    case production, sandbox, simulated

    var environment: Environment {
        switch self {
        case .production: .production
        case .sandbox: .sandbox
        case .simulated: .simulated
        }
    }
}
