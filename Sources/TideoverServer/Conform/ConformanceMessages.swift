public import TideoverCore

/// The messages of a conformance table as facts, for every store that is read here.
///
/// A table holds what signatures would hold. Whoever wrote it vouches for it, and nothing of it
/// reaches a storage.
public enum ConformanceMessages {
    public static let translation: ConformanceTranslation = { message in
        switch Store(rawValue: message.store) {
        case .appStore: try AppStoreCase(message).facts()
        case .googlePlay, .revenueCat, .tideover, nil:
            throw ConformanceUntranslated(store: message.store)
        }
    }
}

/// Why a message of a table is not one.
enum ConformanceMessageFault: Error, Hashable, CustomStringConvertible {
    /// It has a part that the store does not send.
    case unknownPart(String)
    /// It has no part at all.
    case empty

    var description: String {
        switch self {
        case .unknownPart(let name): "`\(name)` is no part of a message of this store"
        case .empty: "it holds nothing"
        }
    }
}
