package import TideoverCore

/// Translates the messages of a conformance table into facts, for each supported store.
///
/// A table contains decoded data instead of signed data. Its author is trusted, and none of it is
/// stored.
package enum ConformanceMessages {
    package static let translation: ConformanceTranslation = { message in
        switch Store(rawValue: message.store) {
        case .appStore: try AppStoreCase(message).facts()
        case .googlePlay, .revenueCat, .tideover, nil:
            throw ConformanceUntranslated(store: message.store)
        }
    }
}

/// The reason why a message of a table is invalid.
enum ConformanceMessageFault: Error, Hashable, CustomStringConvertible {
    /// A part that the store does not send.
    case unknownPart(String)
    /// The message has no part.
    case empty

    var description: String {
        switch self {
        case .unknownPart(let name): "`\(name)` is no part of a message of this store"
        case .empty: "it holds nothing"
        }
    }
}
