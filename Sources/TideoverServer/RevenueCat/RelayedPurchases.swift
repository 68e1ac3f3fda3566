import TideoverCore
import TideoverRevenueCat
import TideoverStorage

// Joins a relay's facts with the store's facts of the same purchase, whichever came first, so that
// a purchase counts once.

extension Storage {
    /// Returns the store lineages of purchases that a relay names differently.
    func chains(
        of lineages: some Collection<Lineage>,
        app: String
    ) throws(StorageError) -> StoreChains {
        var facts: [Fact] = []
        for lineage in lineages.sorted() {
            guard let name = lineage.relayedName else { continue }
            for lineageRecord in try lineageRecords(named: name, app: app, limit: 8) {
                facts += lineageRecord.facts
            }
        }
        return StoreChains(facts)
    }
}

extension [LineageRecord] {
    /// The holdings, with relayed facts moved into the store's lineage of the same purchase; the
    /// store's list of owners applies.
    var joined: [LineageRecord] {
        guard count > 1, contains(where: \.isRelayed) else { return self }
        let chains = StoreChains(flatMap(\.facts), isOfOneCustomer: true)
        let targets = filter(\.isRelayed).reduce(into: [Lineage: Lineage]()) {
            targets,
            lineageRecord in
            targets[lineageRecord.lineage] = chains.lineage(of: lineageRecord.lineage)
        }
        var told: [Lineage: [Fact]] = [:]
        var rest: [LineageRecord] = []
        for lineageRecord in self {
            let lineage = targets[lineageRecord.lineage] ?? lineageRecord.lineage
            // A lineage that is moved itself would lose the facts that are moved into it.
            let isMoved = targets[lineage].map { $0 != lineage } ?? false
            if lineage == lineageRecord.lineage || isMoved {
                rest.append(lineageRecord)
            } else {
                told[lineage, default: []] += lineageRecord.facts.map(chains.joined)
            }
        }
        return rest.map { lineageRecord in
            guard let more = told[lineageRecord.lineage] else { return lineageRecord }
            let facts = (lineageRecord.facts + more).sorted { $0.assertedAt < $1.assertedAt }
            return LineageRecord(
                lineage: lineageRecord.lineage,
                facts: facts,
                owners: lineageRecord.owners
            )
        }
    }
}

extension LineageRecord {
    /// Whether all its facts come from a relay.
    var isRelayed: Bool {
        !facts.isEmpty && facts.allSatisfy { $0.rank == .relayed }
    }
}

extension AppContext {
    /// Resolves ownership when RevenueCat reported a purchase before the store did. It claims the
    /// store's lineage for the owner of the relayed one. If the store names a different customer,
    /// it claims the relayed lineage for that customer. An account that RevenueCat's SDK made from
    /// an id of the owner is no different customer. Returns nil if there is nothing to claim.
    func relayedClaims(
        on facts: [Fact],
        at now: Instant
    ) throws(StorageError) -> OwnershipClaims? {
        guard app.revenueCat != nil else { return nil }
        var claims: [Lineage: OwnershipClaim] = [:]
        var named: Set<Lineage> = []
        var accounts: Set<CustomerID> = []
        for fact in facts where fact.rank == .store {
            for name in fact.names {
                let relayed = Lineage(
                    store: fact.lineage.store,
                    environment: fact.lineage.environment,
                    id: name.text
                )
                guard relayed != fact.lineage else { continue }
                let lineageRecord = try storage.lineageRecord(relayed, app: app.id)
                guard lineageRecord.isRelayed, let holder = lineageRecord.owners.owner(at: now)
                else {
                    continue
                }
                claims[fact.lineage] = OwnershipClaim(
                    lineage: fact.lineage,
                    customer: holder,
                    at: now
                )
                guard let owner = fact.claim?.customer, owner != holder else { continue }
                if try isAccount(owner, of: holder, lineageRecord) {
                    accounts.insert(owner)
                    continue
                }
                named.insert(relayed)
                claims[relayed] = OwnershipClaim(lineage: relayed, customer: owner, at: now)
            }
        }
        guard !claims.isEmpty else { return nil }
        let (rule, outweighed) = (relayRule(accounts), named)
        return OwnershipClaims(
            claims.values.sorted { $0.lineage < $1.lineage },
            by: .relay,
            namedByStore: named
        ) {
            claim,
            lineageRecord,
            holder throws(StorageError) in
            let ruling = try rule(claim, lineageRecord, holder)
            guard outweighed.contains(claim.lineage), case .refused = ruling else { return ruling }
            return .granted(claim.transfer)
        }
    }

    /// Whether a store names as the owner an account that RevenueCat's SDK made from an id of a
    /// customer: one that is known here, or one that RevenueCat stated with the purchase.
    private func isAccount(
        _ account: CustomerID,
        of customer: CustomerID,
        _ relayed: LineageRecord
    ) throws(StorageError) -> Bool {
        guard relayed.lineage.store == .googlePlay, account.isSDKAccount,
            let trust = app.revenueCat
        else { return false }
        let scope = AppScope(app.id, relayed.lineage.environment)
        let known = try storage.identity(of: scope.key(customer)).all
        if known.sdkAccounts.contains(account) { return true }
        for id in Set(relayed.facts.suffix(Self.mostRead).map(\.evidence)) {
            guard let piece = try storage.evidence(id, app: app.id) else { continue }
            let ids = trust.customers(in: piece)
            guard known.contains(where: ids.contains) else { continue }
            if ids.sdkAccounts.contains(account) { return true }
        }
        return false
    }

    /// How many facts of a purchase are followed to their evidence to find an id of the customer.
    private static var mostRead: Int { 8 }

    /// Returns the rule for claims that RevenueCat states for a customer. Its SDK names a digest of
    /// the app user id as the account of a purchase on Google Play. One of the given accounts of
    /// the customer is therefore no other owner.
    func relayRule(_ accounts: Set<CustomerID>) -> OwnershipClaims.Rule {
        let projector = Projector(app: app)
        return { claim, lineageRecord, holder throws(StorageError) in
            let ruling = try projector.rule(claim, lineageRecord, holder)
            guard case .refused(.namedByStore) = ruling, claim.lineage.store == .googlePlay,
                let owner = lineageRecord.owners.owner(at: claim.at), accounts.contains(owner)
            else { return ruling }
            return .granted(claim.transfer)
        }
    }

    /// Adds ids that RevenueCat made up as aliases of the id that the app gave, in each
    /// environment. Such ids have no meaning elsewhere, so RevenueCat's statement is trusted. Ids
    /// that the app assigned are never joined by a relay's statement.
    func declareAliases(
        _ ids: [CustomerID],
        of customer: CustomerID,
        at now: Instant
    ) async throws {
        guard !customer.isRevenueCatAnonymous else { return }
        for alias in ids where alias.isRevenueCatAnonymous {
            for environment in app.environments {
                try await declare(alias, of: AppScope(app.id, environment).key(customer), at: now)
            }
        }
    }

    /// Adds the accounts that RevenueCat's SDK made from a customer's ids as aliases, if a purchase
    /// of the customer on Google Play once was theirs. An erasure then includes them.
    func declareAccounts(of customer: CustomerKey, at now: Instant) async throws {
        guard app.revenueCat != nil else { return }
        let (ids, records) = try await onPool {
            try storage.read { reader throws(StorageError) in
                (
                    try reader.identity(of: customer).all,
                    try reader.knownLineages(of: customer, now: now).lineageRecords
                )
            }
        }
        let owners = records.filter { $0.lineage.store == .googlePlay }.flatMap(\.owners)
        let accounts = ids.sdkAccounts.subtracting(ids).intersection(owners.map(\.customer))
        for account in accounts.sorted() { try await declare(account, of: customer, at: now) }
    }

    /// Adds an alias of a customer, unless it belongs to another one.
    private func declare(
        _ alias: CustomerID,
        of customer: CustomerKey,
        at now: Instant
    ) async throws {
        let (former, new) = try storage.read { reader throws(StorageError) in
            (
                try reader.identity(of: customer.scope.key(alias)),
                try reader.identity(of: customer)
            )
        }
        let ruling = AliasRuling(former, as: new, at: now, why: "RevenueCat", by: "RevenueCat")
        guard case .granted(let line) = ruling else { return }
        let commitRequest = CommitRequest(
            app: customer.app,
            environment: customer.environment,
            alias: line,
            now: now
        )
        _ = try await commit(commitRequest)
    }
}
