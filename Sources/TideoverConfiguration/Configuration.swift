package import TideoverCore
package import TideoverHTTP
package import TideoverSignatures

/// The operator's settings: the file `tideover.json` and the environment variables that override
/// it, validated as a whole.
package struct Configuration: Hashable, Sendable {
    /// The server's addresses and limits.
    package let server: Server
    /// Where durable data is stored.
    package let storage: StorageLocation
    /// The copy of the database that may answer for customers; nil for none.
    package let replica: Replica?
    /// The apps in the order of the file, with unique ids.
    package let apps: [App]
    /// How long data is kept that no answer depends on.
    package let retention: Retention
    /// The key that signs passes, or nil if the server issues none.
    package let pass: Pass?
    /// The receivers of events.
    package let webhooks: [Webhook]
    /// Whether the server serves `/dashboard`.
    package let isDashboardEnabled: Bool
    /// One sentence for each setting that has no effect or is probably a mistake.
    package let notices: [String]
    /// Equal on servers with the same settings in file and environment; empty if created in code.
    package internal(set) var fingerprint = ""

    /// Creates a configuration in code, without the validation of a file.
    package init(
        server: Server,
        storage: StorageLocation,
        replica: Replica? = nil,
        apps: [App],
        retention: Retention = Retention(),
        pass: Pass? = nil,
        webhooks: [Webhook] = [],
        isDashboardEnabled: Bool = false,
        notices: [String] = []
    ) {
        self.server = server
        self.storage = storage
        self.replica = replica
        self.apps = apps
        self.retention = retention
        self.pass = pass
        self.webhooks = webhooks
        self.isDashboardEnabled = isDashboardEnabled
        self.notices = notices
    }

    /// Returns the app with an id, or nil if it is not configured.
    package func app(_ id: String) -> App? {
        apps.first { $0.id == id }
    }
}

extension Configuration {
    /// The server's addresses and limits.
    package struct Server: Hashable, Sendable {
        /// The address that accepts connections.
        package let listen: ListenAddress
        /// The address for requests of RevenueCat's SDKs alone; nil if they use `listen`.
        package let sdkListen: ListenAddress?
        /// The public URL of the server, or nil if not configured.
        package let publicURL: String?
        /// The proxies trusted to report a client's address.
        package let trustedProxies: TrustedProxies
        /// The limits on one client.
        package let limits: Limits
        /// The file with an admin key that the server accepts without storing it, and that commands
        /// send; nil if none.
        package let adminKeyFile: String?
        /// Whether the server starts although other users can open a file with a secret.
        package let allowsReadableSecrets: Bool
        /// Whether OCSP responders are asked about the certificates that sign the App Store's data.
        package let checksRevocation: Bool
        /// How long the server continues to serve after a stop signal, while `/readyz` reports the
        /// shutdown.
        package let drain: Milliseconds

        /// Creates the settings of a server.
        package init(
            listen: ListenAddress = .standard,
            sdkListen: ListenAddress? = nil,
            publicURL: String? = nil,
            trustedProxies: TrustedProxies = TrustedProxies(),
            limits: Limits = Limits(),
            adminKeyFile: String? = nil,
            allowsReadableSecrets: Bool = false,
            checksRevocation: Bool = true,
            drain: Milliseconds = .zero
        ) {
            self.listen = listen
            self.sdkListen = sdkListen
            self.publicURL = publicURL
            self.trustedProxies = trustedProxies
            self.limits = limits
            self.adminKeyFile = adminKeyFile
            self.allowsReadableSecrets = allowsReadableSecrets
            self.checksRevocation = checksRevocation
            self.drain = drain
        }
    }

    /// The limits on one client: an IPv4 address or an IPv6 /64 network.
    package struct Limits: Hashable, Sendable {
        /// The maximum number of open connections; 0 disables the limit.
        package let connectionsPerAddress: Int
        /// The number of notifications rejected in a minute, for one app, after which none is
        /// verified; 0 disables the limit.
        package let refusalsPerMinute: Int

        /// Creates limits suitable for a server on the internet.
        package init(connectionsPerAddress: Int = 64, refusalsPerMinute: Int = 60) {
            self.connectionsPerAddress = connectionsPerAddress
            self.refusalsPerMinute = refusalsPerMinute
        }
    }

    /// A copy of the database that may answer for customers.
    package struct Replica: Hashable, Sendable {
        /// The address, as libpq reads it.
        package let address: String
        /// How far its data may be behind the database's.
        package let staleness: Milliseconds
    }

    /// Where durable data is stored.
    package enum StorageLocation: Hashable, Sendable {
        /// An SQLite database file.
        case sqlite(path: String)
        /// A PostgreSQL database, by an address without a password.
        case postgres(address: String)
    }
}

/// A retention period.
package struct KeepingTime: Hashable, Sendable {
    /// The length, or nil to keep data for ever.
    package let length: Milliseconds?

    package init(_ length: Milliseconds?) { self.length = length }

    package static let forever = KeepingTime(nil)
}

extension Configuration {
    /// How long data is kept that no answer depends on, by kind, since it arrived or ended.
    package struct Retention: Hashable, Sendable {
        /// Evidence that contained no new fact.
        package let evidence: KeepingTime
        /// Drifts that have ended.
        package let drift: KeepingTime
        /// Prompts that were shown.
        package let prompts: KeepingTime
        /// Lines of the audit log.
        package let audit: KeepingTime
        /// Events.
        package let told: KeepingTime
        /// The minimum number of days for which events are kept.
        package static let leastDaysOfEvents: Int64 = 30
        /// Ids of customers without any data.
        package let customers: KeepingTime

        package init(
            evidence: KeepingTime = KeepingTime(.days(181)),
            drift: KeepingTime = KeepingTime(.days(400)),
            prompts: KeepingTime = KeepingTime(.days(90)),
            audit: KeepingTime = .forever,
            told: KeepingTime = .forever,
            customers: KeepingTime = KeepingTime(.days(90))
        ) {
            self.evidence = evidence
            self.drift = drift
            self.prompts = prompts
            self.audit = audit
            self.told = told
            self.customers = customers
        }
    }

    /// A receiver of events. No file is open yet.
    package struct Webhook: Hashable, Sendable {
        package let id: String
        /// The ids of the apps with the events; all apps if empty.
        package let apps: [String]
        package let url: String
        package let events: WebhookFilter
        /// The environments with the events; all if empty.
        package let environments: [Environment]
        /// The file with the secret that signs messages.
        package let secretFile: String
        /// The file with the secret that signed before, while receivers learn the new one.
        package let previousSecretFile: String?
        /// The file with a private key that signs too.
        package let signingKeyFile: String?
        /// Networks that are not public but allowed.
        package let allowNetworks: [IPNetwork]
        package let format: WebhookFormat
        /// The file with the value of the `Authorization` header.
        package let authorizationFile: String?
    }

    /// The keys of the passes that devices trust offline.
    package struct Pass: Hashable, Sendable {
        /// The issuer name in passes, which devices check.
        package let issuer: String
        /// The file with the private signing key, in PEM.
        package let keyFile: String
        /// Files with other keys, public or private, that sign valid passes: previous keys, and the
        /// next one.
        package let otherKeyFiles: [String]

        /// Creates the settings without opening any file.
        package init(
            issuer: String = standardIssuer,
            keyFile: String,
            otherKeyFiles: [String] = []
        ) {
            self.issuer = issuer
            self.keyFile = keyFile
            self.otherKeyFiles = otherKeyFiles
        }

        /// The issuer name if none is configured.
        package static let standardIssuer = "tideover"
    }

    /// One app: its stores, its catalogue and its policy.
    package struct App: Hashable, Sendable {
        /// The id: 1 to 63 lower-case letters, digits and hyphens, not starting with a hyphen.
        package let id: String
        /// The environments the app serves, at least one, in the operator's order; never `xcode`.
        package let environments: [Environment]
        /// The app in the App Store, or nil if not sold there.
        package let appStore: AppStore?
        /// The app on Google Play, or nil if not sold there.
        package let googlePlay: GooglePlay?
        /// The app's RevenueCat project, or nil if it sends nothing.
        package let revenueCat: RevenueCat?
        /// The trusted simulated store; present if and only if `simulated` is served.
        package let simulatedStore: SimulatedStore?
        /// The products and their entitlements.
        package let catalogue: Catalogue
        /// The operator's choices where the stores allow one.
        package let policy: Policy
        /// How long after a due renewal a missing notification raises an alert; zero disables it.
        package let silence: Milliseconds
        /// The operator's texts for customers, by the tag of their language.
        package let messages: [String: [MessageText]]
        /// The texts of arms of experiments, each by the tag of its language.
        package let armMessages: [ArmName: [String: [MessageText]]]

        /// Creates an app in code.
        package init(
            id: String,
            environments: [Environment],
            appStore: AppStore? = nil,
            googlePlay: GooglePlay? = nil,
            revenueCat: RevenueCat? = nil,
            simulatedStore: SimulatedStore? = nil,
            catalogue: Catalogue = Catalogue(),
            policy: Policy = Policy(),
            silence: Milliseconds = .hours(6),
            messages: [String: [MessageText]] = [:],
            armMessages: [ArmName: [String: [MessageText]]] = [:]
        ) {
            self.id = id
            self.environments = environments
            self.appStore = appStore
            self.googlePlay = googlePlay
            self.revenueCat = revenueCat
            self.simulatedStore = simulatedStore
            self.catalogue = catalogue
            self.policy = policy
            self.silence = silence
            self.messages = messages
            self.armMessages = armMessages
        }
    }

    /// The app's identity and settings in the App Store.
    package struct AppStore: Hashable, Sendable {
        /// The bundle id required in signed data.
        package let bundleId: String
        /// The number in the app's App Store URL; required if production is served.
        package let appAppleId: Int64?
        /// The key of the App Store Server API, or nil if the store is not queried.
        package let apiKey: AppStoreKey?
        /// Apple's root of receipts, under the name `receipts`; nil if receipts are rejected.
        package let receiptRoot: TrustAnchor?
        /// When the store, real or simulated, is queried for missing notifications.
        package let backfill: BackfillSchedule
        /// The answers to the store's requests for consumption information.
        package let consumption: ConsumptionChoices

        /// Creates an app in the App Store.
        package init(
            bundleId: String,
            appAppleId: Int64? = nil,
            apiKey: AppStoreKey? = nil,
            receiptRoot: TrustAnchor? = nil,
            backfill: BackfillSchedule = BackfillSchedule(),
            consumption: ConsumptionChoices = ConsumptionChoices()
        ) {
            self.bundleId = bundleId
            self.appAppleId = appAppleId
            self.apiKey = apiKey
            self.receiptRoot = receiptRoot
            self.backfill = backfill
            self.consumption = consumption
        }
    }

    /// A key of the App Store Server API, created in App Store Connect. No file is open yet.
    package struct AppStoreKey: Hashable, Sendable {
        package let issuerId: String
        package let keyId: String
        /// The file with the private key in PEM.
        package let privateKeyFile: String
    }

    /// The app's identity and settings on Google Play.
    package struct GooglePlay: Hashable, Sendable {
        /// The package name required in notifications.
        package let packageName: String
        /// The file with the key of a service account for the Play Developer API; nil if the store
        /// is not queried.
        package let serviceAccountFile: String?
        /// The audience required in push tokens; nil, as is `email`, if nothing is pushed.
        package let audience: String?
        /// The service account required in push tokens.
        package let email: String?
        /// The subscription to pull from, `projects/P/subscriptions/S`; nil if nothing is pulled.
        package let pull: String?
        /// How purchases are polled where the store can be queried.
        package let choices: PlayChoices

        /// Creates an app on Google Play.
        package init(
            packageName: String,
            serviceAccountFile: String? = nil,
            audience: String? = nil,
            email: String? = nil,
            pull: String? = nil,
            choices: PlayChoices = PlayChoices()
        ) {
            self.packageName = packageName
            self.serviceAccountFile = serviceAccountFile
            self.audience = audience
            self.email = email
            self.pull = pull
            self.choices = choices
        }
    }

    /// The credentials of the app's RevenueCat project. No file is open yet. It can send webhooks if
    /// a header value or a signing secret is set.
    package struct RevenueCat: Hashable, Sendable {
        /// The file with the `Authorization` header value of its webhooks, or nil if none.
        package let webhookAuthorizationFile: String?
        /// The file with the secret that signs its webhooks, or nil if they are unsigned.
        package let signatureSecretFile: String?
        /// The file with a secret API key, or nil if RevenueCat is not queried.
        package let apiKeyFile: String?
        /// The keys and offerings of RevenueCat's SDKs, or nil if none is served.
        package let sdk: RevenueCatSDK?
    }

    /// A simulated store that is trusted only in the environment `simulated`.
    package struct SimulatedStore: Hashable, Sendable {
        /// The store's root certificate, under the name `simulated`.
        package let root: TrustAnchor
        /// The URL of the store, or nil if not configured.
        package let url: String?
        /// Its root of receipts, under the name `simulated`; nil if its receipts are rejected.
        package let receiptRoot: TrustAnchor?

        /// Creates a simulated store with its root certificate.
        package init(root: TrustAnchor, url: String? = nil, receiptRoot: TrustAnchor? = nil) {
            self.root = root
            self.url = url
            self.receiptRoot = receiptRoot
        }
    }
}
