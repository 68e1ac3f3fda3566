import TideoverJSON

/// The state that the sections of one configuration share during reading: the environment, the
/// problems and the notices.
final class ConfigurationReading {
    let file: String
    private let environment: [String: String]
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var notices: [ConfigurationNotice] = []
    /// The effective values, in the order of the schema.
    private(set) var records: [ConfigurationRecord] = []
    /// The configuration path of each known variable, set or not.
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

    /// Returns the value of a variable, or nil if it is unset or empty.
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

    /// Adds a notice for each variable that has our prefix and sets no configuration value.
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

/// The origin of a value. Line and column are computed only for problems.
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

    /// The line in the file, or nil for a variable.
    var line: Int? {
        if case .node(let node) = self { node.position.line } else { nil }
    }
}

/// One object of the configuration during reading. Environment variables override the members in
/// the file.
///
/// The reader requests each member exactly once, present or not; these requests define the schema.
/// `close` then reports missing members and unknown keys.
final class ConfigurationSection {
    /// The path of the object, such as `apps[0].appStore`.
    let path: String
    /// The variable name that prefixes the names of its members, or nil if variables cannot set
    /// them.
    var variable: String?
    private let reading: ConfigurationReading
    private let parent: ConfigurationSection?
    /// The object, or the nearest enclosing object if the file omits it.
    private let source: ConfigurationSource
    /// The object in the file, or nil if absent.
    private let node: JSONNode?
    /// Whether the file has a value of another kind in its place.
    private let isMistaken: Bool
    private var isSpokenFor = false
    private var keys: [String] = []
    /// The origin of each member that is present.
    private var sources: [String: ConfigurationSource] = [:]
    private var demands: [(key: String, expectation: ConfigurationProblem.Expectation)] = []

    /// Creates the section for a node that must be an object; `node` is nil if the file omits it.
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

    /// Whether the file or a variable sets the object or one of its members.
    var isPresent: Bool { node != nil || isMistaken || isSpokenFor }

    /// Whether a requested member is present, valid or not.
    func has(_ key: String) -> Bool { sources[key] != nil }

    /// Returns the origin of a requested member, or nil if it is absent.
    func source(of key: String) -> ConfigurationSource? { sources[key] }

    func path(of key: String) -> String {
        let isName = key.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
        let segment = isName && !key.isEmpty ? key : "\"\(key)\""
        return path.isEmpty ? segment : "\(path).\(segment)"
    }

    func note(_ notice: ConfigurationNotice) { reading.note(notice) }

    /// Reports a problem at the member's position, or at the object's if the member is absent.
    func report(_ reason: ConfigurationProblem.Reason, of key: String) {
        report(reason, at: sources[key] ?? source, path: path(of: key))
    }

    /// Finishes reading: reports required members that are missing, and unknown keys.
    ///
    /// Returns whether the object is present. An absent object has no missing members.
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
    /// A scalar as written in the file or a variable.
    private struct Scalar {
        let text: String
        let source: ConfigurationSource
        let path: String
    }

    /// Returns a scalar member. Returns nil if it is absent or invalid, and reports an invalid one.
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

    /// Returns a scalar member, or the value of the default text if it is absent or invalid.
    func value<Value>(
        _ key: String,
        _ form: ConfigurationForm<Value>,
        default text: String
    ) -> Value {
        value(key, form) ?? standard(key, form, text)
    }

    /// Returns the default of a requested scalar that is absent or invalid.
    func standard<Value>(_ key: String, _ form: ConfigurationForm<Value>, _ text: String) -> Value {
        guard let standard = try? form.read(text) else {
            preconditionFailure("a default has the form of its place")
        }
        if !has(key) { record(key, form.shown(text)) }
        return standard
    }

    /// Returns a member that is a list of scalars, or nil if it is absent. A variable separates the
    /// entries by commas. Invalid entries are reported and omitted.
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

    /// Returns a member that is a list of scalars, or the default if it is absent. `mayBeWord` also
    /// accepts a single scalar.
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

    /// Records the effective value of a member.
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

    /// Marks a member as required.
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

    /// Returns the entries of a list, with nil for an entry of another kind.
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
    /// The text without leading and trailing spaces.
    fileprivate var trimmed: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}

// MARK: - Objects within

extension ConfigurationSection {
    /// Returns the section of a member that is an object. If the file omits it, variables can still
    /// set its members.
    func section(_ key: String) -> ConfigurationSection {
        ask(key)
        return section(
            written(key),
            path: path(of: key),
            variable: variable.map { ConfigurationVariable.name($0, key) }
        )
    }

    /// Returns a member that is an object of free values, or nil if it is absent or not an object.
    func object(_ key: String) -> JSONObject? {
        ask(key)
        guard let node = written(key) else { return nil }
        guard case .object(let object) = JSONValue(node) else {
            mistake(node, .object, at: path(of: key))
            return nil
        }
        record(key, .object(object))
        return object
    }

    /// Returns the sections of a member that is a list of objects, or nil if it is absent or not a
    /// list.
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

    /// Returns the sections of an object with names as keys and objects as values.
    func namedSections() -> [(name: String, section: ConfigurationSection)] {
        guard let node else { return [] }
        return node.members.map { name, value in
            let own = variable.map { ConfigurationVariable.name($0, name) }
            return (name, section(value, path: path(of: name), variable: own))
        }
    }

    /// Returns the scalars of an object with names as keys.
    func namedValues<Value>(
        of form: ConfigurationForm<Value>
    ) -> [(name: String, value: Value)] {
        let names = node?.members.map { name, _ in name } ?? []
        return names.compactMap { name in value(name, form).map { (name, $0) } }
    }

    /// Returns the lists of an object with names as keys and lists of scalars as values.
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
