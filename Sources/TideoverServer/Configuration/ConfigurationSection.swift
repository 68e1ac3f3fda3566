import TideoverJSON

/// What the sections of one configuration share while it is read: the environment that overrules
/// the file, and what was found.
final class ConfigurationReading {
    let file: String
    private let environment: [String: String]
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var notices: [ConfigurationNotice] = []
    /// What counts, in the order of the schema.
    private(set) var records: [ConfigurationRecord] = []
    /// The place that each variable speaks for, whether it is set or not.
    private(set) var paths: [String: String] = [:]

    init(file: String, environment: [String: String]) {
        self.file = file
        self.environment = environment
    }

    func note(_ notice: ConfigurationNotice) { notices.append(notice) }

    func record(_ record: ConfigurationRecord) { records.append(record) }

    func report(
        _ reason: ConfigurationProblem.Reason,
        at source: ConfigurationSource,
        path: String
    ) {
        problems.append(
            ConfigurationProblem(place: source.place(in: file), path: path, reason: reason)
        )
    }

    /// What a variable says for a place; nil if it is not set, or set to nothing.
    func variable(_ name: String, for path: String) -> String? {
        let text = environment[name]
        if let other = paths.updateValue(path, forKey: name), text != nil {
            report(.ambiguousVariable(otherPath: other), at: .variable(name), path: path)
            return nil
        }
        guard let text, text.isEmpty else { return text }
        note(.emptyVariable(name))
        return nil
    }

    /// Notes the variables that carry our prefix but speak for no place.
    func noteUnknownVariables() {
        let known = paths.keys.sorted()
        for name in environment.keys.sorted()
        where name.hasPrefix(ConfigurationVariable.prefix + "_") && paths[name] == nil
            && !ConfigurationVariable.isReserved(name)
        {
            note(.unknownVariable(name, closest: closestName(to: name, among: known)))
        }
    }
}

/// What said something. Lines are counted only for what turns out to be wrong.
enum ConfigurationSource {
    case variable(String)
    case node(JSONNode)

    func place(in file: String) -> ConfigurationProblem.Place {
        switch self {
        case .variable(let name): return .variable(name: name)
        case .node(let node):
            let position = node.position
            return .file(name: file, line: position.line, column: position.column)
        }
    }

    /// The line in the file; nil for a variable.
    var line: Int? {
        if case .node(let node) = self { node.position.line } else { nil }
    }
}

/// One object of the configuration while it is read: whatever the environment says of its members,
/// and for the rest what the file says.
///
/// Each member is asked for once, whether it is there or not: the questions are the schema. Then
/// `close` reports what was missing and what was never asked for.
final class ConfigurationSection {
    /// Where the object stands, such as `apps[0].appStore`.
    let path: String
    /// The variable of the object, to which its members add theirs; nil if it has none.
    var variable: String?
    private let reading: ConfigurationReading
    private let parent: ConfigurationSection?
    /// The object, or the one around it if the file is silent.
    private let source: ConfigurationSource
    /// The object; nil if the file has none.
    private let node: JSONNode?
    /// Whether the file has something else instead.
    private let isMistaken: Bool
    private var isSpokenFor = false
    private var keys: [String] = []
    /// What said something of each member.
    private var sources: [String: ConfigurationSource] = [:]
    private var demands: [(key: String, expectation: ConfigurationProblem.Expectation)] = []

    /// The object that a node should be; `node` is nil where the file is silent.
    init(
        _ node: JSONNode?,
        path: String,
        variable: String?,
        source: ConfigurationSource,
        parent: ConfigurationSection?,
        reading: ConfigurationReading
    ) {
        self.path = path
        self.variable = variable
        self.source = source
        self.parent = parent
        self.reading = reading
        self.node = node?.kind == .object ? node : nil
        isMistaken = node != nil && node?.kind != .object
        if let node, isMistaken { mistake(node, .object, at: path) }
    }

    /// Whether anything was said of the object, in the file or by a variable.
    var isPresent: Bool { node != nil || isMistaken || isSpokenFor }

    /// Whether anything was said of a member that was asked for, be it right or wrong.
    func has(_ key: String) -> Bool { sources[key] != nil }

    /// What said something of a member that was asked for; nil if nothing did.
    func source(of key: String) -> ConfigurationSource? { sources[key] }

    func path(of key: String) -> String {
        let isName = key.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
        let segment = isName && !key.isEmpty ? key : "\"\(key)\""
        return path.isEmpty ? segment : "\(path).\(segment)"
    }

    func note(_ notice: ConfigurationNotice) { reading.note(notice) }

    /// Reports what is wrong with a member, where it was said or else where it should have been.
    func report(_ reason: ConfigurationProblem.Reason, of key: String) {
        report(reason, at: sources[key] ?? source, path: path(of: key))
    }

    /// Ends the reading: reports members that are demanded but missing, and unknown ones.
    ///
    /// Returns whether the object is present; if it is not, nothing is missing.
    @discardableResult
    func close() -> Bool {
        for (key, expectation) in demands where isPresent && !isMistaken && !has(key) {
            report(.missing(expectation), of: key)
        }
        for (key, value) in node?.members.map({ $0 }) ?? [] where !keys.contains(key) {
            let closest = closestName(to: key, among: keys)
            report(.unknownKey(key, closest: closest), at: .node(value.key ?? value), path: path)
        }
        return isPresent
    }

    private func report(
        _ reason: ConfigurationProblem.Reason,
        at source: ConfigurationSource,
        path: String
    ) {
        reading.report(reason, at: source, path: path)
    }

    private func mistake(
        _ node: JSONNode,
        _ expectation: ConfigurationProblem.Expectation,
        at path: String
    ) {
        report(
            .mismatch(expectation, found: .kind(node.kind)),
            at: .node(node),
            path: path
        )
    }
}

// MARK: - Scalars and lists of them

extension ConfigurationSection {
    /// A scalar as somebody wrote it.
    private struct Scalar {
        let text: String
        let source: ConfigurationSource
        let path: String
    }

    /// A member that is a scalar; nil if it was not said or is wrong, which is then reported.
    func value<Value>(
        _ key: String,
        _ form: ConfigurationForm<Value>,
        isNeeded: Bool = false
    ) -> Value? {
        ask(key)
        if isNeeded { demand(key, form.expectation) }
        guard let scalar = said(byVariableOf: key) ?? scalar(key, form),
            let value = read(scalar, form)
        else { return nil }
        record(key, form.shown(scalar.text))
        return value
    }

    /// A member that is a scalar, or what counts where it was not said: the text of a default.
    func value<Value>(
        _ key: String,
        _ form: ConfigurationForm<Value>,
        default text: String
    ) -> Value {
        value(key, form) ?? standard(key, form, text)
    }

    /// What counts for a scalar that was asked for and not said, or said wrong.
    func standard<Value>(_ key: String, _ form: ConfigurationForm<Value>, _ text: String) -> Value {
        guard let standard = try? form.read(text) else {
            preconditionFailure("a default has the form of its place")
        }
        if !has(key) { record(key, form.shown(text)) }
        return standard
    }

    /// A member that is a list of scalars, which a variable writes with commas between them; the
    /// wrong ones are reported and left out. Nil if it was not said.
    func list<Value>(
        _ key: String,
        of form: ConfigurationForm<Value>,
        _ expectation: ConfigurationProblem.Expectation = .list,
        isNeeded: Bool = false,
        mayBeEmpty: Bool = false,
        mayBeWord: Bool = false
    ) -> [Value]? {
        ask(key)
        if isNeeded { demand(key, expectation) }
        guard let scalars = scalars(key, form, expectation, mayBeWord) else { return nil }
        if scalars.isEmpty && !mayBeEmpty {
            report(.mismatch(expectation, found: .emptyList), of: key)
        }
        let different = unrepeated(scalars.compactMap { $0 })
        record(key, .array(different.map { form.shown($0.text) }))
        return different.compactMap { read($0, form) }
    }

    /// A member that is a list of scalars, or what counts where it was not said: the texts of a
    /// default. `mayBeWord` accepts one scalar in place of a list.
    func list<Value>(
        _ key: String,
        of form: ConfigurationForm<Value>,
        _ expectation: ConfigurationProblem.Expectation = .list,
        default texts: [String],
        mayBeWord: Bool = false
    ) -> [Value] {
        let list = list(
            key,
            of: form,
            expectation,
            mayBeEmpty: texts.isEmpty,
            mayBeWord: mayBeWord
        )
        if let list { return list }
        if !has(key) { record(key, .array(texts.map(form.shown))) }
        return texts.compactMap { try? form.read($0) }
    }

    /// Notes what counts at a place, whoever said it.
    private func record(_ key: String, _ value: JSONValue) {
        reading.record(
            ConfigurationRecord(
                path: path(of: key),
                value: value,
                source: sources[key],
                variable: variable.map { ConfigurationVariable.name($0, key) }
            )
        )
    }

    /// Reports a member as missing unless something is said of it.
    func demand(_ key: String, _ expectation: ConfigurationProblem.Expectation) {
        demands.append((key, expectation))
    }

    private func ask(_ key: String) { keys.append(key) }

    private func said(byVariableOf key: String) -> Scalar? {
        guard let variable else { return nil }
        let name = ConfigurationVariable.name(variable, key)
        let path = path(of: key)
        guard let text = reading.variable(name, for: path) else { return nil }
        sources[key] = .variable(name)
        var section: ConfigurationSection? = self
        while let spokenFor = section {
            spokenFor.isSpokenFor = true
            section = spokenFor.parent
        }
        return Scalar(text: text, source: .variable(name), path: path)
    }

    private func written(_ key: String) -> JSONNode? {
        guard let node = node?[key] else { return nil }
        sources[key] = .node(node)
        return node
    }

    /// The entries of a list, nil for those of another kind.
    private func scalars<Value>(
        _ key: String,
        _ form: ConfigurationForm<Value>,
        _ expectation: ConfigurationProblem.Expectation,
        _ mayBeWord: Bool
    ) -> [Scalar?]? {
        if let scalar = said(byVariableOf: key) {
            return scalar.text.split(separator: ",", omittingEmptySubsequences: false).map {
                Scalar(text: $0.trimmed, source: scalar.source, path: scalar.path)
            }
        }
        guard let node = written(key) else { return nil }
        if mayBeWord, node.kind == .string { return [scalar(node, form, path: path(of: key))] }
        guard node.kind == .array else {
            mistake(node, expectation, at: path(of: key))
            return nil
        }
        return node.elements.enumerated().map { index, element in
            scalar(element, form, path: "\(path(of: key))[\(index)]")
        }
    }

    private func unrepeated(_ scalars: [Scalar]) -> [Scalar] {
        var first: [String: ConfigurationSource] = [:]
        return scalars.filter { scalar in
            guard let earlier = first[scalar.text] else {
                first[scalar.text] = scalar.source
                return true
            }
            let reason = ConfigurationProblem.Reason.repeated(
                scalar.text,
                firstLine: earlier.line
            )
            report(reason, at: scalar.source, path: scalar.path)
            return false
        }
    }

    private func scalar<Value>(_ key: String, _ form: ConfigurationForm<Value>) -> Scalar? {
        written(key).flatMap { scalar($0, form, path: path(of: key)) }
    }

    private func scalar<Value>(
        _ node: JSONNode,
        _ form: ConfigurationForm<Value>,
        path: String
    ) -> Scalar? {
        guard node.kind == form.kind else {
            mistake(node, form.expectation, at: path)
            return nil
        }
        let text =
            node.string ?? node.int64.map(String.init)
            ?? String(decoding: node.source, as: UTF8.self)
        return Scalar(text: text, source: .node(node), path: path)
    }

    private func read<Value>(_ scalar: Scalar, _ form: ConfigurationForm<Value>) -> Value? {
        do {
            if let value = try form.read(scalar.text) { return value }
            let found: ConfigurationProblem.Found = form.isShown ? .text(scalar.text) : .hidden
            report(
                .mismatch(form.expectation, found: found),
                at: scalar.source,
                path: scalar.path
            )
        } catch {
            report(error, at: scalar.source, path: scalar.path)
        }
        return nil
    }
}

extension Substring {
    /// The text without spaces at its ends.
    fileprivate var trimmed: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}

// MARK: - Objects within

extension ConfigurationSection {
    /// A member that is an object; if the file has none, variables may still speak of it.
    func section(_ key: String) -> ConfigurationSection {
        ask(key)
        return section(
            written(key),
            path: path(of: key),
            variable: variable.map { ConfigurationVariable.name($0, key) }
        )
    }

    /// A member that is a list of objects; nil if it was not said, or is no list.
    func sections(
        _ key: String,
        _ expectation: ConfigurationProblem.Expectation = .list,
        isNeeded: Bool = false
    ) -> [ConfigurationSection]? {
        ask(key)
        if isNeeded { demand(key, expectation) }
        guard let node = written(key) else { return nil }
        guard node.kind == .array else {
            mistake(node, expectation, at: path(of: key))
            return nil
        }
        let base = variable.map { ConfigurationVariable.name($0, key) }
        return node.elements.enumerated().map { index, element in
            section(
                element,
                path: "\(path(of: key))[\(index)]",
                variable: base.map { ConfigurationVariable.name($0, "\(index)") }
            )
        }
    }

    /// The members of an object whose keys are names, each of them an object.
    func namedSections() -> [(name: String, section: ConfigurationSection)] {
        guard let node else { return [] }
        return node.members.map { name, value in
            let own = variable.map { ConfigurationVariable.name($0, name) }
            return (name, section(value, path: path(of: name), variable: own))
        }
    }

    /// The members of an object whose keys are names, each of them a list of scalars.
    func namedLists<Value>(
        of form: ConfigurationForm<Value>
    ) -> [(name: String, list: [Value])] {
        let names = node?.members.map { name, _ in name } ?? []
        return names.map { ($0, list($0, of: form, mayBeEmpty: true) ?? []) }
    }

    private func section(
        _ node: JSONNode?,
        path: String,
        variable: String?
    ) -> ConfigurationSection {
        ConfigurationSection(
            node,
            path: path,
            variable: variable,
            source: node.map { .node($0) } ?? source,
            parent: self,
            reading: reading
        )
    }
}
