import TideoverJSON

extension MessageLanguage {
    /// Writes an answer in this language, in place of English.
    ///
    /// - Parameters:
    ///   - answer: A JSON object with the members that `Snapshot.writeAnswer` writes, and any
    ///     others.
    ///   - own: Returns the language of the prompt in an arm of an experiment; nil for this one.
    /// - Returns: The answer with this language's `title`, `message` and `label` in its messages.
    ///   The rest stays, byte for byte; what is no answer is returned as it is.
    public func translate(
        answer: [UInt8],
        inArm own: (_ experiment: String, _ arm: String) -> MessageLanguage? = { _, _ in nil }
    ) -> [UInt8] {
        guard let root = try? JSONDocument(answer, limits: .local).root else { return answer }
        var texts: [(place: Range<Int>, text: String)] = []
        for (_, entitlement) in root["entitlements"]?.members ?? root.members {
            guard let words = entitlement["words"] else { continue }
            texts += translated(words, label: words["label"])
        }
        if let prompt = root["prompt"] {
            let arm = prompt["experiment"].flatMap { experiment in
                experiment["id"]?.string.flatMap { id in
                    experiment["arm"]?.string.flatMap { own(id, $0) }
                }
            }
            texts += (arm ?? self).translated(prompt, label: prompt["action"]?["label"])
        }
        return answer.replacing(texts)
    }

    /// Returns the places of a message's texts, with their translations.
    private func translated(
        _ node: JSONNode,
        label: JSONNode?
    ) -> [(place: Range<Int>, text: String)] {
        guard let key = node["key"]?.string.flatMap(MessageText.Key.init),
            let title = node["title"],
            let message = node["message"], let values = key.values(in: node["arguments"])
        else { return [] }
        // A period of minutes is written with the time of day, which no member says.
        let showsTimes = message.string != Self.english[key].message(values, .english, false)
        let own = self[key]
        let texts = [
            (title, own.title(values, formats, showsTimes)),
            (message, own.message(values, formats, showsTimes)),
        ]
        let labels = [label].compactMap { node in
            node.flatMap { node in own.label.map { (node, $0) } }
        }
        return (texts + labels).map { node, text in
            (place: node.source.startIndex..<node.source.endIndex, text: text)
        }
    }
}

extension MessageText.Key {
    /// Reads the values of its arguments from an answer; nil if one is missing or malformed.
    fileprivate func values(in node: JSONNode?) -> MessageText.Values? {
        var values: MessageText.Values = []
        for argument in arguments {
            guard let member = node?[argument.rawValue],
                let value = MessageText.Value(member, argument.type)
            else { return nil }
            values.append((argument, value))
        }
        return values
    }
}

extension MessageText.Value {
    fileprivate init?(_ node: JSONNode, _ type: MessageText.ValueType) {
        switch type {
        case .instant:
            guard let instant = node.string.flatMap({ Instant(rfc3339: $0) }) else { return nil }
            self = .instant(instant)
        case .number:
            guard let number = node.int64 else { return nil }
            self = .number(number)
        case .length:
            guard let period = node.string.flatMap({ Period(iso8601: $0) }) else { return nil }
            self = .length(period)
        case .price:
            guard let milliunits = node["milliunits"]?.int64,
                let currency = node["currency"]?.string
            else { return nil }
            self = .price(
                Price(
                    amount: Money(milliunits: milliunits, currency: currency),
                    period: node["period"]?.string.flatMap { Period(iso8601: $0) }
                )
            )
        }
    }
}

extension [UInt8] {
    /// Returns the bytes with JSON strings in place of some ranges.
    fileprivate func replacing(_ texts: [(place: Range<Int>, text: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 256)
        var end = 0
        for (place, text) in texts.sorted(by: { $0.place.lowerBound < $1.place.lowerBound }) {
            bytes += self[end..<place.lowerBound]
            bytes += JSONValue.string(text).encoded()
            end = place.upperBound
        }
        return bytes + self[end...]
    }
}
