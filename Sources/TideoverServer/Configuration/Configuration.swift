public import TideoverCore
public import TideoverHTTP
public import TideoverSignatures

/// What the operator has chosen: the file `tideover.json` and the environment variables that
/// overrule it, checked as a whole.
public struct Configuration: Hashable, Sendable {
    /// How the server is reached.
    public let server: Server
    /// Where what is durable is kept.
    public let storage: StorageLocation
    /// The apps in the order of the file; their ids differ.
    public let apps: [App]
    /// How long is kept what no answer is derived from.
    public let retention: Retention
    /// Who signs passes; nil if none are issued.
    public let pass: Pass?
    /// What is set but has no effect, or looks like a slip: one sentence each.
    public let notices: [String]

    /// A configuration made in code; what a file must obey is not checked here.
    public init(
        server: Server,
        storage: StorageLocation,
        apps: [App],
        retention: Retention = Retention(),
        pass: Pass? = nil,
        notices: [String] = []
    ) {
        self.server = server
        self.storage = storage
        self.apps = apps
        self.retention = retention
        self.pass = pass
        self.notices = notices
    }

    /// The app of an id; nil if none is configured.
    public func app(_ id: String) -> App? {
        apps.first { $0.id == id }
    }
}

extension Configuration {
    /// How the server is reached.
    public struct Server: Hashable, Sendable {
        /// Where connections are accepted.
        public let listen: ListenAddress
        /// The URL under which the internet reaches it; nil if that was not said.
        public let publicURL: String?
        /// Who is believed about the address of a client.
        public let trustedProxies: TrustedProxies
        /// How much one client may use of it.
        public let limits: Limits
        /// The file with a key of kind admin that is accepted without being stored, and that commands
        /// present; nil if there is none.
        public let adminKeyFile: String?
        /// Whether it starts although others than the owner of a file with a secret may open it.
        public let allowsReadableSecrets: Bool
        /// How long it goes on serving once it is told to stop, while `/readyz` says that it will.
        public let drain: Milliseconds

        /// A server that listens at an address.
        public init(
            listen: ListenAddress = .standard,
            publicURL: String? = nil,
            trustedProxies: TrustedProxies = TrustedProxies(),
            limits: Limits = Limits(),
            adminKeyFile: String? = nil,
            allowsReadableSecrets: Bool = false,
            drain: Milliseconds = .zero
        ) {
            self.listen = listen
            self.publicURL = publicURL
            self.trustedProxies = trustedProxies
            self.limits = limits
            self.adminKeyFile = adminKeyFile
            self.allowsReadableSecrets = allowsReadableSecrets
            self.drain = drain
        }
    }

    /// How much of the server one client may use: an address, of IPv6 a network of 64 bits.
    public struct Limits: Hashable, Sendable {
        /// How many connections it may have open; 0 is no limit.
        public let connectionsPerAddress: Int
        /// How many of its notifications for one app are verified and refused in a minute, before
        /// no more are verified; 0 is no limit.
        public let refusalsPerMinute: Int

        /// Limits for a server that faces the internet.
        public init(connectionsPerAddress: Int = 64, refusalsPerMinute: Int = 60) {
            self.connectionsPerAddress = connectionsPerAddress
            self.refusalsPerMinute = refusalsPerMinute
        }
    }

    /// Where what is durable is kept.
    public enum StorageLocation: Hashable, Sendable {
        /// A database file of SQLite.
        case sqlite(path: String)
    }
}

/// How long something is kept.
public struct KeepingTime: Hashable, Sendable {
    /// Nil for ever.
    public let length: Milliseconds?

    public init(_ length: Milliseconds?) { self.length = length }

    public static let forever = KeepingTime(nil)
}

extension Configuration {
    /// How long is kept what no answer is derived from: by kind, since it arrived or ended.
    public struct Retention: Hashable, Sendable {
        /// Evidence that contained no new fact.
        public let evidence: KeepingTime
        /// Differences from what devices saw, once they have ended.
        public let drift: KeepingTime
        /// Prompts that were shown.
        public let prompts: KeepingTime
        /// Lines of the audit.
        public let audit: KeepingTime
        /// Events.
        public let told: KeepingTime
        /// Ids of customers of whom nothing is known.
        public let customers: KeepingTime

        public init(
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

    /// Who signs the passes that devices trust offline.
    public struct Pass: Hashable, Sendable {
        /// The name that passes carry and devices expect.
        public let issuer: String
        /// The file with the private key that signs, in PEM.
        public let keyFile: String
        /// Files with further keys, public or private, whose passes count: former ones, and one that is
        /// to sign next.
        public let otherKeyFiles: [String]

        /// An issuer of which no file is opened yet.
        public init(
            issuer: String = standardIssuer,
            keyFile: String,
            otherKeyFiles: [String] = []
        ) {
            self.issuer = issuer
            self.keyFile = keyFile
            self.otherKeyFiles = otherKeyFiles
        }

        /// The name of an issuer that was given none.
        public static let standardIssuer = "tideover"
    }

    /// One app: where its purchases come from, what they unlock, and the operator's choices.
    public struct App: Hashable, Sendable {
        /// Up to 63 lower-case letters, digits and hyphens; a hyphen does not come first.
        public let id: String
        /// The environments that are served, in the operator's order, at least one; never `xcode`.
        public let environments: [Environment]
        /// The app in the App Store; nil if it is not sold there.
        public let appStore: AppStore?
        /// The app on Google Play; nil if it is not sold there.
        public let googlePlay: GooglePlay?
        /// What RevenueCat may tell of the app's purchases; nil if it tells nothing.
        public let revenueCat: RevenueCat?
        /// The simulated store whose word counts; there is one exactly if `simulated` is served.
        public let simulatedStore: SimulatedStore?
        /// The products and what they unlock.
        public let catalogue: Catalogue
        /// The operator's choices where the stores leave one.
        public let policy: Policy
        /// How long after a renewal fell due no notification may arrive before that is raised; zero for
        /// ever.
        public let silence: Milliseconds

        /// An app made in code.
        public init(
            id: String,
            environments: [Environment],
            appStore: AppStore? = nil,
            googlePlay: GooglePlay? = nil,
            revenueCat: RevenueCat? = nil,
            simulatedStore: SimulatedStore? = nil,
            catalogue: Catalogue = Catalogue(),
            policy: Policy = Policy(),
            silence: Milliseconds = .hours(6)
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
        }
    }

    /// The app as the App Store knows it.
    public struct AppStore: Hashable, Sendable {
        /// The bundle id that signed data must name.
        public let bundleId: String
        /// The number in the app's App Store URL; always there if production is served.
        public let appAppleId: Int64?
        /// What opens the App Store Server API; nil if the store is not to be asked.
        public let apiKey: AppStoreKey?
        /// Apple's root of receipts, under the name `receipts`; nil if none is believed.
        public let receiptRoot: TrustAnchor?
        /// When the store, real or simulated, is asked for what has not arrived by itself.
        public let backfill: BackfillSchedule
        /// How its requests for consumption information are answered.
        public let consumption: ConsumptionChoices

        /// An app in the App Store.
        public init(
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

    /// A key of the App Store Server API, made in App Store Connect.
    public struct AppStoreKey: Hashable, Sendable {
        public let issuerId: String
        public let keyId: String
        /// The file with the private key in PEM.
        public let privateKeyFile: String

        /// A key of which the file is not opened yet.
        public init(issuerId: String, keyId: String, privateKeyFile: String) {
            self.issuerId = issuerId
            self.keyId = keyId
            self.privateKeyFile = privateKeyFile
        }
    }

    /// The app as Google Play knows it.
    public struct GooglePlay: Hashable, Sendable {
        /// The package name that notifications must be for.
        public let packageName: String
        /// The file with the key of a service account that may ask the Play Developer API; nil if the
        /// store is not to be asked.
        public let serviceAccountFile: String?
        /// What tokens of pushes must be addressed to; with `email`, nil where nothing is pushed.
        public let audience: String?
        /// The service account that pushes must come from.
        public let email: String?
        /// The subscription that messages are pulled from, `projects/P/subscriptions/S`; nil where none
        /// are.
        public let pull: String?
        /// How purchases are kept up with where the store can be asked.
        public let choices: PlayChoices

        /// An app on Google Play.
        public init(
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

    /// What the app's RevenueCat project is known by. No file is opened yet.
    public struct RevenueCat: Hashable, Sendable {
        /// The file with the value of the `Authorization` header of its webhooks; nil if none is set.
        public let webhookAuthorizationFile: String?
        /// The file with the secret that its webhooks are signed with; nil if they are not signed.
        public let signatureSecretFile: String?
        /// The file with a secret API key; nil if RevenueCat is not to be asked.
        public let apiKeyFile: String?

        /// A project that may send webhooks if it is known by something.
        public init(
            webhookAuthorizationFile: String? = nil,
            signatureSecretFile: String? = nil,
            apiKeyFile: String? = nil
        ) {
            self.webhookAuthorizationFile = webhookAuthorizationFile
            self.signatureSecretFile = signatureSecretFile
            self.apiKeyFile = apiKeyFile
        }
    }

    /// A simulated store that is believed in the environment `simulated`, and only there.
    public struct SimulatedStore: Hashable, Sendable {
        /// The store's root certificate, under the name `simulated`.
        public let root: TrustAnchor
        /// Where it answers; nil if that was not said.
        public let url: String?
        /// Its root of receipts, under the name `simulated`; nil if none of its receipts are believed.
        public let receiptRoot: TrustAnchor?

        /// A simulated store known by its root certificate.
        public init(root: TrustAnchor, url: String? = nil, receiptRoot: TrustAnchor? = nil) {
            self.root = root
            self.url = url
            self.receiptRoot = receiptRoot
        }
    }
}
