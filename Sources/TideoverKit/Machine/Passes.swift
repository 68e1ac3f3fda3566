import TideoverCore

// The offline pass: the choice of its key and its verification.

extension EntitlementMachine {
    mutating func receivePass(_ compact: String) -> [Action] {
        kept.candidate = nil
        guard compact != kept.pass || pass == nil else { return [] }
        return check(compact)
    }

    /// Checks the passes in the file, the verified one first.
    mutating func checkKept() -> [Action] {
        [kept.pass, kept.candidate].compactMap(\.self).flatMap { check($0) }
    }

    /// Requests verification of the signature, or fetches the keys if none of them signed it.
    mutating func check(_ compact: String) -> [Action] {
        guard let document = PassDocument(compact) else { return reject(compact, .notAPass) }
        if let key = keys.first(where: { $0.id == document.keyId }) {
            return [.verifyPass(document, key)]
        }
        if compact != kept.pass { kept.candidate = compact }
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
        let documents = [kept.pass, kept.candidate].compactMap(\.self).compactMap(PassDocument.init)
        return documents.flatMap { document in
            if keys.contains(where: { $0.id == document.keyId }) { return check(document.compact) }
            // A published set can be an old copy. The next pass fetches it again.
            askedForKeys.remove(document.keyId)
            passRejection = .unknownKey(document.keyId)
            if kept.pass == document.compact { kept.pass = nil }
            return []
        }
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
            kept.pass = compact
            if kept.candidate == compact { kept.candidate = nil }
            if kept.candidate == nil { passRejection = nil }
            clock.see(verified: believed.issued, at: reading)
        } catch {
            let rejection = PassRejection.refused(error)
            if case .wrongEnvironment = error, namedEnvironment == nil {
                // The store may name another environment. The pass is checked again when it does.
                passRejection = rejection
                return []
            }
            return reject(compact, rejection)
        }
        return []
    }

    /// A rejected pass does not replace a valid one.
    mutating func reject(_ compact: String, _ rejection: PassRejection) -> [Action] {
        passRejection = rejection
        if kept.pass == compact { kept.pass = nil }
        if kept.candidate == compact { kept.candidate = nil }
        return []
    }
}
