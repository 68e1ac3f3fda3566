public import TideoverJSON

/// The conditions under which a device accepts a pass.
public struct PassExpectation: Hashable, Sendable {
    public var issuer: String
    /// The app's ID on the server.
    public var audience: String
    public var customer: CustomerID
    public var environment: Environment
    /// How far in the future it may have been issued, because a device's clock can lag.
    public var tolerance: Milliseconds

    public init(
        issuer: String,
        audience: String,
        customer: CustomerID,
        environment: Environment,
        tolerance: Milliseconds = .hours(24)
    ) {
        self.issuer = issuer
        self.audience = audience
        self.customer = customer
        self.environment = environment
        self.tolerance = tolerance
    }
}

/// Why a pass with a valid signature is rejected. It never contains customer data.
public enum PassRefusal: Error, Hashable, Sendable {
    /// The claims are not strict JSON.
    case notJSON(JSONError)
    /// The claims are JSON of another form.
    case malformed(FormError)
    case wrongIssuer(found: String)
    /// It is for another app.
    case wrongAudience(found: String)
    case wrongEnvironment(found: Environment)
    case wrongCustomer
    /// It was issued later than the device's time plus the tolerance. One of the two clocks is
    /// wrong.
    case issuedInFuture(issued: Instant, now: Instant)
    case expired(notAfter: Instant, now: Instant)
    /// The device has a newer one: this one is a replay.
    case older(version: Int64, held: Int64)
}

extension Pass {
    /// Creates the pass from claims, the payload of a document with a verified signature. Throws
    /// unless they match the expectation at the device's time.
    ///
    /// `held` is the pass that the device already has. It is ignored if its customer, app,
    /// environment or issuer differs.
    public init(
        believing claims: [UInt8],
        as expected: PassExpectation,
        holding held: Pass?,
        at time: DeviceTime
    ) throws(PassRefusal) {
        let pass = try Self.read(claims)
        try pass.check(expected)
        guard pass.issued <= time.now + expected.tolerance else {
            throw .issuedInFuture(issued: pass.issued, now: time.now)
        }
        let now = max(time.now, pass.issued)
        guard now < pass.notAfter else { throw .expired(notAfter: pass.notAfter, now: now) }
        if let held, pass.isOlder(than: held) {
            throw .older(version: pass.version, held: held.version)
        }
        self = pass
    }

    private static func read(_ claims: [UInt8]) throws(PassRefusal) -> Pass {
        let document: JSONDocument
        do {
            document = try JSONDocument(claims)
        } catch {
            throw .notJSON(error)
        }
        do {
            return try Pass(json: document.root)
        } catch {
            throw .malformed(error)
        }
    }

    private func check(_ expected: PassExpectation) throws(PassRefusal) {
        guard issuer == expected.issuer else { throw .wrongIssuer(found: issuer) }
        guard audience == expected.audience else { throw .wrongAudience(found: audience) }
        guard environment == expected.environment else {
            throw .wrongEnvironment(found: environment)
        }
        guard customer == expected.customer else { throw .wrongCustomer }
    }

    private func isOlder(than held: Pass) -> Bool {
        let isOfTheSame =
            customer == held.customer && audience == held.audience
            && environment == held.environment && issuer == held.issuer
        return isOfTheSame && (version, issued) < (held.version, held.issued)
    }
}
