import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON

/// The format of a scalar in the configuration, and its parser.
///
/// The file and the environment use the same text, except that the file writes numbers and Booleans
/// as JSON.
struct ConfigurationForm<Value> {
    let expectation: ConfigurationProblem.Expectation
    /// The JSON kind of the scalar in the file.
    var kind: JSONNode.Kind = .string
    /// Whether an invalid value may be shown; false where it could be a secret pasted by mistake.
    var isShown = true
    /// Removes the parts of a valid text that may be secret.
    var withoutSecrets: (String) -> String = { $0 }
    /// Parses the text. Returns nil for a malformed text, and throws for a rejected value.
    let read: (String) throws(ConfigurationProblem.Reason) -> Value?

    /// Returns a valid value in a form that is safe to show.
    func shown(_ text: String) -> JSONValue {
        if kind == .number, let number = Int64(text) { return .integer(number) }
        if kind == .bool { return .bool(text == "true") }
        return .string(withoutSecrets(text))
    }
}

// MARK: - Texts

extension ConfigurationForm<String> {
    /// A text that is not one line may be a pasted key, so it is never shown.
    static var text: Self { Self(expectation: .text, isShown: false, read: lineOfText) }
    static var fileName: Self {
        Self(expectation: .fileName, isShown: false) { text in
            text.contains("-----BEGIN") || APIKey(text) != nil ? nil : lineOfText(text)
        }
    }

    /// A text for customers with no other arguments than those of its key.
    static func message(_ key: MessageText.Key) -> Self {
        let arguments = key.arguments.map(\.rawValue)
        return Self(expectation: .message(arguments: arguments)) { text in
            Set(MessageText.names(in: text)).isSubset(of: arguments) ? lineOfText(text) : nil
        }
    }

    static var appId: Self {
        Self(expectation: .appId) { text in
            let isWord = text.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte.isDigit
                    || byte == UInt8(ascii: "-")
            }
            return isWord && (1...63).contains(text.utf8.count) && text.first != "-" ? text : nil
        }
    }

    static var bundleId: Self {
        Self(expectation: .bundleId) { $0.isDotted(alsoWith: UInt8(ascii: "-")) ? $0 : nil }
    }

    static var packageName: Self {
        Self(expectation: .packageName) { $0.isDotted(alsoWith: UInt8(ascii: "_")) ? $0 : nil }
    }

    static var pubSubSubscription: Self {
        Self(expectation: .pubSubSubscription) { PubSubSubscription($0)?.name }
    }

    static var email: Self {
        Self(expectation: .email) { text in
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.isPlain } ? text : nil
        }
    }

    /// A URL without user name or password; an invalid one may contain them, so it is never shown.
    static var webAddress: Self {
        Self(
            expectation: .webAddress,
            isShown: false,
            withoutSecrets: ShownURL.withoutSecrets,
            read: readWebAddress
        )
    }

    /// The URL of a webhook receiver. Its path is secret: with the whole URL anyone can send.
    static var receiver: Self {
        Self(
            expectation: .webAddress,
            isShown: false,
            withoutSecrets: ShownURL.origin,
            read: readWebAddress
        )
    }

    static var eventKinds: Self {
        Self(expectation: .events) { WebhookFilter.isPattern($0) ? $0 : nil }
    }

    private static func readWebAddress(_ text: String) -> String? {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }),
            text.isPlain, !text.contains("\\")
        else { return nil }
        let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        return authority.isEmpty || authority.contains("@") || authority.first == ":"
            ? nil : text
    }

    static func oneOf(_ words: [String]) -> Self {
        Self(expectation: .oneOf(words)) { words.contains($0) ? $0 : nil }
    }

    private static func lineOfText(_ text: String) -> String? {
        let isLine = !text.unicodeScalars.contains(where: \.isControl)
        return isLine && text.contains { !$0.isWhitespace } ? text : nil
    }
}

// MARK: - Values of our own

extension ConfigurationForm<ListenAddress> {
    static var listenAddress: Self {
        Self(expectation: .listenAddress) { ListenAddress($0) }
    }
}

extension ConfigurationForm<IPNetwork> {
    static var network: Self { Self(expectation: .network) { IPNetwork($0) } }
}

extension ConfigurationForm<Int> {
    /// An integer from zero to a limit.
    static func count(through limit: Int) -> Self {
        Self(expectation: .count(through: limit), kind: .number) {
            DecimalNumber.read($0, through: limit)
        }
    }
}

extension ConfigurationForm<Bool> {
    static var yesOrNo: Self {
        Self(expectation: .oneOf(["true", "false"]), kind: .bool) { text in
            ["true": true, "false": false][text]
        }
    }
}

extension ConfigurationForm<Configuration.StorageLocation> {
    /// An SQLite file in the notation of this configuration, not yet resolved against its folder; or
    /// the address of a PostgreSQL database.
    static var storage: Self {
        Self(expectation: .storage, isShown: false) {
            text throws(ConfigurationProblem.Reason) in
            if let address = try ConfigurationForm<String>.postgres(text) {
                return .postgres(address: address)
            }
            // `sqlite://a/b` would mean the absolute path /a/b, which is rarely the intention. A
            // database in memory would lose acknowledged data.
            let path = text.dropFirst("sqlite:".count)
            guard text.hasPrefix("sqlite:"), !path.hasPrefix("//"), path != ":memory:",
                !path.isEmpty, !path.unicodeScalars.contains(where: \.isControl)
            else { return nil }
            return .sqlite(path: String(path))
        }
    }

}

extension ConfigurationForm<String> {
    /// The address of a PostgreSQL database.
    static var replica: Self {
        Self(expectation: .replica, isShown: false) {
            text throws(ConfigurationProblem.Reason) in try postgres(text)
        }
    }

    /// Returns the address of a PostgreSQL database; nil for any other text. The rest of it is
    /// checked by the database's own library.
    fileprivate static func postgres(
        _ text: String
    ) throws(ConfigurationProblem.Reason) -> String? {
        guard text.hasPrefix("postgres:") || text.hasPrefix("postgresql:"),
            let start = text.firstRange(of: "://")?.upperBound,
            !text.unicodeScalars.contains(where: \.isControl)
        else { return nil }
        let rest = text[start...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let user = authority.lastIndex(of: "@").map { authority[..<$0] } ?? ""
        let parameters = rest.drop { $0 != "?" }.dropFirst().split(separator: "&")
        let names = parameters.map { $0.prefix { $0 != "=" } }
        guard !user.contains(":"), !names.contains("password") else {
            throw .unsupported(.passwordInStorage)
        }
        return text
    }
}

extension ConfigurationForm<Environment> {
    static var environment: Self {
        Self(expectation: .environment) { text throws(ConfigurationProblem.Reason) in
            let environment = Environment(rawValue: text)
            if environment == .xcode { throw .unsupported(.xcode) }
            return environment
        }
    }
}

extension ConfigurationForm<Int64> {
    static var appAppleId: Self {
        Self(expectation: .appAppleId, kind: .number) { text in
            DecimalNumber.read(text, through: .max).flatMap { $0 > 0 ? Int64($0) : nil }
        }
    }
}

extension ConfigurationForm<Product.Kind> {
    static var productKind: Self {
        Self(expectation: .oneOf(Product.Kind.allCases.map(\.rawValue))) {
            Product.Kind(rawValue: $0)
        }
    }
}

extension ConfigurationForm<Store> {
    /// A store that sells products.
    static var store: Self {
        Self(expectation: .oneOf(Store.selling.map(\.rawValue))) { text in
            Store.selling.first { $0.rawValue == text }
        }
    }
}

extension ConfigurationForm<Period> {
    static var period: Self { Self(expectation: .period) { Period(iso8601: $0) } }
}

extension ConfigurationForm<Money> {
    static var price: Self { Self(expectation: .price) { Money(text: $0) } }
}

extension ConfigurationForm<Milliseconds> {
    static var duration: Self { Self(expectation: .duration) { Milliseconds(text: $0) } }
}

extension ConfigurationForm<KeepingTime> {
    /// `forever`, or a length of time of at least `days`.
    static func keepingTime(atLeastDays days: Int64) -> Self {
        Self(expectation: .keepingTime(atLeastDays: days)) { text in
            if text == "forever" { return .forever }
            guard let length = Milliseconds(text: text), length >= .days(days) else { return nil }
            return KeepingTime(length)
        }
    }
}

extension ConfigurationForm<Policy.BillingRetry> {
    static var billingRetry: Self {
        Self(expectation: .billingRetry) { Policy.BillingRetry(text: $0) }
    }
}

extension ConfigurationForm<Policy.Transfer> {
    static var transfer: Self { Self(expectation: .transfer) { Policy.Transfer(text: $0) } }
}

extension ConfigurationForm<CustomerID> {
    static var customer: Self { Self(expectation: .text) { CustomerID($0) } }
}

extension ConfigurationForm<Policy.Sandbox> {
    static var sandbox: Self {
        Self(expectation: .oneOf(Policy.Sandbox.allCases.map(\.rawValue))) {
            Policy.Sandbox(rawValue: $0)
        }
    }
}

extension ConfigurationForm<Instant> {
    static var instant: Self { Self(expectation: .instant) { Instant(rfc3339: $0) } }
}

/// The channel of a planned message; nil for none.
struct PlanChannel: Sendable {
    var channel: PlannedMessage.Channel?
}

extension ConfigurationForm<PlanChannel> {
    static var channel: Self {
        let channels = PlannedMessage.Channel.allCases
        return Self(expectation: .oneOf(["off"] + channels.map(\.rawValue))) { text in
            if text == "off" { return PlanChannel() }
            return PlannedMessage.Channel(rawValue: text).map(PlanChannel.init)
        }
    }
}

// MARK: - Helpers

/// Unsigned decimal integers.
package enum DecimalNumber {
    package static func read(_ text: some StringProtocol, through limit: Int) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit), let number = Int(text) else {
            return nil
        }
        return number <= limit ? number : nil
    }
}

extension Unicode.Scalar {
    /// Whether this is a control character or a line separator.
    package var isControl: Bool {
        value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0x2028 || value == 0x2029
    }
}

extension UInt8 {
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}

extension StringProtocol {
    /// Whether the text is printable ASCII without spaces.
    fileprivate var isPlain: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    /// Whether the text is a dotted name of ASCII letters, digits and one additional character.
    fileprivate func isDotted(alsoWith extra: UInt8) -> Bool {
        split(separator: ".", omittingEmptySubsequences: false).allSatisfy { word in
            !word.isEmpty && word.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == extra }
        }
    }
}
