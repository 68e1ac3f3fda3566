import TideoverJSON

/// What the parser and the help text know of a parameter, whatever the type of its value.
public struct Declaration: Hashable, Sendable {
    /// How a parameter is written on the command line.
    public enum Kind: Hashable, Sendable {
        /// `--json`: given or not.
        case flag
        /// `--app ID` or `--app=ID`.
        case option(valueName: String)
        /// A word by its position.
        case argument
    }

    /// How it is written.
    public let kind: Kind
    /// `--app` for flags and options, `FILE` for arguments.
    public let name: String
    /// What it is for, in a phrase without a full stop.
    public let help: String
    /// Whether the command refuses to start without it.
    public let isRequired: Bool
    /// Whether it may be given more than once.
    public let isRepeated: Bool
    /// The text that counts when it is not given.
    public let defaultText: String?

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
public protocol DeclaredParameter: Sendable {
    /// What the parser and the help text know of it.
    var declaration: Declaration { get }
    /// Finds the first of the texts given for it that does not fit.
    func check(_ texts: [String]) throws(UnfitValue)
}

/// A text that does not fit what its parameter takes.
public struct UnfitValue: Error, Hashable {
    /// The text as given.
    public let text: String
    /// What the parameter takes, such as "a whole number".
    public let expected: String
    /// What was probably meant.
    public let suggestion: String?
}

/// How the text of a value is read, and what to say when it cannot be.
public struct ValueForm<Value: Sendable>: Sendable {
    let expected: String
    let choices: [String]
    let read: @Sendable (String) -> Value?

    /// A form that `expected` describes ("an instant such as 2026-05-06T10:00:00Z"); `read` answers nil
    /// for a text that does not fit; `choices` are the texts that fit, where there are only so many.
    public init(
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
    public static let text = ValueForm("a text") { $0 }
}

extension ValueForm<Int> {
    /// A whole number inside a range, in decimal digits.
    public static func integer(in range: ClosedRange<Int>) -> ValueForm {
        ValueForm("a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueForm where Value: CaseIterable & RawRepresentable<String> {
    /// One of the cases of an enumeration, by raw value.
    public static var choice: ValueForm {
        let choices = Value.allCases.map(\.rawValue)
        return ValueForm(Words.list(choices, "or"), choices: choices) { Value(rawValue: $0) }
    }
}

/// One flag, option or argument of a command; reads its value out of `Arguments`.
public struct Parameter<Value: Sendable>: DeclaredParameter {
    public let declaration: Declaration
    let read: @Sendable ([String]) throws(UnfitValue) -> Value

    public func check(_ texts: [String]) throws(UnfitValue) {
        _ = try read(texts)
    }
}

/// How parameters are made: `Parameter.flag("--json", "...")`. What is made has its own type of value.
extension Parameter<Never> {
    /// `--json`: true when given.
    public static func flag(_ name: String, _ help: String) -> Parameter<Bool> {
        Parameter<Bool>(declaration: Declaration(.flag, name, help)) { texts throws(UnfitValue) in
            !texts.isEmpty
        }
    }

    /// `--at INSTANT`: nil when not given.
    public static func option<Given>(
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

    /// `--port N` with a value that counts when it is not given; the default must fit the form.
    public static func option<Given>(
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

    /// `--app ID` that must be given.
    public static func requiredOption<Given>(
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

    /// `--root DER` that may be given any number of times, in the order given.
    public static func repeatedOption<Given>(
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

    /// `FILE` that must be given.
    public static func argument<Given>(
        _ name: String,
        _ help: String,
        as form: ValueForm<Given> = ValueForm<String>.text
    ) -> Parameter<Given> {
        let declaration = Declaration(.argument, name, help, isRequired: true)
        return Parameter<Given>(declaration: declaration) { texts throws(UnfitValue) in
            try form.value(texts.first ?? "")
        }
    }

    /// `[FILE]`: nil when not given.
    public static func optionalArgument<Given>(
        _ name: String,
        _ help: String,
        as form: ValueForm<Given> = ValueForm<String>.text
    ) -> Parameter<Given?> {
        let declaration = Declaration(.argument, name, help)
        return Parameter<Given?>(declaration: declaration) { texts throws(UnfitValue) in
            try form.values(texts).first
        }
    }

    /// `SCENARIO...`: all further words; at least one if required.
    public static func arguments<Given>(
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
