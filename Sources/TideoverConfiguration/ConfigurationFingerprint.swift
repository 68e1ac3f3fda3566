import TideoverCore
import TideoverJSON
import TideoverSignatures

extension Configuration {
    /// Returns the fingerprint of what servers on one database should have in common.
    ///
    /// It contains what the file and the environment set, and each app's catalogue and policy. It
    /// does not contain defaults, which another version may add to; nor what belongs to one
    /// machine: the address, the storage and the names of secret files.
    func fingerprint(of settings: [Setting]) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            for setting in settings where setting.place != nil && setting.isShared {
                writer.value(setting.path)
                writer.value(setting.text)
            }
            for app in apps {
                app.catalogue.write(to: &writer)
                app.policy.write(to: &writer)
            }
        }
        return Hexadecimal.text(SHA256.hash(writer.bytes).prefix(8))
    }
}

extension Configuration.Setting {
    fileprivate var isShared: Bool {
        !namesSecretFile && !["server.listen", "server.sdkListen"].contains(path)
            && !path.hasPrefix("storage")
    }
}
