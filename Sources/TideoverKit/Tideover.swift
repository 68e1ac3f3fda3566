public import TideoverCore
public import TideoverHTTP

/// The entry point of the kit.
public enum Tideover {
    /// The app's configuration.
    public struct Configuration: Sendable {
        public var bundleId: String
        /// The customer's id in the app's own back end. Use a UUID, so that purchases contain it.
        public var customer: CustomerID
        /// The products and their entitlements.
        public var products: [SoldProduct]
        /// Nil if there is no server.
        public var server: Server?
        /// When the app removes files made with a refunded entitlement.
        public var artifacts = ArtifactBoundary.endOfPeriod
        /// The environment if neither a purchase nor StoreKit's record of the app names it.
        public var environment = TideoverCore.Environment.production
        /// The operator's policy; use the same one as the server.
        public var policy = Policy()

        public init(
            bundleId: String,
            customer: CustomerID,
            products: [SoldProduct],
            server: Server? = nil
        ) {
            self.bundleId = bundleId
            self.customer = customer
            self.products = products
            self.server = server
        }

        package var settings: KitSettings {
            var settings = KitSettings(
                bundleId: bundleId,
                customer: customer,
                catalogue: Catalogue(
                    products: Dictionary(products.map { ($0.id, $0.product) }) { $1 }
                )
            )
            settings.policy = policy
            settings.environment = environment
            settings.artifacts = artifacts
            settings.server = server.map {
                ServerIdentity(
                    app: $0.app,
                    apiKey: $0.apiKey,
                    issuer: $0.issuer,
                    pinnedKeys: $0.passKeys
                )
            }
            return settings
        }
    }

    /// A Tideover server.
    public struct Server: Sendable {
        /// The app's id on the server.
        public var app: String
        /// A public key, made with `tideover keys add`.
        public var apiKey: String
        /// The server's address.
        public var url: String
        /// `pass.issuer` of the server's configuration, which is `tideover` unless given.
        public var issuer: String
        /// Keys that verify passes, built into the app. The server's published keys are trusted
        /// too.
        public var passKeys: [PassKey]

        public init(
            app: String,
            apiKey: String,
            url: String,
            issuer: String? = nil,
            passKeys: [PassKey] = []
        ) {
            self.app = app
            self.apiKey = apiKey
            self.url = url
            self.issuer = issuer ?? "tideover"
            self.passKeys = passKeys
        }

        /// The address without a slash at its end: the path of a request begins with one.
        package var base: String {
            String(url.reversed().drop { $0 == "/" }.reversed())
        }
    }

    /// Starts with injected effects, for tests. It returns at once; the store has answers after its
    /// first reading or response.
    @MainActor
    public static func start(
        _ configuration: Configuration,
        source: StoreSource,
        file: KeptFile,
        network: @escaping Handler,
        verify: @escaping PassSignatureCheck
    ) -> EntitlementStore {
        let effects = KitEffects(
            source: source,
            file: file,
            network: network,
            verify: verify,
            clock: SystemClock.read,
            sleep: { try await Task.sleep(for: .milliseconds($0.count)) }
        )
        var settings = configuration.settings
        settings.isFileLasting = file.isLasting
        let store = EntitlementStore(settings, effects)
        Task { await store.start() }
        return store
    }
}

/// The app's description of a product.
public struct SoldProduct: Hashable, Sendable {
    public var id: String
    /// The entitlements that it unlocks.
    public var unlocks: [String]
    public var kind: TideoverCore.Product.Kind
    /// The length of a period. It is needed for non-renewing purchases, and distinguishes a
    /// sandbox's short months from real ones.
    public var period: Period?
    /// The subscription group. Customers get one free trial in each.
    public var group: String?
    /// The length of its free trial, if it has one.
    public var trial: Period?

    public init(
        _ id: String,
        unlocks: [String],
        kind: TideoverCore.Product.Kind = .autoRenewable,
        period: Period? = nil,
        group: String? = nil,
        trial: Period? = nil
    ) {
        self.id = id
        self.unlocks = unlocks
        self.kind = kind
        self.period = period
        self.group = group
        self.trial = trial
    }

    package var product: TideoverCore.Product {
        TideoverCore.Product(
            entitlements: unlocks,
            kind: kind,
            group: group,
            period: period,
            trial: trial
        )
    }
}
