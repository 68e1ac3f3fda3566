/// An invalid command line.
package struct UsageError: Error, Hashable {
    /// The kind of error.
    package enum Reason: Hashable, Sendable {
        /// A group was called without one of its commands.
        case missingCommand
        /// No command has this name.
        case unknownCommand(String, suggestion: String?)
        /// The command has no such option.
        case unknownOption(String, suggestion: String?)
        /// An option precedes its command.
        case optionBeforeCommand(String)
        /// An option has no value.
        case missingValue(option: String, valueName: String)
        /// A flag has a value.
        case unexpectedValue(flag: String, value: String)
        /// An option for one value is repeated.
        case repeatedOption(String)
        /// A required option is missing.
        case missingOption(String, valueName: String)
        /// A required argument is missing or empty.
        case missingArgument(String)
        /// There are too many arguments.
        case unexpectedArgument(String)
        /// A value is invalid for its parameter.
        case unfitValue(parameter: String, UnfitValue)
        /// Two parameters exclude each other.
        case conflict(String, String)
        /// At least one of these is required.
        case missingOneOf([String])
        /// A parameter requires another one.
        case needs(String, other: String)
    }

    /// The kind of error.
    package let reason: Reason
    /// The names that called the command, as far as they are valid.
    package let command: [String]

    init(_ reason: Reason, command: [String]) {
        self.reason = reason
        self.command = command
    }
}

/// The messages of all usage errors.
enum Words {
    static func sentence(for reason: UsageError.Reason) -> String {
        switch reason {
        case .missingCommand: "a command is missing"
        case .unknownCommand(let name, let suggestion):
            "there is no command \(quoted(name))" + didYouMean(suggestion)
        case .unknownOption(let name, let suggestion):
            "there is no option \(quoted(name))" + didYouMean(suggestion)
        case .optionBeforeCommand(let name): "\(quoted(name)) must follow the command"
        case .missingValue(let option, let valueName):
            "\(quoted(option)) needs a value: \(valueName)"
        case .unexpectedValue(let flag, let value):
            "\(quoted(flag)) takes no value, but has \(quoted(value))"
        case .repeatedOption(let option): "\(quoted(option)) was given more than once"
        case .missingOption(let option, let valueName):
            "\(quoted("\(option) \(valueName)")) is missing"
        case .missingArgument(let name): "\(name) is missing"
        case .unexpectedArgument(let text): "\(quoted(text)) is an unexpected argument"
        case .unfitValue(let parameter, let unfit): sentence(for: unfit, of: parameter)
        case .conflict(let one, let other):
            "\(quoted(one)) and \(quoted(other)) cannot be combined"
        case .missingOneOf(let names): "give \(list(names.map(quoted), "or"))"
        case .needs(let one, let other): "\(quoted(one)) needs \(quoted(other)) too"
        }
    }

    private static func sentence(for unfit: UnfitValue, of parameter: String) -> String {
        "\(quoted(parameter)) takes \(unfit.expected), not \(quoted(unfit.text))"
            + didYouMean(unfit.suggestion)
    }

    /// Text from the command line may contain anything; it is escaped for the terminal.
    static func quoted(_ text: String) -> String {
        "`\(TextLayout.visible(TextLayout.truncated(text, to: 60)))`"
    }

    private static func didYouMean(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean `\($0)`?" } ?? ""
    }

    static func list(_ items: [String], _ conjunction: String) -> String {
        guard let last = items.last, items.count > 1 else { return items.first ?? "" }
        return items.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
    }
}
