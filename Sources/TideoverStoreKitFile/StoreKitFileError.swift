public import TideoverJSON

/// Describes why a `.storekit` file is unreadable, with the position of the error.
public struct StoreKitFileError: Error, Hashable, Sendable {
    /// The path in the file, such as `subscriptionGroups[0].subscriptions[1].productID`; empty for
    /// the whole file.
    public let path: String
    /// In Unicode scalars, from 1.
    public let line: Int
    public let column: Int
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        /// The file is not JSON.
        case syntax(JSONError.Reason)
        /// The file is JSON, but not Xcode's format.
        case notStoreKit
        /// This program does not know this version of the format.
        case version(Int64)
        case missing
        /// The value does not match the expected kind.
        case mismatch(Expectation)
        /// Two products have the same ID.
        case repeated(String)
    }

    public enum Expectation: Hashable, Sendable {
        case object, list, text, flag, number
        /// A number of periods with a total length of at most 999 units.
        case fewPeriods
        /// An ISO 8601 period in one unit, such as `P1M`.
        case period
        /// An amount such as `9.99`.
        case price
        case oneOf([String])
    }
}

extension StoreKitFileError: CustomStringConvertible {
    /// Describes the problem and its solution, as the end of a sentence about the file.
    public var description: String {
        let place = path.isEmpty ? "" : "\(path): "
        return "\(line):\(column): \(place)\(reason)"
    }
}

extension StoreKitFileError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .syntax(let reason): "\(reason)"
        case .notStoreKit:
            "this is no StoreKit configuration file; in Xcode: File > New > File > StoreKit "
                + "Configuration File"
        case .version(let version):
            "this is version \(version) of the format, and 1 to 5 are read; list the products "
                + "instead, or save the file with an older Xcode"
        case .missing: "this is missing; open the file in Xcode, complete it and save it"
        case .mismatch(let expectation): "this should be \(expectation)"
        case .repeated(let id): "there are two products with the id \(id); remove one"
        }
    }
}

extension StoreKitFileError.Expectation: CustomStringConvertible {
    public var description: String {
        switch self {
        case .object: "an object"
        case .list: "a list"
        case .text: "a text"
        case .flag: "true or false"
        case .number: "a whole number, at least 1"
        case .fewPeriods:
            "a number of periods that make no more than 999 days, weeks, months or years"
        case .period: "a period such as `P1M` or `P2W`"
        case .price: "an amount such as `9.99`"
        case .oneOf(let words): words.map { "`\($0)`" }.joined(separator: " or ")
        }
    }
}
