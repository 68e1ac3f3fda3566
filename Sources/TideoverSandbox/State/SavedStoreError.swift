public import TideoverJSON

/// Why a saved store, or a saved stage with its stores, cannot be resumed.
public enum SavedStoreError: Error, Hashable, Sendable {
    /// It is not JSON.
    case syntax(JSONError)
    /// It was saved in a format that this version does not read.
    case format(String?)
    /// A part of it is missing or has another type; the position and the problem.
    case content(String)
    /// It was saved on a stage that differs in these keys of a scenario's head.
    case stage([String])
}

extension SavedStoreError: CustomStringConvertible {
    /// A description for people.
    public var description: String {
        switch self {
        case .syntax(let error): "this is not a saved store: \(error)"
        case .format(nil): "this is not a saved store: it does not name its format"
        case .format(let format?): "this version cannot read the format \"\(format)\""
        case .content(let words): "this saved store is damaged: \(words)"
        case .stage(let keys):
            "the scenario changed: \(keys.joined(separator: ", ")) of the scenario's head "
                + "\(keys.count == 1 ? "is" : "are") not the same"
        }
    }
}
