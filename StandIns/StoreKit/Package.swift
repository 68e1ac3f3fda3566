// swift-tools-version: 6.2
import PackageDescription

// Replaces Apple's frameworks on Linux, so that the adapter of iPhones is compiled and tested there.
// It is a separate package: a missing `@unknown default` is an error for another package's
// enumerations, as it is for the frameworks'.
let package = Package(
    name: "StoreKit",
    products: [
        .library(name: "StoreKit", targets: ["StoreKit"]),
        .library(name: "UIKit", targets: ["UIKit"]),
        .library(name: "StoreKitFaking", targets: ["StoreKitFaking"]),
    ],
    targets: [
        .target(name: "UIKit"),
        .target(name: "StoreKit", dependencies: ["UIKit"]),
        .target(name: "StoreKitFaking", dependencies: ["StoreKit", "UIKit"]),
    ],
    swiftLanguageModes: [.v6]
)
