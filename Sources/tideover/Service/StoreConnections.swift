import TideoverAppStore
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverRevenueCat
import TideoverServer
import TideoverSignatures

/// Connects the configured apps to their stores over the network.
struct StoreConnections {
    /// The App Store by app, without apps that have no access.
    let access: [String: [StoreAccess]]
    /// Google Play by app, without apps that are not sold there.
    let googlePlay: [String: PlayTrust]
    /// RevenueCat by app, without apps that it does not serve.
    let revenueCat: [String: RevenueCatTrust]
    /// The keys that sign responses to RevenueCat's SDKs, by app, without apps that have none.
    let sdkSigners: [String: SDKSigner]
    /// Why a store is not accessible, one sentence for each app and environment.
    let notices: [String]

    /// Opens the private keys, without any request to the stores. `clock` dates Google Play's
    /// tokens.
    ///
    /// - Throws: `CommandFailure` for a file that cannot be read or contains no key, and for an
    ///   invalid URL.
    init(_ configuration: Configuration, clock: @escaping Clock = SystemClock.now) throws {
        var (access, notices): ([String: [StoreAccess]], [String]) = ([:], [])
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        for app in configuration.apps {
            guard let store = app.appStore else { continue }
            guard let apiKey = store.apiKey else {
                notices.append(
                    "the app \(app.id) cannot query the App Store: appStore.issuerId, keyId "
                        + "and privateKeyFile are not set"
                )
                continue
            }
            let key = try Self.privateKey(apiKey, of: app)
            for environment in app.environments {
                guard let url = try Self.url(of: environment, app) else {
                    notices.append(
                        "the app \(app.id) cannot query the store in \(environment.rawValue): "
                            + "simulatedStore.url is not set"
                    )
                    continue
                }
                // The operator or this code fixed the host, so any address is allowed.
                let place = Destination(url, addresses: .any, limits: .storeAnswer)
                access[app.id, default: []].append(
                    StoreAccess(
                        environment: environment,
                        key: AppStoreAPIKey(
                            issuerId: apiKey.issuerId,
                            keyId: apiKey.keyId,
                            bundleId: store.bundleId
                        ),
                        signer: { key.sign($0) },
                        handler: client.handler(under: place)
                    )
                )
            }
        }
        var googlePlay: [String: PlayTrust] = [:]
        for app in configuration.apps {
            guard let play = app.googlePlay else { continue }
            let google = Google(app, client, clock)
            googlePlay[app.id] = try google.trust(in: play)
            guard play.serviceAccountFile == nil else { continue }
            notices.append(
                "the app \(app.id) cannot query Google Play: googlePlay.serviceAccountFile "
                    + "is not set, so the content of its notifications is presumed"
            )
        }
        var revenueCat: [String: RevenueCatTrust] = [:]
        for app in configuration.apps {
            guard let project = app.revenueCat else { continue }
            let authorization = try Self.secret(
                "webhookAuthorizationFile",
                project.webhookAuthorizationFile,
                of: app
            )
            revenueCat[app.id] = try Self.trust(in: project, of: app, authorization, client)
            guard project.signatureSecretFile == nil else { continue }
            if let notice = Self.notice(of: authorization, of: app) { notices.append(notice) }
        }
        var sdkSigners: [String: SDKSigner] = [:]
        for app in configuration.apps { sdkSigners[app.id] = try Self.sdkSigner(of: app) }
        self.sdkSigners = sdkSigners
        self.googlePlay = googlePlay
        self.revenueCat = revenueCat
        self.access = access
        self.notices = notices
    }

    // MARK: RevenueCat

    /// The length from which on the header of webhooks counts as one that cannot be guessed.
    private static let shortestAuthorization = 16

    /// Returns what is wrong with the header of an app's webhooks, if they have no signature: none
    /// is set, or guesses could find it. Requests with a wrong one are not limited.
    private static func notice(
        of authorization: String?,
        of app: Configuration.App
    ) -> String? {
        guard let authorization else {
            return "RevenueCat's webhooks for the app \(app.id) are rejected: "
                + "revenueCat.webhookAuthorizationFile is not set"
        }
        let scheme = "Bearer "
        let secret =
            authorization.hasPrefix(scheme)
            ? authorization.dropFirst(scheme.count) : authorization[...]
        guard secret.utf8.count < shortestAuthorization else { return nil }
        return "revenueCat.webhookAuthorizationFile of the app \(app.id) can be guessed, and with "
            + "it anyone can report purchases: use \(shortestAuthorization) random characters or "
            + "more, such as those that `openssl rand -hex 32` prints"
    }

    private static func trust(
        in project: Configuration.RevenueCat,
        of app: Configuration.App,
        _ authorization: String?,
        _ client: HTTPClient
    ) throws -> RevenueCatTrust? {
        let key = try secret("apiKeyFile", project.apiKeyFile, of: app)
        let secret = try secret("signatureSecretFile", project.signatureSecretFile, of: app)
        return RevenueCatTrust(
            app,
            authorization: authorization,
            signatureSecret: secret.map { Array($0.utf8) },
            api: try key.map { key in
                RevenueCatAPI(
                    key: key,
                    clock: SystemClock.now,
                    handler: try handler(RevenueCatAPI.url, client)
                )
            }
        )
    }

    private static func sdkSigner(of app: Configuration.App) throws -> SDKSigner? {
        guard let file = app.revenueCat?.sdk?.signingKeyFile else { return nil }
        do {
            let text = String(decoding: try FileInput.read(file, atMost: 1 << 12), as: UTF8.self)
            return SDKSigner(root: try Ed25519PrivateKey(pem: text))
        } catch is KeyError {
            throw CommandFailure(
                .configuration,
                "the app \(app.id): revenueCat.sdk.signingKeyFile \(file) does not contain exactly "
                    + "one Ed25519 key in PEM\ndocs/switching.md shows how to create one."
            )
        } catch {
            throw CommandFailure(
                .configuration,
                "the app \(app.id): revenueCat.sdk.signingKeyFile \(file): \(error)"
            )
        }
    }

    /// Returns the single line of text in a file. An empty secret is rejected, because it would
    /// accept every request.
    private static func secret(
        _ key: String,
        _ file: String?,
        of app: Configuration.App
    ) throws -> String? {
        guard let file else { return nil }
        let text: String
        do {
            text = String(decoding: try FileInput.read(file, atMost: 1 << 12), as: UTF8.self)
        } catch {
            throw CommandFailure(
                .configuration,
                "the app \(app.id): revenueCat.\(key) \(file): \(error)"
            )
        }
        let line = text.split(whereSeparator: \.isNewline)
        guard line.count == 1, let secret = line.first else {
            throw CommandFailure(
                .configuration,
                "the app \(app.id): revenueCat.\(key) \(file): the file must have one line of text"
            )
        }
        return String(secret)
    }

    // MARK: Addresses

    /// Returns a client for RevenueCat, at any address.
    private static func handler(_ url: String, _ client: HTTPClient) throws -> Handler {
        client.handler(
            under: Destination(try HTTPURL(url), addresses: .any, limits: .storeAnswer)
        )
    }

    private static func url(
        of environment: Environment,
        _ app: Configuration.App
    ) throws -> HTTPURL? {
        let text =
            environment == .simulated
            ? app.simulatedStore?.url : AppStoreAPI.url(of: environment)
        guard let text else { return nil }
        do {
            return try HTTPURL(text)
        } catch {
            throw CommandFailure(.configuration, "\(app.id): simulatedStore.url: \(error)")
        }
    }

    private static func privateKey(
        _ apiKey: Configuration.AppStoreKey,
        of app: Configuration.App
    ) throws -> P256PrivateKey {
        let file = apiKey.privateKeyFile
        do {
            let text = String(decoding: try FileInput.read(file, atMost: 1 << 16), as: UTF8.self)
            return try P256PrivateKey(pem: text)
        } catch is KeyError {
            throw CommandFailure(
                .configuration,
                "the app \(app.id): appStore.privateKeyFile \(file) does not contain exactly one "
                    + "P-256 key in PEM\nUse the .p8 file from App Store Connect, Users and "
                    + "Access, Integrations, In-App Purchase."
            )
        } catch {
            throw CommandFailure(
                .configuration,
                "the app \(app.id): appStore.privateKeyFile \(file): \(error)"
            )
        }
    }
}
