import TideoverCore
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

// The SDK names the SHA-256 digest of the app user id as the account of a purchase on Google Play.
// So the store names an owner that no customer uses as an id.

extension SDKVisit {
    /// Joins a customer with the owner of a purchase if the SDK itself named the owner. A customer
    /// with too many ids for that gets the purchase alone.
    ///
    /// On Google Play the SDK names the SHA-256 digest of the app user id as the account of a
    /// purchase, so the digest's purchases are the customer's. The purchase can be older than a
    /// log-in, so each of the customer's ids counts. An account of an installation counts too after
    /// a log-in from it, which moved its purchases to the customer or found none. The account of an
    /// id that names no customer, such as `null`, is that of many: its purchase is the presenter's.
    func adopts(_ lineage: Lineage, _ customer: CustomerID) async throws -> Bool {
        let owner = try await onPool {
            try context.storage.lineageRecord(lineage, app: app.id).owners.owner(at: now)
        }
        let ids = try await onPool {
            try app.environments.reduce(into: Set([customer])) { ids, environment in
                ids.formUnion(
                    try context.storage.identity(of: key(of: customer, in: environment)).all
                )
            }
        }
        guard let owner else { return false }
        let isOfNone = Self.accountsOfNone.contains(owner)
        if !isOfNone, !ids.contains(where: { $0.sdkAccounts.contains(owner) }) {
            if try await isOfFormerInstallation(owner, of: ids, in: lineage.environment) {
                return try await claim(lineage, for: customer, by: ruleOfLogIns)
            }
            let logIns = SDKLogIns(context)
            guard let known = try await onPool({ try logIns.customer(of: owner) }),
                ids.contains(known)
            else { return false }
        }
        // A join would make the customer the owner of all purchases with such an account.
        if !isOfNone,
            try await join(owner, to: customer, why: "account id of RevenueCat's SDK")
        {
            return true
        }
        return try await claim(lineage, for: customer) { claim, record, _ throws(StorageError) in
            let isUnchanged = record.owners.owner(at: claim.at) == owner
            return isUnchanged ? .granted(claim.transfer) : .refused(.heldByAnother)
        }
    }

    /// The accounts that the SDK names on Google Play for ids that name no customer.
    private static let accountsOfNone = Set(
        SDKUserID.reserved.compactMap { CustomerID($0)?.sdkAccount }
    )

    /// Whether an account belongs to an installation, and a purchase that the installation has or
    /// had moved to the customer with the given ids, as by a log-in. That the customer had one
    /// before the installation shows nothing.
    private func isOfFormerInstallation(
        _ account: CustomerID,
        of ids: Set<CustomerID>,
        in environment: Environment
    ) async throws -> Bool {
        try await onPool {
            try context.storage.read { reader throws(StorageError) in
                let key = key(of: account, in: environment)
                guard try reader.identity(of: key).isInstallation() else { return false }
                return try reader.knownLineages(of: key, now: now).lineageRecords
                    .contains {
                        $0.owners.contains { $0.why == .transferred && ids.contains($0.customer) }
                    }
            }
        }
    }

    /// Gives a customer the purchases of an id that cannot become an alias, because it has aliases
    /// or the customer has too many. The id is the anonymous one of an installation or its account.
    /// It stays a customer of its own. Returns whether all its purchases are the customer's; those
    /// of an id that is joined with a named one are not.
    func takePurchases(
        of id: CustomerID,
        for customer: CustomerID,
        from installation: CustomerID
    ) async throws -> Bool {
        var hasAll = true
        for environment in app.environments {
            let now = now
            let (former, new, records) = try await onPool {
                try context.storage.read { reader throws(StorageError) in
                    let key = key(of: id, in: environment)
                    return (
                        try reader.identity(of: key),
                        try reader.identity(of: self.key(of: customer, in: environment)),
                        try reader.knownLineages(of: key, now: now).lineageRecords
                    )
                }
            }
            guard former.primary != new.primary else { continue }
            guard former.isInstallation(with: installation) else { return false }
            let owned = records.map { (lineage: $0.lineage, owner: $0.owners.owner(at: now)) }
            let others = owned.filter { $0.owner.map { !new.all.contains($0) } ?? true }
            let claimed = others.filter { $0.owner.map(former.all.contains) ?? false }
                .map(\.lineage)
            let rulings =
                try await claimed.isEmpty
                ? [] : claim(claimed, in: environment, for: customer, by: ruleOfLogIns)
            if rulings.count(where: \.isOwned) < others.count { hasAll = false }
        }
        return hasAll
    }

    /// The rule for the purchases of an installation that logs in. They move under every policy,
    /// except to a customer from whom an operator moved them.
    private var ruleOfLogIns: OwnershipClaims.Rule {
        let projector = Projector(app: app)
        return { claim, record, holder throws(StorageError) in
            let ruling = try projector.rule(claim, record, holder)
            // An inferred owner is no holder, so that any claim gets the purchase.
            if holder == nil, record.owners.owner(at: claim.at) != nil { return ruling }
            return switch ruling {
            case .held, .refused(.movedByOperator): ruling
            case .granted, .refused: try Self.restoreRule(claim, record, holder)
            }
        }
    }

    /// Claims a purchase for a customer by the policy alone, without regard to an account that the
    /// SDK itself named. That account only says who was logged in when it was bought.
    ///
    /// Returns nil without a claim if the policy lets none move a purchase.
    func claimUnnamed(_ lineage: Lineage, _ customer: CustomerID) async throws -> ClaimRuling? {
        switch app.policy.transfer {
        case .claim, .keep: return nil
        case .transferIfInactive, .transfer: break
        }
        let projector = Projector(app: app)
        let rulings = try await claim([lineage], in: lineage.environment, for: customer) {
            claim,
            record,
            holder throws(StorageError) in
            let unnamed = LineageRecord(
                lineage: record.lineage,
                facts: record.facts.filter { !$0.namesSDKAccount },
                owners: record.owners
            )
            return try projector.rule(claim, unnamed, holder)
        }
        return rulings.first
    }

    /// Moves a restored purchase to its presenter if its owner is a former installation. Returns
    /// whether it moved.
    ///
    /// A new installation has another anonymous id, and no log-in leads to the former one.
    func restores(
        _ lineage: Lineage,
        _ customer: CustomerID,
        _ objection: ClaimRuling.Objection
    ) async throws -> Bool {
        guard mayRestore(lineage, objection) else { return false }
        return try await claim(lineage, for: customer, by: Self.restoreRule)
    }

    /// Claims a purchase for a customer by a rule. Returns whether the customer has it then.
    private func claim(
        _ lineage: Lineage,
        for customer: CustomerID,
        by rule: @escaping OwnershipClaims.Rule
    ) async throws -> Bool {
        let environment = lineage.environment
        let rulings = try await claim([lineage], in: environment, for: customer, by: rule)
        return rulings.first?.isOwned ?? false
    }

    /// Claims purchases of one environment for a customer by a rule. Returns a ruling on each, in
    /// order.
    func claim(
        _ lineages: [Lineage],
        in environment: Environment,
        for customer: CustomerID,
        by rule: @escaping OwnershipClaims.Rule
    ) async throws -> [ClaimRuling] {
        let now = now
        let claims = lineages.map { OwnershipClaim(lineage: $0, customer: customer, at: now) }
        let commitRequest = CommitRequest(
            app: app.id,
            environment: environment,
            customers: [key(of: customer, in: environment)],
            ownership: OwnershipClaims(claims, rule: rule),
            now: now
        )
        let outcome = try await context.commit(commitRequest)
        guard case .committed(_, _, let rulings) = outcome else { return [] }
        for ruling in rulings { context.metrics.count(.ownershipClaims, app.id, ruling.code) }
        return rulings
    }

    /// The rule for purchases that a restore finds: that of any claim, and else that of a restore.
    var ruleOfRestores: OwnershipClaims.Rule {
        let projector = Projector(app: app)
        return { claim, record, holder throws(StorageError) in
            let ruling = try projector.rule(claim, record, holder)
            guard case .refused(let objection) = ruling, mayRestore(claim.lineage, objection) else {
                return ruling
            }
            let restored = try Self.restoreRule(claim, record, holder)
            return if case .granted = restored { restored } else { ruling }
        }
    }

    private func mayRestore(_ lineage: Lineage, _ objection: ClaimRuling.Objection) -> Bool {
        guard app.policy.transfer != .keep else { return false }
        return switch objection {
        case .namedByStore: lineage.store == .googlePlay
        case .heldByAnother, .holderHasAccess: true
        case .movedByOperator, .coolingDown: false
        }
    }

    /// Grants a claim to a purchase of a former installation.
    private static func restoreRule(
        _ claim: OwnershipClaim,
        _ record: LineageRecord,
        _ holder: LineageHolder?
    ) throws(StorageError) -> ClaimRuling {
        guard let holder, try isFormerInstallation(holder) else { return .refused(.heldByAnother) }
        return .granted(claim.transfer)
    }

    /// Whether a holder has only ids that the SDK made up: anonymous ones with their accounts, or
    /// an account that never presented anything. An id that names no customer, such as `null`,
    /// counts too: purchases of earlier versions are stored under it, and it is refused now.
    private static func isFormerInstallation(_ holder: LineageHolder) throws(StorageError) -> Bool {
        let ids = holder.identity.all
        let others = ids.filter {
            !$0.isAnonymousInSDK && !SDKUserID.reserved.contains($0.text)
        }
        guard others.allSatisfy(\.isSDKAccount) else { return false }
        guard others.count == ids.count else { return true }
        guard ids.count == 1 else { return false }
        return try holder.lineages().reconciledAt == nil
    }
}

extension OwnershipClaim {
    /// The move of the purchase to the customer.
    var transfer: OwnershipEntry {
        OwnershipEntry(
            lineage: lineage,
            customer: customer,
            from: at,
            why: .transferred,
            decidedAt: at
        )
    }
}

extension ClaimRuling {
    /// Whether the customer owns the purchase then.
    fileprivate var isOwned: Bool {
        switch self {
        case .granted, .held: true
        case .refused: false
        }
    }
}

extension CustomerIdentity {
    /// Whether it consists of anonymous ids and their accounts, without an id that the app
    /// assigned. An app can assign an id that has the form of an account. `id` is another
    /// anonymous id of the installation.
    fileprivate func isInstallation(with id: CustomerID? = nil) -> Bool {
        let anonymous = (all + [id].compactMap(\.self)).filter(\.isAnonymousInSDK)
        return Set(all).isSubset(of: anonymous + anonymous.flatMap(\.sdkAccounts))
    }
}

extension Fact {
    /// Whether the store names as the owner an account of the form that the SDK gives to Google
    /// Play.
    fileprivate var namesSDKAccount: Bool {
        guard lineage.store == .googlePlay, let claim, claim.why == .accountToken else {
            return false
        }
        return claim.customer.isSDKAccount
    }
}

extension [CustomerID] {
    /// The accounts that the SDK names on Google Play for any of these app user ids.
    var sdkAccounts: Set<CustomerID> { Set(flatMap(\.sdkAccounts)) }
}

extension CustomerID {
    /// The accounts that the SDK names on Google Play for this app user id. A UUID is kept in lower
    /// case, whatever the app wrote.
    var sdkAccounts: [CustomerID] {
        Set([text, text.uppercased()]).sorted().compactMap(Self.sdkAccount)
    }

    /// The account of an id that is written in one way, as an anonymous one is.
    var sdkAccount: CustomerID? { Self.sdkAccount(of: text) }

    private static func sdkAccount(of text: String) -> CustomerID? {
        CustomerID(Hexadecimal.text(SHA256.hash(text.utf8)))
    }

    fileprivate var isAnonymousInSDK: Bool { (try? SDKUserID(text))?.isAnonymous ?? false }

    /// Whether it has the form of such an account.
    var isSDKAccount: Bool {
        let digits = text.utf8
        return digits.count == 64
            && digits.allSatisfy {
                $0 &- UInt8(ascii: "0") < 10 || $0 &- UInt8(ascii: "a") < 6
            }
    }
}
