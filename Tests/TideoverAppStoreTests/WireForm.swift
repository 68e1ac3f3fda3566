import TideoverAppStore
import TideoverCore
import TideoverJSON

/// Encodes a value of ours as the App Store writes it, to check that no content is lost: our fields
/// have the names of the store's members.
func wireForm(of value: Any) -> JSONObject {
    if let answer = value as? SignedAnswer { return [answer.part.rawValue: text(answer.jws)] }
    var json: JSONObject = [:]
    for case (let name?, let field) in Mirror(reflecting: value).children {
        if let content = field as? AppStoreNotification.Content {
            // The member has the name of the case.
            for member in wireForm(of: content) { json[member.key] = member.value }
        } else if name != "source" {
            json[name] = wire(field)
        }
    }
    return json
}

/// Encodes one field; nil if it is nil.
private func wire(_ value: Any) -> JSONValue? {
    switch value {
    case let text as String: return .string(text)
    case let number as Int64: return .integer(number)
    case let flag as Bool: return .bool(flag)
    case let instant as Instant: return .integer(instant.millisecondsSince1970)
    case let jws as ArraySlice<UInt8>: return text(jws)
    case let object as JSONObject: return .object(object)
    case let word as any StoreWord: return wire(word.written)
    case let list as [Any]: return .array(list.compactMap(wire))
    default:
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return .object(wireForm(of: value)) }
        return mirror.children.first.flatMap { wire($0.value) }
    }
}

private func text(_ jws: ArraySlice<UInt8>) -> JSONValue {
    .string(String(decoding: jws, as: UTF8.self))
}

/// A value from one of the store's lists, of any list.
private protocol StoreWord {
    var written: Any { get }
}

extension OpenEnum: StoreWord {
    fileprivate var written: Any { raw }
}
