/// A shell with support for completions.
package enum Shell: String, CaseIterable, Sendable {
    case bash, fish, zsh
}

extension Program {
    /// Returns a script that completes the program's commands and options in a shell.
    package func completions(for shell: Shell) -> String {
        let places = CompletionPlace.all(of: root)
        return switch shell {
        case .bash: bash(places)
        case .zsh: zsh(places)
        case .fish: fish(places)
        }
    }

    // MARK: bash and zsh

    /// Each line matches the command names typed so far; options are skipped.
    private func cases(_ places: [CompletionPlace], _ indent: String) -> String {
        places.map { place in
            let words = place.path.joined(separator: " ")
            let offered = place.words.joined(separator: " ")
            return "\(indent)'\(words)') offered='\(offered)' ;;"
        }.joined(separator: "\n")
    }

    /// The pattern of all command names, to check whether the typed names are a command.
    private func known(_ places: [CompletionPlace]) -> String {
        places.map { "'\($0.path.joined(separator: " "))'" }.joined(separator: "|")
    }

    private func bash(_ places: [CompletionPlace]) -> String {
        """
        # Completions of \(name) for bash; load them with: source <(\(name) completions bash)
        _\(name)() {
            local current=${COMP_WORDS[COMP_CWORD]} place='\(name)' offered='' word
            for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                case "$place $word" in
                    \(known(places))) place="$place $word" ;;
                esac
            done
            case "$place" in
        \(cases(places, "        "))
            esac
            COMPREPLY=($(compgen -W "$offered" -- "$current"))
        }
        complete -o default -F _\(name) \(name)

        """
    }

    private func zsh(_ places: [CompletionPlace]) -> String {
        """
        #compdef \(name)
        # Completions of \(name) for zsh; put them into a folder of $fpath as _\(name)
        _\(name)() {
            local place='\(name)' offered='' word
            for word in "${words[@]:1:$((CURRENT - 2))}"; do
                case "$place $word" in
                    (\(known(places))) place="$place $word" ;;
                esac
            done
            case "$place" in
        \(cases(places, "        ("))
            esac
            compadd -- ${=offered}
            [[ $PREFIX == -* ]] || _files
        }
        if [ "$funcstack[1]" = _\(name) ]; then _\(name) "$@"; else compdef _\(name) \(name); fi

        """
    }

    // MARK: fish

    private func fish(_ places: [CompletionPlace]) -> String {
        var lines = [
            "# Completions of \(name) for fish; write them to ~/.config/fish/completions/\(name).fish",
            "function __\(name)_at",
            "    set -l place \(name)",
            "    for word in (commandline -opc)[2..]",
            "        switch \"$place $word\"",
            "            case \(known(places).replacing("|", with: " "))",
            "                set place \"$place $word\"",
            "        end",
            "    end",
            "    test \"$place\" = \"$argv\"",
            "end",
        ]
        for place in places {
            let condition = "__\(name)_at \(place.path.joined(separator: " "))"
            for command in place.commands {
                lines.append(
                    "complete -c \(name) -n '\(condition)' -f -a \(command.name) -d \(quoted(command.summary))"
                )
            }
            for option in place.options {
                let takesValue = option.kind == .flag ? "" : " -r"
                lines.append(
                    "complete -c \(name) -n '\(condition)' -l \(option.name.dropFirst(2))\(takesValue) "
                        + "-d \(quoted(option.help))"
                )
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}

/// The possible completions after a command's names.
private struct CompletionPlace {
    let path: [String]
    let commands: [Command]
    let options: [Declaration]

    var words: [String] {
        commands.map(\.name) + options.map(\.name) + (path.count == 1 ? ["--version"] : [])
            + ["--help"]
    }

    static func all(of command: Command, path: [String] = []) -> [CompletionPlace] {
        let path = path + [command.name]
        let place = CompletionPlace(
            path: path,
            commands: command.subcommands,
            options: command.completedOptions
        )
        return [place] + command.subcommands.flatMap { all(of: $0, path: path) }
    }
}

extension Command {
    /// The command's options; for a group, those of its default command.
    fileprivate var completedOptions: [Declaration] {
        switch body {
        case .action: declarations.filter { $0.kind != .argument }
        case .group(_, let unlessNamed): unlessNamed?.completedOptions ?? []
        }
    }
}
