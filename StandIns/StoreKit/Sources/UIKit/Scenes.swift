// The classes of Apple's framework that StoreKit's sheets take; see
// https://developer.apple.com/documentation/uikit/uiwindowscene

@MainActor
open class UIScene {
    package init() {}
}

@MainActor
open class UIWindowScene: UIScene {
    /// Apple's initialiser takes a session; the stand-in's scenes have none.
    override package init() { super.init() }
}
