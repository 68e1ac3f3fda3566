import TideoverJSON

/// The description of a parameter for the parser and the help text, for any type of value.
package struct Declaration: Hashable, Sendable {
    /// The syntax of a parameter on the command line.
    package enum Kind: Hashable, Sendable {
        /// `--json`: present or absent.
        case flag
        /// `--app ID` or `--app=ID`.
        case option(valueName: String)
        /// A positional argument.
        case argument
    }

    /// The parameter's syntax.
    package let kind: Kind
    /// `--app` for flags and options, `FILE` for arguments.
    package let name: String
    /// The purpose, in a phrase without a full stop.
    package let help: String
    /// Whether the command requires it.
    package let isRequired: Bool
    /// Whether it may be given more than once.
    package let isRepeated: Bool
    /// The default value as text.
    package let defaultText: String?

    init(
        _ kind: Kind,
        _ name: String,
        _ help: String,
        isRequired: Bool = false,
        isRepeated: Bool = false,
        defaultText: String? = nil
    ) {
        self.kind = kind
        self.name = name
        self.help = help
        self.isRequired = isRequired
        self.isRepeated = isRepeated
        self.defaultText = defaultText
    }
}

/// A parameter of any type, as a command lists it.
package protocol DeclaredParameter: Sendable {
    /// The description for the parser and the help text.
    var declaration: Declaration { get }
    /// Throws for the first of its texts that is invalid.
    func check(_ texts: [String]) throws(UnfitValue)
}

/// A text that is invalid for its parameter.
package struct UnfitValue: Error, Hashable {
    /// The text as given.
    package let text: String
    /// The expected values, such as "a whole number".
    package let expected: String
    /// The closest valid text.
    package let suggestion: String?
}

/// Parses values from text, and describes the valid texts for errors.
package struct ValueForm<Value: Sendable>: Sendable {
    let expected: String
    let choices: [String]
    let read: @Sendable (String) -> Value?

    /// Creates a form. `expected` describes it ("an instant such as 2026-05-06T10:00:00Z"). `read`
    /// returns nil for invalid text. `choices` lists the valid texts if their number is limited.
    package init(
        _ expected: String,
        choices: [String] = [],
        read: @escaping @Sendable (String) -> Value?
    ) {
        self.expected = expected
        self.choices = choices
        self.read = read
    }

    func value(_ text: String) throws(UnfitValue) -> Value {
        guard let value = read(text) else {
            throw UnfitValue(
                text: text,
                expected: expected,
                suggestion: closestName(to: text, among: choices)
            )
        }
        return value
    }

    func values(_ texts: [String]) throws(UnfitValue) -> [Value] {
        var values: [Value] = []
        for text in texts { values.append(try value(text)) }
        return values
    }
}

extension ValueForm<String> {
    /// Any text that is not empty.
    package static let text = ValueForm("a text") { $0 }
}

extension ValueForm<Int> {
    /// A whole number in a range, in decimal digits.
    package static func integer(in range: ClosedRange<Int>) -> ValueForm {
        ValueForm("a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueForm where Value: CaseIterable & RawRepresentable<String> {
    /// One of the cases of an enumeration, by raw value.
    package static var choice: ValueForm {
        let choices = Value.allCases.map(\.rawValue)
        return ValueForm(Words.list(choices, "or"), choices: choices) { Value(rawValue: $0) }
    }
}

/// One flag, option or argument of a command; it reads its value from `Arguments`.
package struct Parameter<Value: Sendable>: DeclaredParameter {
    package let declaration: Declaration
    let read: @Sendable ([String]) throws(UnfitValue) -> Value

    package func check(_ texts: [String]) throws(UnfitValue) {
        _ = try read(texts)
    }
}

/// Creates parameters, as in `Parameter.flag("--json", "...")`. Each has its own type of value.
extension Parameter<Never> {
    /// `--json`: true if present.
    package static func flag(_ name: String, _ help: String) -> Parameter<Bool> {
        Parameter<Bool>(declaration: Declaration(.flag, name, help)) { texts throws(UnfitValue) in
            !texts.isEmpty
        }
    }

    /// `--at INSTANT`: nil if absent.
    package static func option<Given>(
        _ name: String,
        _ valueName: String,
        _ help: String,
        as form: ValueForm<Given> = ValueForm<String>.text
    ) -> Parameter<Given?> {
        let declaration = Declaration(.option(valueName: valueName), name, help)
        return Parameter<Given?>(declaration: declaration) { texts throws(UnfitValue) in
            try form.values(texts).first
        }
    }

    /// `--port N` with a default value, which must be valid for the form.
    package static func option<Given>(
        _ name: String,
        _ valueName: String,
        _ help: String,
        as form: ValueForm<Given> = ValueForm<String>.text,
        default text: String
    ) -> Parameter<Given> {
        precondition(form.read(text) != nil, "the default of \(name) fits its own form")
        let declaration = Declaration(.option(valueName: valueName), name, help, defaultText: text)
        return Parameter<Given>(declaration: declaration) { texts throws(UnfitValue) in
            try form.value(texts.first ?? text)
        }
    }

    /// `--app ID`, required.
    package static func requiredOption<Given>(
        _ name: String,
        _ valueName: String,
        _ help: String,
        as form: ValueForm<Given> = ValueForm<String>.text
    ) -> Parameter<Given> {
        let declaration = Declaration(.option(valueName: valueName), name, help, isRequired: true)
        return Parameter<Given>(declaration: declaration) { texts throws(UnfitValue) in
            try form.value(texts.first ?? "")
        }
    }

    /// `--root DER`, any number of times, in the given order.
    package static func repeatedOption<Given>(
        _ name: String,
        _ valueName: String,
        _ help: String,
        as form: ValueForm<Given> = ValueForm<String>.text
    ) -> Parameter<[Given]> {
        let declaration = Declaration(.option(valueName: valueName), name, help, isRepeated: true)
        return Parameter<[Given]>(declaration: declaration) { texts throws(UnfitValue) in
            try form.values(texts)
        }
    }

    /// `FILE`, required.
    package static func argument<Given>(
        _ name: String,
        _ help: String,
        as form: ValueForm<Given> = ValueForm<String>.text
    ) -> Parameter<Given> {
        let declaration = Declaration(.argument, name, help, isRequired: true)
        return Parameter<Given>(declaration: declaration) { texts throws(UnfitValue) in
            try form.value(texts.first ?? "")
        }
    }

    /// `[FILE]`: nil if absent.
    package static func optionalArgument<Given>(
        _ name: String,
        _ help: String,
        as form: ValueForm<Given> = ValueForm<String>.text
    ) -> Parameter<Given?> {
        let declaration = Declaration(.argument, name, help)
        return Parameter<Given?>(declaration: declaration) { texts throws(UnfitValue) in
            try form.values(texts).first
        }
    }

    /// `SCENARIO...`: all remaining arguments; at least one if required.
    package static func arguments<Given>(
        _ name: String,
        _ help: String,
        isRequired: Bool = true,
        as form: ValueForm<Given> = ValueForm<String>.text
    ) -> Parameter<[Given]> {
        let declaration = Declaration(
            .argument,
            name,
            help,
            isRequired: isRequired,
            isRepeated: true
        )
        return Parameter<[Given]>(declaration: declaration) { texts throws(UnfitValue) in
            try form.values(texts)
        }
    }
}
