import TideoverCore
import TideoverHTTP
import TideoverRevenueCat
import TideoverStorage

// RevenueCat's SDKs state attributes of a customer, such as an email address. No answer depends on
// them. They have no environment, and are stored in the one that answers.

extension AttributeOrder {
    /// The number of names that a customer can have. RevenueCat allows 50 beside its own.
    static let mostNames = 100

    /// Creates the order to store attributes of a customer.
    init(_ attributes: [CustomerAttribute], of customer: CustomerKey, now: Instant) {
        self.init(attributes, of: customer, now: now, limit: Self.mostNames)
    }
}

extension SDKVisit {
    /// Answers `POST /v1/subscribers/{id}/attributes`: stores the valid attributes and names the
    /// others.
    func attributes() async throws -> Response {
        let user = try SDKUserID(call["id"])
        let faults = try await keep(try SDKAttributes(request.body), of: user)
        guard faults.isEmpty else { throw SDKError.invalidAttributes(faults) }
        return SDKResponse(at: now).json { _ in }
    }

    /// Stores attributes and returns why others were not, by name. Repeating what is stored costs
    /// the sender nothing.
    func keep(_ stated: SDKAttributes, of user: SDKUserID) async throws -> [String: String] {
        guard user.customer.isStorable else { throw SDKError.invalidUserID }
        let customer = key(of: user.customer, in: app.usualEnvironment)
        let new = try await onPool {
            try stated.later(than: context.storage.attributes(of: customer), at: now)
        }
        guard !new.isEmpty else { return stated.faults }
        let changer = context.rateLimiter.sender(of: request, to: app.id, for: .change)
        if let objection = context.rateLimiter.objection(to: changer) { throw objection }
        let bytes = new.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) }
        context.rateLimiter.charge(changer, storing: bytes)
        let order = AttributeOrder(new, of: customer, now: now)
        let left = try await context.storage.keep(order)
        return left.reduce(into: stated.faults) { faults, name in
            faults[name] = "A customer has at most \(AttributeOrder.mostNames) attributes."
        }
    }
}

extension SDKAttributes {
    /// Returns the attributes that are later than the stored ones. A device's clock that is ahead
    /// counts as now, so that a later change is not ignored.
    func later(than stored: [CustomerAttribute], at now: Instant) -> [CustomerAttribute] {
        let known = Dictionary(stored.map { ($0.name, $0.updatedAt) }) { first, _ in first }
        return values.sorted { $0.key < $1.key }.compactMap { name, value in
            let updatedAt = min(value.updatedAt, now)
            if let known = known[name], known >= updatedAt { return nil }
            return CustomerAttribute(name: name, value: value.text, updatedAt: updatedAt)
        }
    }
}

extension App {
    /// Returns what the app's SDK states about a customer, by any of its ids; blocks the thread.
    func attributes(
        of identity: CustomerIdentity,
        in storage: any Storage
    ) throws(StorageError) -> SDKAttributes {
        var found: [CustomerAttribute] = []
        for customer in identity.all {
            let key = CustomerKey(app: id, environment: usualEnvironment, customer: customer)
            found += try storage.attributes(of: key)
        }
        return SDKAttributes(
            CustomerAttribute.joined(found).reduce(into: [:]) { values, attribute in
                values[attribute.name] = SDKAttributes.Value(
                    text: attribute.value,
                    updatedAt: attribute.updatedAt
                )
            }
        )
    }
}
