import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures

// The schema: the members of each object of the file.

/// Reads a file that the configuration names; the error describes the cause.
typealias ConfigurationFileReader = (String) throws -> [UInt8]

extension ConfigurationSection {
    func readServer(in folder: ConfigurationFolder) -> Configuration.Server {
        let listen = value(
            "listen",
            .listenAddress,
            default: "\(ListenAddress.standard)"
        )
        let sdkListen = value("sdkListen", .listenAddress)
        if sdkListen == listen, listen.port != 0 {
            report(.repeated("\(listen)", firstLine: nil), of: "sdkListen")
        }
        let adminKeyFile = value("adminKeyFile", .fileName)
        let allowsReadableSecrets = value("allowReadableSecrets", .yesOrNo, default: "false")
        let checksRevocation = value("checkRevocation", .yesOrNo, default: "true")
        let publicURL = value("publicURL", .webAddress)
        let proxies = list("trustedProxies", of: .network, default: [])
        if proxies.contains(where: { $0.prefixLength == 0 }) {
            note(.trustsEverybody(path: path(of: "trustedProxies")))
        }
        let drain = value("drain", .duration, default: "0s")
        let limits = section("limits").readLimits()
        close()
        return Configuration.Server(
            listen: listen,
            sdkListen: sdkListen,
            publicURL: publicURL,
            trustedProxies: TrustedProxies(proxies),
            limits: limits,
            adminKeyFile: adminKeyFile.map(folder.path(of:)),
            allowsReadableSecrets: allowsReadableSecrets,
            checksRevocation: checksRevocation,
            drain: drain
        )
    }

    private func readLimits() -> Configuration.Limits {
        let standard = Configuration.Limits()
        let limits = Configuration.Limits(
            connectionsPerAddress: value(
                "connectionsPerAddress",
                .count(through: 1_024),
                default: "\(standard.connectionsPerAddress)"
            ),
            refusalsPerMinute: value(
                "refusalsPerMinute",
                .count(through: 10_000),
                default: "\(standard.refusalsPerMinute)"
            )
        )
        close()
        return limits
    }

    /// Reads where customers may be read from besides a storage.
    func readReplica(of storage: Configuration.StorageLocation) -> Configuration.Replica? {
        let address = value("storageReplica", .replica)
        let staleness = value("storageReplicaStaleness", .duration, default: "5s")
        guard let address else { return nil }
        if case .sqlite = storage { note(.replicaOfSQLite(path: path(of: "storageReplica"))) }
        return Configuration.Replica(address: address, staleness: staleness)
    }

    func readRetention() -> Configuration.Retention {
        let retention = Configuration.Retention(
            evidence: value("evidence", .keepingTime(atLeastDays: 30), default: "181d"),
            drift: value("drift", .keepingTime(atLeastDays: 7), default: "400d"),
            prompts: value("prompts", .keepingTime(atLeastDays: 7), default: "90d"),
            audit: value("audit", .keepingTime(atLeastDays: 30), default: "forever"),
            told: value(
                "told",
                .keepingTime(atLeastDays: Configuration.Retention.leastDaysOfEvents),
                default: "forever"
            ),
            customers: value("customers", .keepingTime(atLeastDays: 7), default: "90d")
        )
        close()
        return retention
    }

    /// Reads the apps. Their ids are read first, since variables address an app by its id.
    func readApps(
        in folder: ConfigurationFolder,
        _ readFile: ConfigurationFileReader
    ) -> [Configuration.App] {
        guard let sections = sections("apps", .apps, isNeeded: true) else { return [] }
        if sections.isEmpty { report(.mismatch(.apps, found: .emptyList), of: "apps") }
        let base = variable.map { ConfigurationVariable.name($0, "apps") }
        var first: [String: ConfigurationSource] = [:]
        var sdkKeys: Set<String> = []
        return sections.compactMap { app in
            app.variable = nil
            let id = app.value("id", .appId, isNeeded: true)
            if let id, let earlier = first[id] {
                app.report(.repeated(id, firstLine: earlier.line), of: "id")
            } else if let id {
                first[id] = app.source(of: "id")
                app.variable = base.map { ConfigurationVariable.name($0, id) }
            }
            let read = app.readApp(id: id, in: folder, readFile)
            // A request names its app by the key alone.
            for key in read?.revenueCat?.sdk?.keys ?? [] {
                if sdkKeys.insert(key).inserted { continue }
                app.report(.repeated(key, firstLine: nil), of: "revenueCat")
            }
            return read
        }
    }

    private func readApp(
        id: String?,
        in folder: ConfigurationFolder,
        _ readFile: ConfigurationFileReader
    ) -> Configuration.App? {
        let environments =
            list("environments", of: .environment, .environments, isNeeded: true) ?? []
        let appStore = readAppStore(environments, in: folder, readFile)
        let googlePlay = readGooglePlay(in: folder)
        let revenueCat = readRevenueCat(in: folder)
        let isServed = appStore != nil || googlePlay != nil || revenueCat != nil
        if !isServed, !["appStore", "googlePlay", "revenueCat"].contains(where: has) {
            note(.noStore(path: path))
        }
        let simulatedStore = readSimulatedStore(environments, in: folder, readFile)
        let catalogue = readCatalogue(in: folder, readFile)
        if let sdk = revenueCat?.sdk { noteOddities(sdk, of: catalogue) }
        var policy = section("policy").readPolicy(of: catalogue)
        let messages = section("messages").readMessages()
        let (experiments, armMessages) = section("experiments").readExperiments(
            of: catalogue,
            messages
        )
        policy.experiments = experiments
        let silence = value("silence", .duration, default: "6h")
        close()
        return id.map {
            Configuration.App(
                id: $0,
                environments: environments,
                appStore: appStore,
                googlePlay: googlePlay,
                revenueCat: revenueCat,
                simulatedStore: simulatedStore,
                catalogue: catalogue,
                policy: policy,
                silence: silence,
                messages: messages,
                armMessages: armMessages
            )
        }
    }

    func readPass(in folder: ConfigurationFolder) -> Configuration.Pass? {
        let issuer = value("issuer", .text, default: Configuration.Pass.standardIssuer)
        let keyFile = value("keyFile", .fileName, isNeeded: true)
        let others = list("otherKeyFiles", of: .fileName, default: [])
        close()
        return keyFile.map {
            Configuration.Pass(
                issuer: issuer,
                keyFile: folder.path(of: $0),
                otherKeyFiles: others.map(folder.path(of:))
            )
        }
    }

    /// Reads whether the dashboard is enabled.
    func readDashboard() -> Bool {
        let isEnabled = value("enabled", .yesOrNo, default: "false")
        close()
        return isEnabled
    }

    /// Reads the webhooks of these apps.
    func readWebhooks(
        of apps: [Configuration.App],
        in folder: ConfigurationFolder
    ) -> [Configuration.Webhook] {
        var ids: Set<String> = []
        return (sections("webhooks") ?? []).compactMap { section in
            guard let webhook = section.readWebhook(of: apps, in: folder) else { return nil }
            guard ids.insert(webhook.id).inserted else {
                section.report(.repeated(webhook.id, firstLine: nil), of: "id")
                return nil
            }
            return webhook
        }
    }

    private func readWebhook(
        of apps: [Configuration.App],
        in folder: ConfigurationFolder
    ) -> Configuration.Webhook? {
        let id = value("id", .appId)
        let named = list("apps", of: .oneOf(apps.map(\.id)), default: [])
        let url = value("url", .receiver, isNeeded: true)
        let events = list("events", of: .eventKinds, .events, default: ["*"])
        let environments = list("environments", of: .environment, .environments, default: [])
        let secretFile = value("secretFile", .fileName, isNeeded: true)
        let previousSecretFile = value("previousSecretFile", .fileName)
        let signingKeyFile = value("signingKeyFile", .fileName)
        let allowNetworks = list("allowNetworks", of: .network, default: [])
        let words = WebhookFormat.allCases.map(\.rawValue)
        let format = value("format", .oneOf(words), default: WebhookFormat.tideover.rawValue)
        let authorizationFile = value("authorizationFile", .fileName)
        close()
        guard let url, let secretFile, let events = WebhookFilter(events) else { return nil }
        for pattern in events.unmatched {
            note(.noSuchEvent(path: path(of: "events"), pattern: pattern))
        }
        noteUnserved(environments, by: named.isEmpty ? apps : apps.filter { named.contains($0.id) })
        switch WebhookURL.objection(to: url, allowNetworks) {
        case nil: break
        case .unprotected:
            report(.unprotectedWebhook, of: "url")
            return nil
        case .notPublic(let use):
            report(.webhookNotPublic(use), of: "url")
            return nil
        }
        return Configuration.Webhook(
            id: id ?? Hexadecimal.text(SHA256.hash(Array(url.utf8)).prefix(6)),
            apps: named,
            url: url,
            events: events,
            environments: environments,
            secretFile: folder.path(of: secretFile),
            previousSecretFile: previousSecretFile.map(folder.path(of:)),
            signingKeyFile: signingKeyFile.map(folder.path(of:)),
            allowNetworks: allowNetworks,
            format: WebhookFormat(rawValue: format) ?? .tideover,
            authorizationFile: authorizationFile.map(folder.path(of:))
        )
    }

    /// Notes the environments of a webhook that none of its apps serves. Apps that cannot be read
    /// are reported as such.
    private func noteUnserved(_ environments: [Environment], by apps: [Configuration.App]) {
        let served = apps.flatMap(\.environments)
        for environment in environments where !served.isEmpty && !served.contains(environment) {
            let path = path(of: "environments")
            note(.noSuchEnvironment(path: path, environment: environment.rawValue))
        }
    }
}

// MARK: - Stores

extension ConfigurationSection {
    private func readAppStore(
        _ environments: [Environment],
        in folder: ConfigurationFolder,
        _ readFile: ConfigurationFileReader
    ) -> Configuration.AppStore? {
        let store = section("appStore")
        let isReal = environments.contains(.production)
        let bundleId = store.value("bundleId", .bundleId, isNeeded: true)
        let appAppleId = store.value("appAppleId", .appAppleId, isNeeded: isReal)
        let apiKey = store.readAPIKey(in: folder)
        let receiptRoot = store.value("receiptRoot", .fileName)
        let backfill = store.section("backfill").readBackfill()
        let consumption = store.section("consumption").readConsumption()
        guard store.close() else { return nil }
        return bundleId.map {
            Configuration.AppStore(
                bundleId: $0,
                appAppleId: appAppleId,
                apiKey: apiKey,
                receiptRoot: receiptRoot.flatMap { file in
                    store.readRoot("receiptRoot", folder.path(of: file), "receipts", .rsa, readFile)
                },
                backfill: backfill,
                consumption: consumption
            )
        }
    }

    private func readBackfill() -> BackfillSchedule {
        let schedule = BackfillSchedule(
            interval: value("interval", .duration, default: "6h"),
            gap: value("gap", .duration, default: "15m"),
            afterGap: value("afterGap", .duration, default: "1m")
        )
        close()
        return schedule
    }

    private func readConsumption() -> ConsumptionChoices {
        let preferences = ConsumptionInformation.RefundPreference.allCases
        let preference = value(
            "refundPreference",
            .oneOf(preferences.map { "\($0)" })
        )
        let choices = ConsumptionChoices(
            customersConsent: value("customersConsent", .yesOrNo, default: "false"),
            sampleContentProvided: value("sampleContentProvided", .yesOrNo, default: "false"),
            refundPreference: preferences.first { "\($0)" == preference }
        )
        close()
        return choices
    }

    /// Reads a key of the App Store Server API; all three members are required if any is present.
    private func readAPIKey(in folder: ConfigurationFolder) -> Configuration.AppStoreKey? {
        let issuerId = value("issuerId", .text)
        let keyId = value("keyId", .text)
        let file = value("privateKeyFile", .fileName)
        guard ["issuerId", "keyId", "privateKeyFile"].contains(where: has) else { return nil }
        demand("issuerId", .text)
        demand("keyId", .text)
        demand("privateKeyFile", .fileName)
        guard let issuerId, let keyId, let file else { return nil }
        return Configuration.AppStoreKey(
            issuerId: issuerId,
            keyId: keyId,
            privateKeyFile: folder.path(of: file)
        )
    }

    /// Reads the simulated store. If its environment is not served, it is not trusted and its root
    /// is not read.
    private func readSimulatedStore(
        _ environments: [Environment],
        in folder: ConfigurationFolder,
        _ readFile: ConfigurationFileReader
    ) -> Configuration.SimulatedStore? {
        let store = section("simulatedStore")
        let url = store.value("url", .webAddress)
        let file = store.value("root", .fileName, isNeeded: true)
        let receiptFile = store.value("receiptRoot", .fileName)
        let isServed = environments.contains(.simulated)
        guard store.close() else {
            if isServed { report(.simulatedStoreMissing, of: "environments") }
            return nil
        }
        guard isServed else {
            note(.simulatedStoreUnused(path: store.path))
            return nil
        }
        let name = Environment.simulated.rawValue
        let root = file.flatMap {
            store.readRoot("root", folder.path(of: $0), name, .ellipticCurve, readFile)
        }
        let receiptRoot = receiptFile.flatMap {
            store.readRoot("receiptRoot", folder.path(of: $0), name, .rsa, readFile)
        }
        return root.map {
            Configuration.SimulatedStore(root: $0, url: url, receiptRoot: receiptRoot)
        }
    }

    /// Returns the certificate in the file that a member names, to be pinned under a name.
    private func readRoot(
        _ key: String,
        _ path: String,
        _ name: String,
        _ keys: KeyFamily,
        _ readFile: ConfigurationFileReader
    ) -> TrustAnchor? {
        let bytes: [UInt8]
        do {
            bytes = try readFile(path)
        } catch {
            report(.unreadableFile(path: path, cause: "\(error)"), of: key)
            return nil
        }
        do {
            return try TrustAnchor(name: name, der: bytes, keys: keys)
        } catch {
            let isText = bytes.starts(with: "-----BEGIN".utf8)
            report(
                isText
                    ? .certificateInPEM(path: path)
                    : .unusableCertificate(path: path, error),
                of: key
            )
            return nil
        }
    }

    private func readGooglePlay(in folder: ConfigurationFolder) -> Configuration.GooglePlay? {
        let play = section("googlePlay")
        let packageName = play.value("packageName", .packageName, isNeeded: true)
        let pull = play.section("pull")
        let subscription = pull.value("subscription", .pubSubSubscription, isNeeded: true)
        let isPulled = pull.close()
        // Pulling requires a service account.
        let file = play.value("serviceAccountFile", .fileName, isNeeded: isPulled)
        let push = play.section("push")
        let audience = push.value("audience", .text, isNeeded: true)
        let email = push.value("email", .email, isNeeded: true)
        let isPushed = push.close() || !isPulled
        if isPushed, !push.isPresent { play.demand("push", .pushOrPull) }
        let choices = PlayChoices(
            acknowledges: play.value("acknowledge", .yesOrNo, default: "true"),
            backfill: play.section("backfill").readBackfill()
        )
        guard play.close(), let packageName, isPulled == (subscription != nil),
            !isPushed || (audience != nil && email != nil)
        else { return nil }
        return Configuration.GooglePlay(
            packageName: packageName,
            serviceAccountFile: file.map(folder.path(of:)),
            audience: audience,
            email: email,
            pull: subscription,
            choices: choices
        )
    }

    private func readRevenueCat(
        in folder: ConfigurationFolder
    ) -> Configuration.RevenueCat? {
        let revenueCat = section("revenueCat")
        let authorization = revenueCat.value("webhookAuthorizationFile", .fileName)
        let secret = revenueCat.value("signatureSecretFile", .fileName)
        let key = revenueCat.value("apiKeyFile", .fileName)
        let sdk = revenueCat.section("sdk").readSDK(in: folder)
        guard revenueCat.close() else { return nil }
        return Configuration.RevenueCat(
            webhookAuthorizationFile: authorization.map(folder.path(of:)),
            signatureSecretFile: secret.map(folder.path(of:)),
            apiKeyFile: key.map(folder.path(of:)),
            sdk: sdk
        )
    }

    /// Notes what an app with RevenueCat's SDK could not offer.
    private func noteOddities(_ sdk: RevenueCatSDK, of catalogue: Catalogue) {
        let place = "\(path(of: "revenueCat")).sdk"
        for offering in sdk.offerings {
            for package in offering.packages {
                for product in package.products where catalogue.products[product] == nil {
                    let path = "\(place).offerings.\(offering.identifier).packages"
                    note(
                        .offeredProductUnknown(
                            path: "\(path).\(package.identifier)",
                            product: product
                        )
                    )
                }
            }
        }
        let known = Set(sdk.offerings.map(\.identifier))
        if let current = sdk.currentOffering, !known.contains(current) {
            note(.currentOfferingUnknown(path: "\(place).currentOffering", offering: current))
        }
        for placement in sdk.placements where !known.contains(placement.offering) {
            let path = "\(place).placements.\(placement.identifier)"
            note(.placedOfferingUnknown(path: path, offering: placement.offering))
        }
    }

    private func readSDK(in folder: ConfigurationFolder) -> RevenueCatSDK? {
        let appStoreKeys = list("appStoreKeys", of: .text, default: [])
        let googlePlayKeys = list("googlePlayKeys", of: .text, default: [])
        let current = value("currentOffering", .text)
        let promotional = list("promotionalOffers", of: .text, default: [])
        let supportEmail = value("supportEmail", .email)
        let signingKeyFile = value("signingKeyFile", .fileName)
        let named = section("offerings")
        // These names are the operator's, so no variable can be named after them.
        named.variable = nil
        let offerings = named.namedSections().map { name, offering in
            let description = offering.value("description", .text)
            let packages = offering.section("packages").namedLists(of: .text).map {
                RevenueCatSDK.Package(identifier: $0.name, products: $0.list)
            }
            let metadata = offering.object("metadata")
            offering.close()
            return RevenueCatSDK.Offering(
                identifier: name,
                description: description ?? name,
                packages: packages,
                metadata: metadata ?? [:]
            )
        }
        let places = section("placements")
        places.variable = nil
        let placements = places.namedValues(of: .text).map {
            RevenueCatSDK.Placement(identifier: $0.name, offering: $0.value)
        }
        guard close() else { return nil }
        return RevenueCatSDK(
            appStoreKeys: appStoreKeys,
            googlePlayKeys: googlePlayKeys,
            currentOffering: current,
            offerings: offerings,
            placements: placements,
            promotionalOffers: promotional,
            supportEmail: supportEmail,
            signingKeyFile: signingKeyFile.map(folder.path(of:))
        )
    }
}

// MARK: - Products

extension ConfigurationSection {
    private func readCatalogue(
        in folder: ConfigurationFolder,
        _ readFile: ConfigurationFileReader
    ) -> Catalogue {
        let inFile = readCatalogueFile(in: folder, readFile)
        let named = section("products").namedSections().compactMap { name, product in
            product.readProduct().map { (name, $0) }
        }
        let listed = Dictionary(named) { first, _ in first }
        for (id, product) in inFile.sorted(by: { $0.key < $1.key })
        where listed[id] == nil && product.endsAtOnce {
            note(.noLength(path: path(of: "catalogue"), product: id))
        }
        let products = inFile.merging(listed) { _, own in own }
        if products.isEmpty { note(.noProducts(path: path)) }
        return Catalogue(products: products)
    }

    private func readProduct() -> Product? {
        let kind = value("kind", .productKind)
        // A product with an invalid kind has no required members.
        let assumed =
            kind
            ?? (has("kind") ? .consumable : standard("kind", .productKind, "autoRenewable"))
        let product = Product(
            entitlements: readEntitlements(assumed),
            kind: assumed,
            group: value("group", .text),
            period: value("period", .period, isNeeded: assumed == .nonRenewing),
            trial: value("trial", .period),
            price: value("price", .price),
            grace: value("grace", .period),
            store: value("store", .store)
        )
        close()
        guard kind != nil || !has("kind") else { return nil }
        if kind == .consumable && !product.entitlements.isEmpty {
            report(.consumableWithEntitlements, of: "entitlements")
        }
        noteOddities(assumed)
        return product
    }

    private func readEntitlements(_ kind: Product.Kind) -> [String] {
        let isConsumable = kind == .consumable
        let entitlements = list(
            "entitlements",
            of: .text,
            .entitlements,
            isNeeded: !isConsumable,
            mayBeEmpty: isConsumable
        )
        return entitlements ?? []
    }

    private func noteOddities(_ kind: Product.Kind) {
        if kind == .autoRenewable && !has("period") { note(.noPeriod(path: path)) }
        let foreign: [String] =
            switch kind {
            case .autoRenewable: []
            case .nonRenewing: ["group", "trial", "grace"]
            case .nonConsumable, .consumable: ["group", "period", "trial", "grace"]
            }
        for key in foreign where has(key) {
            note(.withoutEffect(path: path(of: key), kind: kind.rawValue))
        }
    }
}

extension Product {
    /// Whether a purchase unlocks something that nothing gives a length.
    fileprivate var endsAtOnce: Bool {
        kind == .nonRenewing && period == nil && !entitlements.isEmpty
    }
}

// MARK: - Policy

extension ConfigurationSection {
    func readPolicy(of catalogue: Catalogue) -> Policy {
        var policy = Policy(
            billingRetry: value("billingRetry", .billingRetry, default: "suspend"),
            renewalLeeway: value("renewalLeeway", .duration, default: "24h"),
            unreachable: value("unreachable", .duration, default: "24h"),
            sandbox: value("sandbox", .sandbox, default: "testers"),
            testers: list("testers", of: .customer, default: []),
            transfer: value("transfer", .transfer, default: "claim")
        )
        policy.reminders = section("reminders").readReminders()
        policy.prompts = section("prompts").readPrompts()
        policy.plan = section("plan").readPlan()
        policy.unknownProduct = readUnknownProduct(of: catalogue)
        close()
        return policy
    }

    /// Reads `deny`, `allow-all`, or a list of entitlements of the catalogue.
    private func readUnknownProduct(of catalogue: Catalogue) -> Policy.UnknownProduct {
        let key = "unknownProduct"
        let words = list(key, of: .text, .unknownProduct, default: ["deny"], mayBeWord: true)
        let choice = Policy.UnknownProduct(words: words)
        guard case .allow(let names) = choice else { return choice }
        for name in names where !catalogue.entitlements.contains(name) {
            report(.mismatch(.unknownProduct, found: .text(name)), of: key)
        }
        return choice
    }

    private func readReminders() -> Policy.Reminders {
        let reminders = Policy.Reminders(
            trialEnding: value("trialEnding", .duration, default: "48h"),
            graceEnding: value("graceEnding", .duration, default: "3d")
        )
        close()
        return reminders
    }

    private func readPlan() -> Policy.Plan {
        var plan = Policy.Plan()
        for kind in PlannedMessage.Kind.allCases {
            plan.channels[kind] = value(kind.rawValue, .channel, default: "off").channel
        }
        close()
        return plan
    }

    private func readPrompts() -> Policy.Prompts {
        let perDay = value("perDay", .count(through: 1000), default: "0")
        let prompts = Policy.Prompts(
            quiet: value("quiet", .duration, default: "0s"),
            interval: value("interval", .duration, default: "0s"),
            perDay: perDay == 0 ? nil : Int64(perDay)
        )
        close()
        return prompts
    }
}

// MARK: - Experiments

extension ConfigurationSection {
    fileprivate typealias Texts = [String: [MessageText]]

    /// Reads experiments, and the texts of their arms. `texts` are those of the app.
    fileprivate func readExperiments(
        of catalogue: Catalogue,
        _ texts: Texts
    ) -> ([Experiment], [ArmName: Texts]) {
        // These names have hyphens and dots, so no variable can be named after them.
        variable = nil
        var messages: [ArmName: Texts] = [:]
        let experiments = namedSections().compactMap { id, section in
            section.readExperiment(id, of: catalogue) { arm, section in
                let own = section.readMessages(over: texts)
                if !own.isEmpty { messages[ArmName(experiment: id, arm: arm)] = own }
            }
        }
        return (experiments, messages)
    }

    private func readExperiment(
        _ id: String,
        of catalogue: Catalogue,
        _ readMessages: (_ arm: String, ConfigurationSection) -> Void
    ) -> Experiment? {
        let names = ConfigurationForm<String>(expectation: .oneOf(catalogue.entitlements)) {
            catalogue.entitlements.contains($0) ? $0 : nil
        }
        let entitlement = value("entitlement", names, isNeeded: true)
        let start = value("start", .instant, isNeeded: true)
        let end = value("end", .instant)
        let days = value("days", .count(through: Experiment.mostDays), default: "30")
        let points = value("points", .count(through: Experiment.mostPoints), default: "5")
        let arms = section("arms").namedSections().map { name, arm in
            readMessages(name, arm.section("messages"))
            return arm.readArm(name)
        }
        if arms.count < 2 { report(.mismatch(.arms, found: .text("\(arms.count)")), of: "arms") }
        close()
        guard let entitlement, let start, arms.count > 1 else { return nil }
        return Experiment(
            id: id,
            entitlement: entitlement,
            start: start,
            end: end,
            days: max(1, days),
            points: max(1, points),
            arms: arms
        )
    }

    private func readArm(_ name: String) -> Experiment.Arm {
        let arm = Experiment.Arm(
            name,
            weight: max(
                1,
                value("weight", .count(through: Experiment.Arm.mostWeight), default: "1")
            ),
            isHoldout: value("holdout", .yesOrNo, default: "false"),
            quiet: value("quiet", .duration),
            channel: value("channel", .channel)?.channel
        )
        close()
        return arm
    }
}

// MARK: - Texts for customers

extension ConfigurationSection {
    /// Reads texts by language and key. The names are those of the built-in texts. What a text
    /// leaves out is as in `standard`, or else built in.
    fileprivate func readMessages(over standard: Texts = [:]) -> Texts {
        // These names have hyphens and dots, so no variable can be named after them.
        variable = nil
        var texts: Texts = [:]
        for (tag, messages) in namedSections() {
            guard var language = MessageLanguage.all.first(where: { $0.tag == tag }) else {
                reportUnknown(tag, among: MessageLanguage.all.map(\.tag))
                continue
            }
            for text in standard[tag] ?? [] { language.replace(text) }
            texts[tag] = messages.readMessages(of: language)
        }
        return texts
    }

    private func readMessages(of language: MessageLanguage) -> [MessageText] {
        namedSections().compactMap { name, message in
            guard let key = MessageText.Key(rawValue: name) else {
                reportUnknown(name, among: MessageText.Key.allCases.map(\.rawValue))
                return nil
            }
            return message.readMessage(in: language[key])
        }
    }

    /// Reads the texts that replace a built-in message. What is left out stays.
    private func readMessage(in standard: MessageText) -> MessageText {
        let title = value("title", .message(standard.key)) ?? standard.title
        let message = value("message", .message(standard.key)) ?? standard.message
        let label = standard.label.map { value("label", .text) ?? $0 }
        close()
        return MessageText(standard.key, title, message, label: label)
    }

    private func reportUnknown(_ name: String, among known: [String]) {
        report(.unknownKey(name, closest: closestName(to: name, among: known)), of: name)
    }
}
