/// The files that pages load, embedded in the program.
package enum Asset: String, Sendable, CaseIterable {
    case css = "dashboard.css"
    case script = "dashboard.js"
    case icon = "icon.svg"

    package var bytes: [UInt8] {
        switch self {
        case .css: PackageResources.dashboard_css
        case .script: PackageResources.dashboard_js
        case .icon: PackageResources.icon_svg
        }
    }

    package var type: String {
        switch self {
        case .css: "text/css; charset=utf-8"
        case .script: "text/javascript; charset=utf-8"
        case .icon: "image/svg+xml"
        }
    }
}
