/// All statements of the storage except its migrations and `CommonSQL`, as fixed texts.
///
/// They use only what compatible distributed databases also accept: no sequences, triggers,
/// notifications or advisory locks.
enum SQL {
    /// The customer column of an audit entry without a customer.
    static let noCustomer = ""

    // MARK: Sessions

    static let process: StaticString = "SELECT pg_backend_pid()::bigint"
    /// For a session that is kept: a plan made while a table is small is still used when it is
    /// large, so it has to use an index then too. Compiling a plan would cost more than it saves.
    static let tuneSession: StaticString = """
        SELECT set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false)
        """

    // MARK: Transactions

    /// A statement after the locks sees what was committed before they were taken. The database or
    /// the role can have another default, under which it would see what there was before the wait.
    static let begin: StaticString = "BEGIN ISOLATION LEVEL READ COMMITTED"
    /// All statements of the transaction see the same commits.
    static let beginReading: StaticString = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    /// Only for the transaction, since a pooler gives the next one another session. The second
    /// parameter limits how long a server may send nothing: it could be cut off, with locks that
    /// others wait for.
    static let limitTime: StaticString = """
        SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $1, true),
            set_config('idle_in_transaction_session_timeout', $2, true)
        """
    static let limitLocks: StaticString = "SELECT set_config('lock_timeout', $1, true)"
    /// In the order of their names, so that two servers never wait for one another.
    static let lockApps: StaticString = """
        SELECT app FROM app_lock WHERE app = ANY($1) ORDER BY app FOR UPDATE
        """
    static let addLock: StaticString = """
        INSERT INTO app_lock (app) VALUES ($1) ON CONFLICT DO NOTHING
        """

    // MARK: Schema

    static let createSchemaTable: StaticString = """
        CREATE TABLE IF NOT EXISTS tideover_schema (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1), version bigint NOT NULL
        )
        """
    static let insertSchemaRow: StaticString = """
        INSERT INTO tideover_schema (id, version) VALUES (1, 0) ON CONFLICT DO NOTHING
        """
    static let lockSchema: StaticString = """
        SELECT version FROM tideover_schema WHERE id = 1 FOR UPDATE
        """
    static let schema: StaticString = "SELECT version FROM tideover_schema WHERE id = 1"
    static let setSchema: StaticString = "UPDATE tideover_schema SET version = $1 WHERE id = 1"
    static let minimum: StaticString = "SELECT minimum FROM tideover_schema WHERE id = 1"
    /// A step never admits a version again that an earlier one excluded.
    static let setMinimum: StaticString = """
        UPDATE tideover_schema SET minimum = greatest(minimum, $1) WHERE id = 1
        """

    // MARK: One lineage, one customer

    static let facts: StaticString = """
        SELECT form, lineage FROM fact WHERE app = $1 AND environment = $2 AND lineage = ANY($3)
        ORDER BY lineage, asserted_at, identity
        """
    static let owners: StaticString = """
        SELECT form, lineage FROM owner WHERE app = $1 AND environment = $2 AND lineage = ANY($3)
        ORDER BY lineage, seq
        """
    static let ownersOfLineages: StaticString = """
        SELECT DISTINCT lineage, customer FROM owner
        WHERE app = $1 AND environment = $2 AND lineage = ANY($3)
        """
    static let lineagesOwned: StaticString = """
        SELECT DISTINCT lineage FROM owner
        WHERE app = $1 AND environment = $2 AND customer = ANY($3) ORDER BY lineage
        """
    /// Excludes the lineages settled under a fingerprint by an instant, except the first. Each row
    /// repeats their number, the latest of their instants and the first of their keys.
    static let lineagesUnsettled: StaticString = """
        WITH rest AS (
            SELECT count(*) AS number, max(settled_since) AS since, min(lineage) AS lineage
            FROM owner WHERE app = $1 AND environment = $2 AND customer = $3
                AND settled = $4 AND settled_since <= $5
        )
        SELECT DISTINCT owner.lineage, rest.number, rest.since FROM owner, rest
        WHERE app = $1 AND environment = $2 AND customer = $3
            AND (rest.number <= 1 OR settled IS NULL OR settled <> $4 OR settled_since > $5
                OR owner.lineage = rest.lineage)
        ORDER BY owner.lineage
        """
    static let settle: StaticString = """
        UPDATE owner SET settled = $4, settled_since = $5
        WHERE app = $1 AND environment = $2 AND lineage = $3
        AND (settled IS NULL OR settled <> $4 OR settled_since <> $5)
        """
    static let primaries: StaticString = """
        SELECT alias, customer FROM alias WHERE app = $1 AND environment = $2 AND alias = ANY($3)
        """
    /// The aliases of the customer that an id belongs to.
    static let aliases: StaticString = """
        SELECT alias, customer, since, why, declared_by FROM alias
        WHERE app = $1 AND environment = $2 AND customer = coalesce(
            (SELECT a.customer FROM alias AS a
            WHERE a.app = $1 AND a.environment = $2 AND a.alias = $3), $3)
        ORDER BY since, alias
        """

    // MARK: Drift

    /// An ended difference never changes.
    static let changeDrift: StaticString = """
        UPDATE drift SET healed_at = $5, form = $6
        WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4 AND healed_at IS NULL
        """

    // MARK: Attributes

    /// The ids for which an app states an email address, in order, each with its customer.
    static let customersByEmail: StaticString = """
        SELECT t.customer, coalesce(a.customer, t.customer), c.derived_at
        FROM attribute AS t
        LEFT JOIN alias AS a
            ON a.app = t.app AND a.environment = t.environment AND a.alias = t.customer
        LEFT JOIN customer AS c
            ON c.app = t.app AND c.environment = t.environment AND c.customer = t.customer
            AND a.alias IS NULL
        WHERE t.app = $1 AND t.environment = $2 AND t.name = '$email' AND length(t.value) <= 254
            AND lower(t.value) = $3 AND t.customer > $4
        ORDER BY t.customer LIMIT $5
        """
    static let logInsAfter: StaticString = """
        SELECT name FROM bookmark
        WHERE app = $1 AND environment = $2 AND name > $3 AND name > 'revenueCat:logIn:'
        AND name < 'revenueCat:logIn;'
        ORDER BY name LIMIT $4
        """
    static let pruneLogIn: StaticString = """
        DELETE FROM bookmark
        WHERE app = $1 AND environment = $2 AND name = $3
        AND CASE WHEN position('\\u0000' IN convert_from(form, 'UTF8')) > 0 THEN false
        ELSE convert_from(form, 'UTF8')::json ->> 'at' < $4 COLLATE "C" END
        """

    // MARK: Prompts

    /// The first report of an id decides when the prompt was shown, the first response its outcome.
    static let putPrompt: StaticString = """
        INSERT INTO prompt (app, environment, customer, id, kind, shown_at, response)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (app, environment, customer, id) DO UPDATE SET
            response = coalesce(prompt.response, excluded.response)
        """
    static let promptsOf: StaticString = """
        SELECT id, kind, shown_at, response FROM prompt
        WHERE app = $1 AND environment = $2 AND customer = ANY($3)
        ORDER BY shown_at DESC LIMIT $4
        """

    // MARK: Due answers

    /// Leases the answers that are due the longest and not leased, and passes over those that
    /// another server is just changing.
    static let claimDue: StaticString = """
        WITH due AS (
            SELECT customer FROM customer
            WHERE app = $1 AND environment = $2 AND valid_until <= $3
                AND (leased_until IS NULL OR leased_until <= $3)
            ORDER BY valid_until LIMIT $4 FOR UPDATE SKIP LOCKED
        )
        UPDATE customer SET lease_fence = lease_fence + 1, leased_until = $5
        FROM due WHERE customer.app = $1 AND customer.environment = $2
            AND customer.customer = due.customer
        RETURNING customer.customer, valid_until, lease_fence
        """
    /// Whether a lease is the customer's latest one and has not ended.
    static let holdsLease: StaticString = """
        SELECT customer FROM customer
        WHERE app = $1 AND environment = $2 AND customer = $3 AND lease_fence = $4
            AND leased_until IS NOT NULL
        """

    // MARK: Commit

    static let insertHeader: StaticString = """
        INSERT INTO header (fingerprint, text) VALUES ($1, $2) ON CONFLICT DO NOTHING
        """
    static let insertFact: StaticString = """
        INSERT INTO fact (app, environment, lineage, identity, asserted_at, form)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (app, environment, lineage, asserted_at, identity) DO NOTHING
        """
    /// Ends the lease. The fences of a customer begin at the instant of the first answer, so that
    /// they rise even if the customer is removed and derived again.
    static let putCustomer: StaticString = """
        INSERT INTO customer
            (app, environment, customer, version, answer, valid_until, fingerprint, derived_at,
            pass, pass_signer, pass_issued_at, pass_renew_at, reconciled_at, presented,
            lease_fence)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $8)
        ON CONFLICT (app, environment, customer) DO UPDATE SET
            version = excluded.version, answer = excluded.answer,
            valid_until = excluded.valid_until, fingerprint = excluded.fingerprint,
            derived_at = excluded.derived_at, pass = excluded.pass,
            pass_signer = excluded.pass_signer, pass_issued_at = excluded.pass_issued_at,
            pass_renew_at = excluded.pass_renew_at, reconciled_at = excluded.reconciled_at,
            presented = excluded.presented, leased_until = NULL
        """
    static let auditNamedBetween: StaticString = """
        SELECT count(*) FROM
            (SELECT 1 FROM audit
            WHERE app = $1 AND environment = $2 AND name > $3 AND name < $4 LIMIT $5) AS counted
        """
    static let changeAudit: StaticString = """
        UPDATE audit SET form = $3 WHERE app = $1 AND id = $2
        """
    static let latestEvent: StaticString = """
        SELECT id FROM outbox WHERE app = $1 ORDER BY id DESC LIMIT 1
        """

    static let replaceBookmark: StaticString = """
        UPDATE bookmark SET form = $4
        WHERE app = $1 AND environment = $2 AND name = $3 AND form = $5
        """

    // MARK: Figures

    static let putFiguresTurn: StaticString = """
        INSERT INTO figures (app, environment, kind, subject, stamp, form)
        VALUES ($1, $2, 'turn', '', $3, '')
        ON CONFLICT (app, environment, kind, subject) DO UPDATE SET stamp = excluded.stamp
        """
    static let markFigures: StaticString = """
        INSERT INTO stale_figures (app, environment, kind, subject, mark)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark
        """
    static let markFiguresOfOwned: StaticString = """
        INSERT INTO stale_figures (app, environment, kind, subject, mark)
        SELECT DISTINCT app, environment, 'lineage', lineage, $4::bigint FROM owner
        WHERE app = $1 AND environment = $2 AND customer = $3
        ON CONFLICT (app, environment, kind, subject) DO UPDATE SET mark = excluded.mark
        """

    static let idle: StaticString = """
        UPDATE evidence SET idle_since = $4, idle_lineage = $5
        WHERE app = $1 AND environment = $2 AND dedupe_key = $3
        """
    /// `unidle` for a restored fact. The same bytes may have come again under another key: a row that
    /// has no mark proves the fact, and the others keep theirs.
    static let unidleProof: StaticString = """
        UPDATE evidence SET idle_since = NULL, idle_lineage = NULL
        WHERE app = $1 AND id = $2 AND environment = $3 AND idle_since IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM evidence AS proof
            WHERE proof.app = $1 AND proof.id = $2 AND proof.environment = $3
            AND proof.idle_since IS NULL)
        """
    static let pruneEvidence: StaticString = """
        DELETE FROM evidence WHERE (app, environment, dedupe_key) IN
            (SELECT app, environment, dedupe_key FROM evidence
            WHERE app = $1 AND environment = $2 AND idle_since < $3
            ORDER BY idle_since LIMIT $4)
        """
    /// Returns the removed ids, without those of emptied events.
    static let pruneEvents: StaticString = """
        DELETE FROM outbox WHERE app = $1 AND id IN
            (SELECT id FROM outbox
            WHERE app = $1 AND environment = $2 AND id < $3
            AND id < (SELECT max(id) FROM outbox WHERE app = $1)
            ORDER BY id LIMIT $4)
        RETURNING CASE WHEN kind = 'erased' THEN '' ELSE id END
        """
    static let pruneAttempts: StaticString = """
        DELETE FROM webhook_attempt WHERE (app, webhook, number) IN
            (SELECT app, webhook, number FROM webhook_attempt WHERE app = $1 AND at < $2 LIMIT $3)
        """
    static let claimWebhook: StaticString = """
        UPDATE webhook SET lease_fence = lease_fence + 1, leased_until = $4
        WHERE app = $1 AND id = $2 AND (leased_until IS NULL OR leased_until <= $3)
        RETURNING lease_fence
        """
    static let insertWebhook: StaticString = """
        INSERT INTO webhook
            (app, id, form, position, failing_since, disabled, disabled_at, lease_fence,
            latest_attempt)
        VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0)
        ON CONFLICT (app, id) DO UPDATE SET form = excluded.form
        """
    /// Ends a claim, unless another one was issued since.
    static let settleWebhook: StaticString = """
        UPDATE webhook SET position = greatest(position, $3), failing_since = $4::bigint,
            disabled_at = CASE WHEN disabled IS NULL AND $5::text IS NOT NULL
                THEN $6::bigint ELSE disabled_at END,
            disabled = coalesce(disabled, $5::text),
            leased_until = NULL, latest_attempt = latest_attempt + $8
        WHERE app = $1 AND id = $2 AND lease_fence = $7 AND leased_until IS NOT NULL
        RETURNING latest_attempt
        """
    static let setWebhook: StaticString = """
        UPDATE webhook SET
            failing_since = CASE WHEN $3::text IS NULL THEN NULL ELSE failing_since END,
            disabled_at = CASE WHEN $3::text IS NULL THEN NULL
                ELSE coalesce(disabled_at, $4::bigint) END,
            disabled = CASE WHEN $3::text IS NULL THEN NULL
                ELSE coalesce(disabled, $3::text) END
        WHERE app = $1 AND id = $2
        """
    static let putDelivery: StaticString = """
        INSERT INTO webhook_delivery (app, webhook, event, attempts, next_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (app, webhook, event) DO UPDATE SET
            attempts = excluded.attempts, next_at = excluded.next_at
        """
    static let insertAttempt: StaticString = """
        INSERT INTO webhook_attempt
            (app, webhook, event, at, ordinal, outcome, status, detail, number)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """
    /// Evidence without facts that names a customer, see `EvidenceSubject`.
    static let eraseIdleNaming: StaticString = """
        DELETE FROM evidence
        WHERE app = $1 AND environment = $2 AND idle_since IS NOT NULL
        AND idle_lineage >= 'customers:' AND idle_lineage < 'customers;'
        AND strpos(idle_lineage, $3) > 0
        """
    /// PostgreSQL cannot extract a text with a NUL. No customer has such an id.
    static let eraseBookmarksOf: StaticString = """
        DELETE FROM bookmark
        WHERE app = $1 AND environment = $2 AND name >= $3 AND name < $4
        AND CASE WHEN position('\\u0000' IN convert_from(form, 'UTF8')) > 0 THEN false
        ELSE convert_from(form, 'UTF8')::json ->> 'value' = ANY($5) END
        """
    static let eraseEvent: StaticString = """
        DELETE FROM outbox
        WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4
        AND id < (SELECT max(id) FROM outbox WHERE app = $1)
        """
    /// Leaves only the place of an event. No page contains one of this kind.
    static let disguiseEvent: StaticString = """
        UPDATE outbox SET customer = $5, version = 1, kind = 'erased', at = 0, body = $6
        WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4
        """
    static let auditNaming: StaticString = """
        SELECT id, form FROM audit
        WHERE app = $1 AND environment = $2 AND customer = $3
        UNION
        SELECT id, form FROM audit
        WHERE app = $1 AND environment = $2 AND other = $3
        UNION
        SELECT id, form FROM audit
        WHERE app = $1 AND environment = $2 AND customer = ''
        """
    static let rewriteAudit: StaticString = """
        UPDATE audit SET customer = $3, other = $4, name = NULL, form = $5
        WHERE app = $1 AND id = $2
        """

    // MARK: Everything, record by record

    static let factRecords: StaticString = """
        SELECT form, lineage, asserted_at, identity FROM fact
        WHERE app = $1 AND environment = $2 AND (lineage, asserted_at, identity) > ($3, $4, $5)
        ORDER BY lineage, asserted_at, identity LIMIT $6
        """
    static let eventRecords: StaticString = """
        SELECT id, environment, customer, version, kind, at, body FROM outbox
        WHERE app = $1 AND environment = $2 AND id > $3 ORDER BY id LIMIT $4
        """
    static let restoreEvent: StaticString = """
        INSERT INTO outbox (app, id, environment, customer, version, kind, at, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
        """
    /// The version of an answer never goes back: a reader may know the later one. A stored answer
    /// that differs gets the version after the imported one, which an imported event may state with
    /// the other answer.
    static let restoreCustomer: StaticString = """
        INSERT INTO customer
            (app, environment, customer, version, answer, valid_until, fingerprint, derived_at,
            reconciled_at, presented, lease_fence)
        VALUES ($1, $2, $3, $4, $5, $6, '', $7, $8, $9, $7)
        ON CONFLICT (app, environment, customer) DO UPDATE SET
            version = excluded.version
                + CASE WHEN excluded.answer <> customer.answer THEN 1 ELSE 0 END,
            fingerprint = '', valid_until = $10
        WHERE excluded.version
            + CASE WHEN excluded.answer <> customer.answer THEN 1 ELSE 0 END > customer.version
        """
    static let outdateCustomer: StaticString = """
        UPDATE customer SET fingerprint = '', valid_until = $4
        WHERE app = $1 AND environment = $2 AND customer = $3
        """

    // MARK: Policy

    static let insertPolicy: StaticString = """
        INSERT INTO policy_version (app, environment, effective_at, fingerprint, form)
        SELECT $1, $2, $3, $4, $5 WHERE $4 IS DISTINCT FROM (
            SELECT fingerprint FROM policy_version WHERE app = $1 AND environment = $2
            ORDER BY effective_at DESC LIMIT 1
        ) ON CONFLICT DO NOTHING
        """

    // MARK: Keys

    static let revokeKey: StaticString = """
        UPDATE api_key SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL
        """

    // MARK: Changes by other servers

    /// While servers run, no row of these tables is removed, and a revoked key stays revoked.
    static let sharedChanges: StaticString = """
        SELECT (SELECT count(*) + count(revoked_at) FROM api_key),
            (SELECT count(*) FROM policy_version)
        """

    // MARK: Servers

    static let putServer: StaticString = """
        INSERT INTO server (id, version, schema_number, configuration, seen_at)
        VALUES ($1, $2, $3, $4, (extract(epoch FROM now()) * 1000)::bigint)
        ON CONFLICT (id) DO UPDATE SET version = excluded.version,
            schema_number = excluded.schema_number, configuration = excluded.configuration,
            seen_at = excluded.seen_at
        RETURNING seen_at
        """
    static let announcement: StaticString = "SELECT seen_at FROM server WHERE id = $1"
    static let removeSilentServers: StaticString = """
        DELETE FROM server WHERE seen_at < (extract(epoch FROM now()) * 1000)::bigint - $1
        """
    static let removeServer: StaticString = "DELETE FROM server WHERE id = $1"
    static let servers: StaticString = """
        SELECT id, version, configuration FROM server
        WHERE seen_at >= (extract(epoch FROM now()) * 1000)::bigint - $1 ORDER BY id
        """
    static let olderServers: StaticString = """
        SELECT count(*) FROM server WHERE schema_number < $1
        AND seen_at >= (extract(epoch FROM now()) * 1000)::bigint - $2
        """

    // MARK: Read

    static let evidence: StaticString = """
        SELECT dedupe_key, source, signed_at, received_at, form FROM evidence
        WHERE app = $1 AND id = $2 ORDER BY environment, dedupe_key LIMIT 1
        """
    /// One at a time: the index finds the next key, however many facts the previous lineage has.
    static let lineageAfter: StaticString = """
        SELECT lineage FROM fact WHERE app = $1 AND environment = $2 AND lineage > $3
        ORDER BY lineage LIMIT 1
        """
    static let outbox: StaticString = """
        SELECT id, environment, customer, version, kind, at, body FROM outbox
        WHERE app = $1 AND id > $2 AND kind <> 'erased' ORDER BY id LIMIT $3
        """
    static let latestEvents: StaticString = """
        SELECT id, environment, customer, version, kind, at, body FROM outbox
        WHERE app = $1 AND kind <> 'erased' ORDER BY id DESC LIMIT $2
        """
    static let auditOf: StaticString = """
        SELECT id, environment, form FROM audit
        WHERE app = $1 AND environment = $2 AND customer = $3 AND id > $4
        UNION
        SELECT id, environment, form FROM audit
        WHERE app = $1 AND environment = $2 AND other = $3 AND id > $4
        ORDER BY id LIMIT $5
        """
    /// The ids of customers and their aliases within a range, in one order.
    static let customerIDs: StaticString = """
        SELECT customer AS id, customer, derived_at FROM customer AS c
        WHERE app = $1 AND environment = $2 AND customer >= $3 AND customer < $4
            AND NOT EXISTS (SELECT 1 FROM alias AS a
                WHERE a.app = c.app AND a.environment = c.environment AND a.alias = c.customer)
        UNION ALL
        SELECT alias AS id, customer, NULL::bigint FROM alias
        WHERE app = $1 AND environment = $2 AND alias >= $3 AND alias < $4
        ORDER BY id LIMIT $5
        """
    static let unclaimedCount: StaticString = """
        SELECT count(*) FROM
            (SELECT lineage FROM unclaimed WHERE app = $1 AND environment = $2 LIMIT $3) AS counted
        """
}
