import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverHTTPClient
import TideoverServer
import TideoverSignatures

extension StoreConnections {
    /// Connects one app to Google. A simulated store replaces all of Google.
    struct Google {
        private let app: Configuration.App
        private let client: HTTPClient
        private let clock: Clock

        init(_ app: Configuration.App, _ client: HTTPClient, _ clock: @escaping Clock) {
            self.app = app
            self.client = client
            self.clock = clock
        }

        /// Opens the service account's key, without any network request.
        ///
        /// - Throws: `CommandFailure`, `HTTPURLError`.
        func trust(in play: Configuration.GooglePlay) throws -> PlayTrust? {
            let account = try play.serviceAccountFile.map(readAccount)
            var (api, pubSub): (PlayAPI?, PubSubAPI?)
            if let account {
                api = PlayAPI(
                    packageName: play.packageName,
                    access: try access(account, to: ServiceAccount.scope),
                    clock: clock,
                    handler: try handler(PlayAPI.url)
                )
            }
            if let account, let subscription = play.pull.flatMap({ PubSubSubscription($0) }) {
                // A pull request for messages stays open for a while.
                pubSub = PubSubAPI(
                    subscription: subscription,
                    access: try access(account, to: ServiceAccount.pubSubScope),
                    handler: try handler(PubSubAPI.url, within: PubSubAPI.longestPull)
                )
            }
            let keys = PushKeys(clock: clock, handler: try handler(PushKeys.url))
            return PlayTrust(app, keys: keys, api: api, pubSub: pubSub)
        }

        private typealias Account = (account: ServiceAccount, key: RSAPrivateKey)

        private func readAccount(_ file: String) throws -> Account {
            do {
                let bytes = try FileInput.read(file, atMost: 1 << 16)
                let (account, text) = try ServiceAccount.read(keyFile: bytes)
                return (account, try RSAPrivateKey(pem: text))
            } catch {
                throw CommandFailure(
                    .configuration,
                    "the app \(app.id): googlePlay.serviceAccountFile \(file): "
                        + Self.sentence(error)
                )
            }
        }

        /// Describes what is wrong with a key file, and which file is needed.
        private static func sentence(_ error: any Error) -> String {
            let fault: String
            switch error {
            case PlayRefusal.malformed(field: "type"): fault = "Its type is not service_account."
            case let refusal as PlayRefusal: fault = refusal.sentence
            case KeyError.notPEM:
                fault = "Its private_key is not a PEM text with the label PRIVATE KEY."
            case KeyError.notRSA:
                fault = "Its private_key is not an RSA key of 2048 to 4096 bits."
            case is KeyError: fault = "Its private_key is damaged."
            default: return "\(error)"
            }
            return fault + " Use the JSON key file of a service account, made in the Google Cloud "
                + "console under IAM & Admin, Service Accounts, Keys."
        }

        private func access(_ account: Account, to scope: String) throws -> PlayAccess {
            PlayAccess(
                account: account.account,
                scope: scope,
                signer: { [key = account.key] in key.sign($0, .sha256) },
                clock: clock,
                handler: try handler(at: account.account.tokenOrigin ?? "")
            )
        }

        /// Returns a client for a Google host, or for the simulated store in its place.
        private func handler(
            _ url: String,
            within total: Milliseconds? = nil
        ) throws -> Handler {
            let simulated = app.environments == [.simulated] ? app.simulatedStore?.url : nil
            return try handler(at: simulated ?? url, within: total)
        }

        /// The operator or this code fixed the host, so any address is allowed.
        private func handler(
            at url: String,
            within total: Milliseconds? = nil
        ) throws -> Handler {
            var limits = ExchangeLimits.storeAnswer
            if let total { limits.total = .milliseconds(total.count) }
            return client.handler(
                under: Destination(try HTTPURL(url), addresses: .any, limits: limits)
            )
        }
    }
}
