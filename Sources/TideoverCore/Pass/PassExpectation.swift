public import TideoverJSON

/// What a pass has to say to be believed on a device.
public struct PassExpectation: Hashable, Sendable {
    public var issuer: String
    /// The app's id on the server.
    public var audience: String
    public var customer: CustomerID
    public var environment: Environment
    /// How far in the future it may have been issued: a device's clock can lag by that.
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

/// Why a pass is not believed although its signature holds. It quotes no customer.
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
    /// It was issued later than the device's time and its tolerance; one of the two clocks is wrong.
    case issuedInFuture(issued: Instant, now: Instant)
    case expired(notAfter: Instant, now: Instant)
    /// The device holds a newer one: this one is told again.
    case older(version: Int64, held: Int64)
}

extension Pass {
    /// The pass of these claims, the payload of a document whose signature was verified: throws unless
    /// they are what is expected, here and now.
    ///
    /// `held` is the pass that the device holds already; one of another customer, app or environment
    /// says nothing about this one.
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
