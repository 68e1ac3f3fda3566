/// A simulated store for speed measurements, from customers' actions to the store's messages. It
/// sells one monthly subscription, with a trial of a week and grace.
protocol MeasuredStore {
    associatedtype Message

    /// The store's name in the report.
    static var name: String { get }

    /// Creates a store without customers; the clock is in milliseconds since 1970.
    init(seed: UInt64, now: Int64)

    /// Registers a customer, by number.
    mutating func register(_ customer: Int) throws

    /// Returns the store's immediate messages; nil if it rejects the action.
    mutating func perform(_ deed: CustomerYear.Deed, by customer: Int) -> [Message]?

    /// Advances the clock up to and including the instant.
    mutating func advance(to instant: Int64) -> [Message]

    /// Returns all data of a message that a receiver gets, before it is signed.
    static func bytes(of message: Message) -> [UInt8]

    /// Whether a paid month begins with the message.
    static func beginsMonth(_ message: Message) -> Bool
}
