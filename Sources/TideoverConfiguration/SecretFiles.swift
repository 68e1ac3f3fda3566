extension Configuration {
    /// A file with a secret, and the configuration key that names it.
    package struct SecretFile: Hashable, Sendable {
        package let key: String
        package let path: String
    }

    /// Returns each file with a secret that a server of this configuration opens.
    /// `pass.otherKeyFiles` may contain public keys, which are not secret; `isPrivateKey`
    /// identifies private ones.
    package func secretFiles(isPrivateKey: (String) -> Bool) -> [SecretFile] {
        var files: [SecretFile] = []
        func add(_ key: String, _ path: String?) {
            if let path { files.append(SecretFile(key: key, path: path)) }
        }
        add("server.adminKeyFile", server.adminKeyFile)
        add("pass.keyFile", pass?.keyFile)
        for path in pass?.otherKeyFiles ?? [] where isPrivateKey(path) {
            add("pass.otherKeyFiles", path)
        }
        for app in apps {
            let place = "\(app.id): "
            add("\(place)appStore.privateKeyFile", app.appStore?.apiKey?.privateKeyFile)
            add("\(place)googlePlay.serviceAccountFile", app.googlePlay?.serviceAccountFile)
            let relay = app.revenueCat
            add("\(place)revenueCat.webhookAuthorizationFile", relay?.webhookAuthorizationFile)
            add("\(place)revenueCat.signatureSecretFile", relay?.signatureSecretFile)
            add("\(place)revenueCat.apiKeyFile", relay?.apiKeyFile)
            add("\(place)revenueCat.sdk.signingKeyFile", relay?.sdk?.signingKeyFile)
        }
        for (index, webhook) in webhooks.enumerated() {
            add("webhooks[\(index)].secretFile", webhook.secretFile)
            add("webhooks[\(index)].previousSecretFile", webhook.previousSecretFile)
            add("webhooks[\(index)].signingKeyFile", webhook.signingKeyFile)
            add("webhooks[\(index)].authorizationFile", webhook.authorizationFile)
        }
        return files
    }
}
