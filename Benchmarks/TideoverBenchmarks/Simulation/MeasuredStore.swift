/// A simulated store as its speed is measured: what customers do goes in, what it says comes out. It sells
/// one subscription by the month, with a week's trial and grace.
protocol MeasuredStore {
    associatedtype Message

    /// The store's name in the report.
    static var name: String { get }

    /// A store without customers; the clock is in milliseconds since 1970.
    init(seed: UInt64, now: Int64)

    /// Makes a customer known, by number.
    mutating func register(_ customer: Int) throws

    /// What the store says at once; nil where it refuses.
    mutating func perform(_ deed: CustomerYear.Deed, by customer: Int) -> [Message]?

    /// Lets time pass up to and including the instant.
    mutating func advance(to instant: Int64) -> [Message]

    /// Everything that a receiver will learn of a message, before it is signed.
    static func bytes(of message: Message) -> [UInt8]

    /// Whether a month that is paid for begins with it.
    static func beginsMonth(_ message: Message) -> Bool
}
