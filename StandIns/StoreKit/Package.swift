// swift-tools-version: 6.2
import PackageDescription

// Replaces Apple's framework on Linux, so that the adapter of iPhones is compiled and tested there.
// It is a separate package: a missing `@unknown default` is an error for another package's
// enumerations, as it is for the framework's.
let package = Package(
    name: "StoreKit",
    products: [
        .library(name: "StoreKit", targets: ["StoreKit"]),
        .library(name: "StoreKitFaking", targets: ["StoreKitFaking"]),
    ],
    targets: [
        .target(name: "StoreKit"),
        .target(name: "StoreKitFaking", dependencies: ["StoreKit"]),
    ],
    swiftLanguageModes: [.v6]
)
