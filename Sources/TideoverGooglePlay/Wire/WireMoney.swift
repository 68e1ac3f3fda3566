import TideoverCore

extension WireFields {
    /// Returns a `google.type.Money` amount: whole units and billionths of one sign. Truncates to
    /// thousandths of a unit. Returns nil without a currency.
    func money(_ name: String) throws(PlayRefusal) -> Money? {
        guard let fields = try fields(name) else { return nil }
        let (currency, written) = (try fields.text("currencyCode"), try fields.integer("units"))
        let (units, nanos) = (written ?? 0, try fields.integer("nanos") ?? 0)
        guard nanos.magnitude < 1_000_000_000, units.signum() * nanos.signum() >= 0 else {
            throw fields.malformed("nanos")
        }
        let (whole, isTooLarge) = units.multipliedReportingOverflow(by: 1000)
        let (amount, overflows) = whole.addingReportingOverflow(nanos / 1_000_000)
        guard !isTooLarge, !overflows else { throw fields.malformed("units") }
        return currency.map { Money(milliunits: amount, currency: $0) }
    }
}
