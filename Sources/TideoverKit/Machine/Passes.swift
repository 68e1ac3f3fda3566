import TideoverCore

// The offline pass: the choice of its key and its verification.

extension EntitlementMachine {
    mutating func receivePass(_ compact: String) -> [Action] {
        guard compact != kept.pass || pass == nil else { return [] }
        return check(compact)
    }

    /// Requests verification of the signature, or fetches the keys if none of them signed it.
    mutating func check(_ compact: String) -> [Action] {
        guard let document = PassDocument(compact) else { return reject(compact, .notAPass) }
        if let key = keys.first(where: { $0.id == document.keyId }) {
            return [.verifyPass(document, key)]
        }
        kept.pass = compact
        passRejection = .unknownKey(document.keyId)
        guard settings.server != nil, askedForKeys.insert(document.keyId).inserted else {
            return []
        }
        return [.fetchKeys]
    }

    private var keys: [PassKey] { (settings.server?.pinnedKeys ?? []) + kept.keys }

    /// The server's keys replace the earlier ones as a whole: a withdrawn key is no longer trusted.
    mutating func receive(_ published: [PassKey]) -> [Action] {
        kept.keys = published
        guard let compact = kept.pass else { return [] }
        if let document = PassDocument(compact), !keys.contains(where: { $0.id == document.keyId })
        {
            return reject(compact, .unknownKey(document.keyId))
        }
        return check(compact)
    }

    /// The next pass fetches the keys again.
    mutating func keysFailed() -> [Action] {
        askedForKeys = []
        return []
    }

    mutating func believe(
        _ claims: [UInt8],
        of compact: String,
        at reading: ClockReading
    ) -> [Action] {
        guard let server = settings.server else { return [] }
        let expected = PassExpectation(
            issuer: server.issuer,
            audience: server.app,
            customer: settings.customer,
            environment: environment
        )
        do {
            let believed = try Pass(
                believing: claims,
                as: expected,
                holding: pass,
                at: clock.passTime(reading)
            )
            pass = believed
            passRejection = nil
            kept.pass = compact
            clock.see(verified: believed.issued)
        } catch {
            return reject(compact, .refused(error))
        }
        return []
    }

    /// A rejected pass does not replace a valid one.
    mutating func reject(_ compact: String, _ rejection: PassRejection) -> [Action] {
        passRejection = rejection
        if kept.pass == compact { kept.pass = nil }
        return []
    }
}
