package import TideoverCore
package import TideoverJSON

/// The data of a customer's page.
package struct CustomerView: Hashable, Sendable {
    package let place: Place
    package let customer: String
    /// The instant of the answer.
    package let asOf: Instant
    /// Whether the reader asked for this instant.
    package let isPast: Bool
    /// The latest instant that messages can be about.
    let now: Instant
    package let entitlements: [EntitlementView]
    let drift: [DriftView]
    let purchases: [OwnedPurchase]
    /// Every id of the customer, the main one first.
    let ids: [String]
    /// Whether a prompt is shown, and why.
    let prompt: String
    /// The prompt as the customer sees it; nil without one, and at an instant asked for.
    let promptText: PromptTextView?
    /// Whether the sandbox answers for production; nil if that does not apply.
    let sandbox: SandboxRulingView?

    /// Reads the answers of `explain` and of `timeline`. The timeline is up to now, also if
    /// `explain` is of a past instant; `denials` are by entitlement. `ids` are all ids of the
    /// customer, the main one first. `answer` is the one that the app gets now; nil at an instant
    /// asked for.
    package init(
        explain: JSONNode,
        answer: JSONNode?,
        timeline: JSONNode,
        denials: [String: [Lockouts.Stretch]],
        ids: [String],
        isPast: Bool
    ) throws(UnexpectedAnswer) {
        place = Place(
            app: try explain.needText("app"),
            environment: try explain.needText("environment")
        )
        customer = try explain.needText("customer")
        asOf = try explain.needInstant("asOf")
        self.isPast = isPast
        let end = try timeline.needInstant("asOf")
        now = end
        let lives = try timeline.need("entitlements")
        let lockouts = try explain.need("lockouts")
        var entitlements: [EntitlementView] = []
        for (name, node) in try explain.need("entitlements").members {
            entitlements.append(
                try EntitlementView(
                    name,
                    node,
                    life: LifeView(
                        lives[name],
                        denials: denials[name] ?? [],
                        until: end
                    ),
                    lockouts: lockouts[name]
                )
            )
        }
        self.entitlements = entitlements
        drift = try explain.list("drift").map { node throws(UnexpectedAnswer) in
            try DriftView(node)
        }
        purchases = try explain.list("purchases").map { node throws(UnexpectedAnswer) in
            try OwnedPurchase(node)
        }
        self.ids = ids
        prompt = try explain.need("prompt").needText("sentence")
        promptText = try answer.flatMap { answer throws(UnexpectedAnswer) in
            try PromptTextView(answer.need("prompt"))
        }
        sandbox = try SandboxRulingView(explain["sandbox"])
    }
}

/// The words of a prompt, in the language of the app.
struct PromptTextView: Hashable, Sendable {
    /// The entitlement that it is about.
    let entitlement: String
    let title: String
    let message: String
    /// The label of its button.
    let button: String

    /// Nil if there is no prompt.
    init?(_ node: JSONNode) throws(UnexpectedAnswer) {
        guard try node.needText("kind") != "none" else { return nil }
        entitlement = try node.needText("entitlement")
        title = try node.needText("title")
        message = try node.needText("message")
        button = try node.need("action").needText("label")
    }
}

/// The decision about one entitlement, with its evidence.
package struct EntitlementView: Hashable, Sendable {
    let name: String
    let phase: Phase
    let state: String
    let reason: String
    let access: Bool
    let confidence: String
    let rule: String
    let product: String?
    let store: String?
    let accessUntil: Instant?
    let graceUntil: Instant?
    let willRenew: Bool?
    let why: [String]
    let used: [FactView]
    let setAside: [FactView]
    let next: NextChange?
    /// Sentences for the customer.
    let reply: [String]
    package let life: LifeView
    let denied: [Denied]

    /// How long a judge denied access that the store confirms.
    struct Denied: Hashable, Sendable {
        let judge: String
        let minutes: Figure
    }

    struct NextChange: Hashable, Sendable {
        let at: Instant
        let state: String
        let why: String
    }

    init(
        _ name: String,
        _ node: JSONNode,
        life: LifeView,
        lockouts: JSONNode?
    ) throws(UnexpectedAnswer) {
        let decision = try node.need("decision")
        self.name = name
        self.life = life
        phase = try Phase(decision)
        state = try decision.needText("state")
        reason = try decision.needText("reason")
        access = try decision.needBool("access")
        confidence = try decision.needText("confidence")
        rule = try decision.needText("rule")
        product = decision.text("productId")
        store = decision.text("store")
        accessUntil = decision.instant("accessUntil")
        graceUntil = decision.instant("graceUntil")
        willRenew = decision["willRenew"]?.bool
        why = node.texts("why")
        used = try node.list("used").map { fact throws(UnexpectedAnswer) in try FactView(fact) }
        setAside = try node.list("setAside").map { fact throws(UnexpectedAnswer) in
            try FactView(fact)
        }
        reply = node.texts("reply")
        if let next = node["next"], !next.isNull {
            self.next = NextChange(
                at: try next.needInstant("at"),
                state: try next.need("decision").needText("state"),
                why: try next.needText("why")
            )
        } else {
            next = nil
        }
        denied =
            try lockouts.map { lockouts throws(UnexpectedAnswer) in
                try ["ours", "expiryCheck"].map { judge throws(UnexpectedAnswer) in
                    Denied(judge: judge, minutes: try lockouts.need(judge).figure("minutes"))
                }
            } ?? []
    }
}

/// A fact that the decision uses, or sets aside.
struct FactView: Hashable, Sendable {
    let says: String
    /// Its roles in the decision, or why it is set aside.
    let role: String
    let source: String
    let assertedAt: Instant
    let learnedAt: Instant
    let evidence: String?

    init(_ node: JSONNode) throws(UnexpectedAnswer) {
        let fact = try node.need("fact")
        says = try node.needText("says")
        role = node.text("sentence") ?? node.texts("as").joined(separator: ", ")
        source = try fact.needText("source")
        assertedAt = try fact.needInstant("assertedAt")
        learnedAt = try fact.needInstant("learnedAt")
        evidence = fact.text("evidence")
    }
}

/// A difference that a device reported.
struct DriftView: Hashable, Sendable {
    let entitlement: String
    let direction: String
    let sentence: String
    let openedAt: Instant
    let isOpen: Bool

    init(_ node: JSONNode) throws(UnexpectedAnswer) {
        entitlement = try node.needText("entitlement")
        direction = try node.needText("direction")
        sentence = try node.needText("sentence")
        openedAt = try node.needInstant("openedAt")
        isOpen = node["healing"].map(\.isNull) ?? true
    }
}

/// A purchase with all of its owners, oldest first.
struct OwnedPurchase: Hashable, Sendable {
    let lineage: String
    let owners: [Owner]

    struct Owner: Hashable, Sendable {
        let customer: String
        let from: Instant?
        let until: Instant?
        let why: String
    }

    /// Whether it is a purchase of a store, and not access given by hand.
    var canMove: Bool { lineage.hasPrefix("appStore:") || lineage.hasPrefix("googlePlay:") }

    /// Returns the owner at an instant: of the entries that cover it the one that began last. An
    /// inferred owner counts only before all others.
    func owner(at instant: Instant) -> String? {
        let stated = owners.filter { $0.why != "inferred" }.map { $0.from ?? .distantPast }
        let isInferred = stated.allSatisfy { instant < $0 }
        var best: Owner?
        for owner in owners where isInferred || owner.why != "inferred" {
            let from = owner.from ?? .distantPast
            guard from <= instant, owner.until.map({ instant < $0 }) ?? true else { continue }
            if let found = best?.from, found > from { continue }
            best = owner
        }
        return best?.customer
    }

    init(_ node: JSONNode) throws(UnexpectedAnswer) {
        lineage = try node.needText("lineage")
        owners = try node.list("owners").map { owner throws(UnexpectedAnswer) in
            Owner(
                customer: try owner.needText("customer"),
                from: owner.instant("from"),
                until: owner.instant("until"),
                why: try owner.needText("why")
            )
        }
    }
}

/// The policy's ruling on the purchases that a customer of production has in the sandbox.
struct SandboxRulingView: Hashable, Sendable {
    /// Whether the app gets the answer of the sandbox.
    let answers: Bool
    let sentence: String

    /// Nil if there is no ruling, and if nothing in the sandbox gives access.
    init?(_ node: JSONNode?) throws(UnexpectedAnswer) {
        guard let node, !node.isNull, node.text("ruling") != SandboxRuling.noPurchase.rawValue
        else { return nil }
        answers = try node.needBool("answers")
        sentence = try node.needText("sentence")
    }
}
