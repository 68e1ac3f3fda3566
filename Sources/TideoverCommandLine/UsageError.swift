/// A command line that was not understood.
public struct UsageError: Error, Hashable {
    /// What was wrong with it.
    public enum Reason: Hashable, Sendable {
        /// A group was called without one of its commands.
        case missingCommand
        /// No command has this name.
        case unknownCommand(String, suggestion: String?)
        /// The command has no such option.
        case unknownOption(String, suggestion: String?)
        /// An option stands before the command it belongs to.
        case optionBeforeCommand(String)
        /// An option ends without its value.
        case missingValue(option: String, valueName: String)
        /// A flag was given a value.
        case unexpectedValue(flag: String, value: String)
        /// An option was given twice that takes one value.
        case repeatedOption(String)
        /// A required option was not given.
        case missingOption(String, valueName: String)
        /// A required argument was not given, or is empty.
        case missingArgument(String)
        /// There are more arguments than the command takes.
        case unexpectedArgument(String)
        /// A value does not fit what its parameter takes.
        case unfitValue(parameter: String, UnfitValue)
        /// Two parameters exclude each other.
        case conflict(String, String)
        /// At least one of these must be given.
        case missingOneOf([String])
        /// A parameter makes sense only beside another.
        case needs(String, other: String)
    }

    /// What was wrong.
    public let reason: Reason
    /// The words that called the command, as far as they were understood.
    public let command: [String]

    init(_ reason: Reason, command: [String]) {
        self.reason = reason
        self.command = command
    }
}

/// The words for wrong usage, all in this place.
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
            "\(quoted(flag)) takes no value, but was given \(quoted(value))"
        case .repeatedOption(let option): "\(quoted(option)) was given more than once"
        case .missingOption(let option, let valueName):
            "\(quoted("\(option) \(valueName)")) is missing"
        case .missingArgument(let name): "\(name) is missing"
        case .unexpectedArgument(let text): "\(quoted(text)) is one argument too many"
        case .unfitValue(let parameter, let unfit): sentence(for: unfit, of: parameter)
        case .conflict(let one, let other):
            "\(quoted(one)) and \(quoted(other)) cannot be combined"
        case .missingOneOf(let names): "give \(list(names.map(quoted), "or"))"
        case .needs(let one, let other): "\(quoted(one)) needs \(quoted(other)) beside it"
        }
    }

    private static func sentence(for unfit: UnfitValue, of parameter: String) -> String {
        "\(quoted(parameter)) takes \(unfit.expected), not \(quoted(unfit.text))"
            + didYouMean(unfit.suggestion)
    }

    /// Text from the command line may hold anything; it is shown without steering the terminal.
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
