import TideoverAppStore
import TideoverCommandLine
import TideoverCore
import TideoverHTTPClient
import TideoverServer
import TideoverSignatures

/// How the stores of the configured apps are asked, over the network.
struct StoreConnections {
    /// By app; an app whose store cannot be asked is not among them.
    let access: [String: [StoreAccess]]
    /// Why a store cannot be asked, one sentence for each app and environment.
    let notices: [String]

    /// Opens the private keys; the stores are not asked yet.
    ///
    /// - Throws: `CommandFailure` for a file that cannot be read or holds no key, and for a URL that
    ///   cannot be one.
    init(_ configuration: Configuration) throws {
        var (access, notices): ([String: [StoreAccess]], [String]) = ([:], [])
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        for app in configuration.apps {
            guard let store = app.appStore else { continue }
            guard let apiKey = store.apiKey else {
                notices.append(
                    "the App Store cannot be asked about the app \(app.id): appStore.issuerId, keyId "
                        + "and privateKeyFile are not set"
                )
                continue
            }
            let key = try Self.privateKey(apiKey, of: app)
            for environment in app.environments {
                guard let url = try Self.url(of: environment, app) else {
                    notices.append(
                        "the store cannot be asked about the app \(app.id) in \(environment.rawValue): "
                            + "simulatedStore.url is not set"
                    )
                    continue
                }
                // Its host was fixed by the operator or by us: any address will do.
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
        self.access = access
        self.notices = notices
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
        } catch {
            throw CommandFailure(
                .configuration,
                "the app \(app.id): appStore.privateKeyFile \(file): \(error)"
            )
        }
    }
}
