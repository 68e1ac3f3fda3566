/// All statements of the storage except its migrations, as fixed texts.
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
    static let commit: StaticString = "COMMIT"
    static let rollBack: StaticString = "ROLLBACK"
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
    static let unsettle: StaticString = """
        UPDATE owner SET settled = NULL, settled_since = NULL
        WHERE app = $1 AND environment = $2 AND lineage = $3 AND settled IS NOT NULL
        """
    static let customer: StaticString = """
        SELECT version, answer, valid_until, fingerprint, derived_at,
            pass, pass_signer, pass_issued_at, pass_renew_at, reconciled_at, customer,
            presented
        FROM customer
        WHERE app = $1 AND environment = $2 AND customer = coalesce(
            (SELECT alias.customer FROM alias
            WHERE alias.app = $1 AND alias.environment = $2 AND alias.alias = $3), $3)
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
    static let told: StaticString = """
        SELECT name FROM told WHERE app = $1 AND environment = $2 AND customer = $3 ORDER BY event
        """

    // MARK: Drift

    static let openDrift: StaticString = """
        SELECT form FROM drift
        WHERE app = $1 AND environment = $2 AND customer = $3 AND healed_at IS NULL ORDER BY id
        """
    static let driftOf: StaticString = """
        SELECT form FROM drift WHERE app = $1 AND environment = $2 AND customer = $3
        ORDER BY id DESC LIMIT $4
        """
    static let driftAfter: StaticString = """
        SELECT form FROM drift
        WHERE app = $1 AND environment = $2 AND (customer, id) > ($3, $4)
        ORDER BY customer, id LIMIT $5
        """
    /// An ended difference never changes.
    static let changeDrift: StaticString = """
        UPDATE drift SET healed_at = $5, form = $6
        WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4 AND healed_at IS NULL
        """
    static let insertDrift: StaticString = """
        INSERT INTO drift (app, environment, customer, id, entitlement, opened_at, healed_at, form)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT DO NOTHING
        """

    // MARK: Attributes

    static let attributesOf: StaticString = """
        SELECT name, value, updated_at FROM attribute
        WHERE app = $1 AND environment = $2 AND customer = $3 ORDER BY name
        """
    /// The latest statement of a name counts.
    static let putAttribute: StaticString = """
        INSERT INTO attribute (app, environment, customer, name, value, updated_at, stored_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (app, environment, customer, name) DO UPDATE SET
            value = excluded.value, updated_at = excluded.updated_at,
            stored_at = excluded.stored_at
        WHERE excluded.updated_at > attribute.updated_at
        """
    static let attributeRecords: StaticString = """
        SELECT name, value, updated_at, customer FROM attribute
        WHERE app = $1 AND environment = $2 AND (customer, name) > ($3, $4)
        ORDER BY customer, name LIMIT $5
        """
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
    static let eraseAttributes: StaticString = """
        DELETE FROM attribute WHERE app = $1 AND environment = $2 AND customer = $3
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
    static let attributedAfter: StaticString = """
        SELECT DISTINCT customer FROM attribute
        WHERE app = $1 AND environment = $2 AND customer > $3
        ORDER BY customer LIMIT $4
        """
    static let pruneAttributes: StaticString = """
        DELETE FROM attribute
        WHERE app = $1 AND environment = $2 AND customer = $3
        AND NOT EXISTS (SELECT 1 FROM attribute AS later
            WHERE later.app = $1 AND later.environment = $2 AND later.customer = $3
            AND later.stored_at >= $4)
        AND NOT EXISTS (SELECT 1 FROM customer AS c
            WHERE c.app = $1 AND c.environment = $2 AND c.customer = $3)
        AND NOT EXISTS (SELECT 1 FROM alias AS a
            WHERE a.app = $1 AND a.environment = $2 AND a.alias = $3)
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
    static let dueCount: StaticString = """
        SELECT count(*), min(valid_until) FROM
            (SELECT valid_until FROM customer
            WHERE app = $1 AND environment = $2 AND valid_until <= $3
            ORDER BY valid_until LIMIT $4) AS due
        """
    static let nextDue: StaticString = """
        SELECT min(valid_until) FROM customer
        WHERE app = $1 AND environment = $2 AND valid_until > $3
        """

    // MARK: Commit

    static let insertEvidence: StaticString = """
        INSERT INTO evidence (app, environment, dedupe_key, id, source, signed_at, received_at, form)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (app, environment, dedupe_key) DO NOTHING
        """
    static let insertHeader: StaticString = """
        INSERT INTO header (fingerprint, text) VALUES ($1, $2) ON CONFLICT DO NOTHING
        """
    static let insertFact: StaticString = """
        INSERT INTO fact (app, environment, lineage, identity, asserted_at, form)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (app, environment, lineage, asserted_at, identity) DO NOTHING
        """
    static let insertName: StaticString = """
        INSERT INTO purchase_name (app, kind, name, environment, lineage) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (app, kind, name, environment, lineage) DO NOTHING
        """
    static let insertOwner: StaticString = """
        INSERT INTO owner (app, environment, lineage, seq, customer, form)
        VALUES ($1, $2, $3, $4, $5, $6)
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
    static let insertAlias: StaticString = """
        INSERT INTO alias (app, environment, alias, customer, since, why, declared_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """
    static let forgetCustomer: StaticString = """
        DELETE FROM customer WHERE app = $1 AND environment = $2 AND customer = $3
        """
    static let latestAudit: StaticString = """
        SELECT id FROM audit WHERE app = $1 ORDER BY id DESC LIMIT 1
        """
    static let insertAudit: StaticString = """
        INSERT INTO audit (app, id, environment, customer, other, name, form)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
        """
    static let auditNamed: StaticString = """
        SELECT id, form FROM audit WHERE app = $1 AND environment = $2 AND name = $3
        """
    static let auditNamedBetween: StaticString = """
        SELECT count(*) FROM
            (SELECT 1 FROM audit
            WHERE app = $1 AND environment = $2 AND name > $3 AND name < $4 LIMIT $5) AS counted
        """
    static let changeAudit: StaticString = """
        UPDATE audit SET form = $3 WHERE app = $1 AND id = $2
        """
    static let insertUnclaimed: StaticString = """
        INSERT INTO unclaimed (app, environment, lineage) VALUES ($1, $2, $3)
        ON CONFLICT (app, environment, lineage) DO NOTHING
        """
    static let deleteUnclaimed: StaticString = """
        DELETE FROM unclaimed WHERE app = $1 AND environment = $2 AND lineage = $3
        """
    static let latestEvent: StaticString = """
        SELECT id FROM outbox WHERE app = $1 ORDER BY id DESC LIMIT 1
        """
    static let insertEvent: StaticString = """
        INSERT INTO outbox (app, id, environment, customer, version, kind, at, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """
    static let insertTold: StaticString = """
        INSERT INTO told (app, environment, customer, name, event) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (app, environment, customer, name) DO NOTHING
        """
    static let addTally: StaticString = """
        INSERT INTO tally (app, environment, kind, name, count) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (app, environment, kind, name) DO UPDATE SET count = tally.count + excluded.count
        """

    /// Keeps the greater of the stored form and the new one.
    static let raiseBookmark: StaticString = """
        INSERT INTO bookmark (app, environment, name, form)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (app, environment, name) DO UPDATE SET form = excluded.form
        WHERE bookmark.form < excluded.form
        """
    static let putBookmark: StaticString = """
        INSERT INTO bookmark (app, environment, name, form) VALUES ($1, $2, $3, $4)
        ON CONFLICT (app, environment, name) DO UPDATE SET form = excluded.form
        """
    static let addBookmark: StaticString = """
        INSERT INTO bookmark (app, environment, name, form) VALUES ($1, $2, $3, $4)
        ON CONFLICT (app, environment, name) DO NOTHING
        """
    static let replaceBookmark: StaticString = """
        UPDATE bookmark SET form = $4
        WHERE app = $1 AND environment = $2 AND name = $3 AND form = $5
        """

    // MARK: Removal

    // MARK: Figures

    static let figures: StaticString = """
        SELECT subject, stamp, form FROM figures
        WHERE app = $1 AND environment = $2 AND kind = $3 AND subject > $4
        ORDER BY subject LIMIT $5
        """
    static let staleFigures: StaticString = """
        SELECT kind, subject, mark, form
        FROM stale_figures LEFT JOIN figures USING (app, environment, kind, subject)
        WHERE app = $1 AND environment = $2 LIMIT $3
        """
    /// How often figures were stored: the stamp of a row of its own.
    static let figuresTurn: StaticString = """
        SELECT stamp FROM figures
        WHERE app = $1 AND environment = $2 AND kind = 'turn' AND subject = ''
        """
    static let putFiguresTurn: StaticString = """
        INSERT INTO figures (app, environment, kind, subject, stamp, form)
        VALUES ($1, $2, 'turn', '', $3, '')
        ON CONFLICT (app, environment, kind, subject) DO UPDATE SET stamp = excluded.stamp
        """
    static let figuresMark: StaticString = """
        SELECT mark FROM stale_figures
        WHERE app = $1 AND environment = $2 AND kind = $3 AND subject = $4
        """
    static let putFigures: StaticString = """
        INSERT INTO figures (app, environment, kind, subject, stamp, form)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (app, environment, kind, subject) DO UPDATE SET
            stamp = excluded.stamp, form = excluded.form
        """
    static let removeFigures: StaticString = """
        DELETE FROM figures WHERE app = $1 AND environment = $2 AND kind = $3 AND subject = $4
        """
    static let figuresAfter: StaticString = """
        SELECT subject, stamp FROM figures
        WHERE app = $1 AND environment = $2 AND kind = $3 AND subject > $4
        ORDER BY subject LIMIT $5
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
    static let removeMark: StaticString = """
        DELETE FROM stale_figures
        WHERE app = $1 AND environment = $2 AND kind = $3 AND subject = $4
        """

    static let idle: StaticString = """
        UPDATE evidence SET idle_since = $4, idle_lineage = $5
        WHERE app = $1 AND environment = $2 AND dedupe_key = $3
        """
    /// For a piece of evidence that a fact was read from later.
    static let unidle: StaticString = """
        UPDATE evidence SET idle_since = NULL, idle_lineage = NULL
        WHERE app = $1 AND id = $2 AND environment = $3 AND idle_since IS NOT NULL
        """
    /// The same for a restored fact. The same bytes may have come again under another key: a row that
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
    static let pruneDrift: StaticString = """
        DELETE FROM drift WHERE (app, environment, customer, id) IN
            (SELECT app, environment, customer, id FROM drift
            WHERE app = $1 AND environment = $2 AND healed_at < $3
            ORDER BY healed_at LIMIT $4)
        """
    static let prunePrompts: StaticString = """
        DELETE FROM prompt WHERE (app, environment, customer, id) IN
            (SELECT app, environment, customer, id FROM prompt
            WHERE app = $1 AND environment = $2 AND shown_at < $3
            ORDER BY shown_at LIMIT $4)
        """
    /// The latest entry stays, since later ids are derived from it. So does the latest event.
    static let pruneAudit: StaticString = """
        DELETE FROM audit WHERE app = $1 AND id IN
            (SELECT id FROM audit
            WHERE app = $1 AND environment = $2 AND id < $3
            AND id < (SELECT max(id) FROM audit WHERE app = $1)
            ORDER BY id LIMIT $4)
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
    static let webhooks: StaticString = """
        SELECT id, form, position, failing_since, disabled, disabled_at FROM webhook
        WHERE app = $1 ORDER BY id
        """
    static let webhookByID: StaticString = """
        SELECT id, form, position, failing_since, disabled, disabled_at FROM webhook
        WHERE app = $1 AND id = $2
        """
    static let claimWebhook: StaticString = """
        UPDATE webhook SET lease_fence = lease_fence + 1, leased_until = $4
        WHERE app = $1 AND id = $2 AND (leased_until IS NULL OR leased_until <= $3)
        RETURNING lease_fence
        """
    static let dueDeliveries: StaticString = """
        SELECT event, attempts, next_at FROM webhook_delivery
        WHERE app = $1 AND webhook = $2 AND next_at <= $3 ORDER BY next_at, event LIMIT $4
        """
    static let deliveryCount: StaticString = """
        SELECT count(*) FROM webhook_delivery WHERE app = $1 AND webhook = $2
        """
    static let attempts: StaticString = """
        SELECT number, event, at, ordinal, outcome, status, detail FROM webhook_attempt
        WHERE app = $1 AND webhook = $2 AND number < $3 ORDER BY number DESC LIMIT $4
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
    static let deleteDelivery: StaticString = """
        DELETE FROM webhook_delivery WHERE app = $1 AND webhook = $2 AND event = $3
        """
    static let insertAttempt: StaticString = """
        INSERT INTO webhook_attempt
            (app, webhook, event, at, ordinal, outcome, status, detail, number)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """
    static let customersAfter: StaticString = """
        SELECT customer FROM customer WHERE app = $1 AND environment = $2 AND customer > $3
        ORDER BY customer LIMIT $4
        """
    static let pruneCustomer: StaticString = """
        DELETE FROM customer
        WHERE app = $1 AND environment = $2 AND customer = $3 AND derived_at < $4
        AND NOT EXISTS (SELECT 1 FROM owner AS o
            WHERE o.app = $1 AND o.environment = $2 AND o.customer = $3)
        AND NOT EXISTS (SELECT 1 FROM alias AS a
            WHERE a.app = $1 AND a.environment = $2 AND a.customer = $3)
        AND NOT EXISTS (SELECT 1 FROM told AS t
            WHERE t.app = $1 AND t.environment = $2 AND t.customer = $3)
        AND NOT EXISTS (SELECT 1 FROM drift AS d
            WHERE d.app = $1 AND d.environment = $2 AND d.customer = $3)
        """
    static let eraseFacts: StaticString = """
        DELETE FROM fact WHERE app = $1 AND environment = $2 AND lineage = $3
        """
    static let eraseOwners: StaticString = """
        DELETE FROM owner WHERE app = $1 AND environment = $2 AND lineage = $3
        """
    static let eraseName: StaticString = """
        DELETE FROM purchase_name
        WHERE app = $1 AND environment = $2 AND lineage = $3 AND kind = $4 AND name = $5
        """
    static let eraseIdle: StaticString = """
        DELETE FROM evidence
        WHERE app = $1 AND environment = $2 AND idle_lineage = $3 AND idle_since IS NOT NULL
        """
    /// Evidence without facts that names a customer, see `EvidenceSubject`.
    static let eraseIdleNaming: StaticString = """
        DELETE FROM evidence
        WHERE app = $1 AND environment = $2 AND idle_since IS NOT NULL
        AND idle_lineage >= 'customers:' AND idle_lineage < 'customers;'
        AND strpos(idle_lineage, $3) > 0
        """
    static let eraseBookmark: StaticString = """
        DELETE FROM bookmark WHERE app = $1 AND environment = $2 AND name = $3
        """
    /// PostgreSQL cannot extract a text with a NUL. No customer has such an id.
    static let eraseBookmarksOf: StaticString = """
        DELETE FROM bookmark
        WHERE app = $1 AND environment = $2 AND name >= $3 AND name < $4
        AND CASE WHEN position('\\u0000' IN convert_from(form, 'UTF8')) > 0 THEN false
        ELSE convert_from(form, 'UTF8')::json ->> 'value' = $5 END
        """
    static let eraseEvidence: StaticString = """
        DELETE FROM evidence WHERE app = $1 AND id = $2 AND environment = $3
        """
    static let eraseTold: StaticString = """
        DELETE FROM told WHERE app = $1 AND environment = $2 AND customer = $3
        """
    static let eraseDrift: StaticString = """
        DELETE FROM drift WHERE app = $1 AND environment = $2 AND customer = $3
        """
    static let erasePrompts: StaticString = """
        DELETE FROM prompt WHERE app = $1 AND environment = $2 AND customer = $3
        """
    static let eraseAliases: StaticString = """
        DELETE FROM alias WHERE app = $1 AND environment = $2 AND customer = $3
        """
    static let eraseEvent: StaticString = """
        DELETE FROM outbox
        WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4
        AND id < (SELECT max(id) FROM outbox WHERE app = $1)
        """
    static let laterEvents: StaticString = """
        SELECT id FROM outbox WHERE app = $1 AND environment = $2 AND customer = $3 AND id > $4
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
    static let eraseAudit: StaticString = """
        DELETE FROM audit WHERE app = $1 AND id = $2
        AND id < (SELECT max(id) FROM audit WHERE app = $1)
        """
    static let rewriteAudit: StaticString = """
        UPDATE audit SET customer = $3, other = $4, name = NULL, form = $5
        WHERE app = $1 AND id = $2
        """

    // MARK: Everything, record by record

    static let evidenceRecords: StaticString = """
        SELECT dedupe_key, source, signed_at, received_at, form, id, idle_since, idle_lineage
        FROM evidence
        WHERE app = $1 AND environment = $2 AND (id, dedupe_key) > ($3, $4)
        ORDER BY id, dedupe_key LIMIT $5
        """
    static let factRecords: StaticString = """
        SELECT form, lineage, asserted_at, identity FROM fact
        WHERE app = $1 AND environment = $2 AND (lineage, asserted_at, identity) > ($3, $4, $5)
        ORDER BY lineage, asserted_at, identity LIMIT $6
        """
    static let ownerRecords: StaticString = """
        SELECT form, lineage, seq FROM owner
        WHERE app = $1 AND environment = $2 AND (lineage, seq) > ($3, $4)
        ORDER BY lineage, seq LIMIT $5
        """
    static let aliasRecords: StaticString = """
        SELECT alias, customer, since, why, declared_by FROM alias
        WHERE app = $1 AND environment = $2 AND alias > $3 ORDER BY alias LIMIT $4
        """
    static let promptRecords: StaticString = """
        SELECT id, kind, shown_at, response, customer FROM prompt
        WHERE app = $1 AND environment = $2 AND (customer, id) > ($3, $4)
        ORDER BY customer, id LIMIT $5
        """
    static let driftRecords: StaticString = """
        SELECT form, customer, id FROM drift
        WHERE app = $1 AND environment = $2 AND (customer, id) > ($3, $4)
        ORDER BY customer, id LIMIT $5
        """
    static let eventRecords: StaticString = """
        SELECT id, environment, customer, version, kind, at, body FROM outbox
        WHERE app = $1 AND environment = $2 AND id > $3 ORDER BY id LIMIT $4
        """
    static let toldRecords: StaticString = """
        SELECT customer, name, event FROM told
        WHERE app = $1 AND environment = $2 AND (customer, name) > ($3, $4)
        ORDER BY customer, name LIMIT $5
        """
    static let auditRecords: StaticString = """
        SELECT id, environment, form, name FROM audit
        WHERE app = $1 AND environment = $2 AND id > $3 ORDER BY id LIMIT $4
        """
    static let bookmarkRecords: StaticString = """
        SELECT name, form FROM bookmark
        WHERE app = $1 AND environment = $2 AND name > $3 AND name < $4 ORDER BY name LIMIT $5
        """
    static let policyRecords: StaticString = """
        SELECT effective_at, fingerprint, form FROM policy_version
        WHERE app = $1 AND environment = $2 AND effective_at > $3 ORDER BY effective_at LIMIT $4
        """
    static let customerRecords: StaticString = """
        SELECT customer, version, answer, valid_until, derived_at, reconciled_at, presented
        FROM customer
        WHERE app = $1 AND environment = $2 AND customer > $3 ORDER BY customer LIMIT $4
        """
    /// Adds a prompt, or the response to one.
    static let restorePrompt: StaticString = """
        INSERT INTO prompt (app, environment, customer, id, kind, shown_at, response)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (app, environment, customer, id) DO UPDATE SET response = excluded.response
        WHERE prompt.response IS NULL AND excluded.response IS NOT NULL
        """
    static let restoreBookmark: StaticString = """
        INSERT INTO bookmark (app, environment, name, form) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING
        """
    static let restoreEvent: StaticString = """
        INSERT INTO outbox (app, id, environment, customer, version, kind, at, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
        """
    static let restorePolicy: StaticString = """
        INSERT INTO policy_version (app, environment, effective_at, fingerprint, form)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
        """
    static let policyFingerprint: StaticString = """
        SELECT fingerprint FROM policy_version
        WHERE app = $1 AND environment = $2 AND effective_at = $3
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
    static let hasDrift: StaticString = """
        SELECT 1 FROM drift WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4
        """

    // MARK: Removal, record by record

    static let removeEvidence: StaticString = """
        DELETE FROM evidence
        WHERE app = $1 AND environment = $2 AND dedupe_key = $3 AND id = $4
        """
    static let removeFact: StaticString = """
        DELETE FROM fact
        WHERE app = $1 AND environment = $2 AND lineage = $3 AND asserted_at = $4 AND identity = $5
        """
    static let removeOwners: StaticString = """
        DELETE FROM owner WHERE app = $1 AND environment = $2 AND lineage = $3 AND seq >= $4
        """
    static let removeAlias: StaticString = """
        DELETE FROM alias WHERE app = $1 AND environment = $2 AND alias = $3
        """
    static let removeAttribute: StaticString = """
        DELETE FROM attribute
        WHERE app = $1 AND environment = $2 AND customer = $3 AND name = $4
        """
    static let removePrompt: StaticString = """
        DELETE FROM prompt WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4
        """
    static let removeBookmark: StaticString = """
        DELETE FROM bookmark WHERE app = $1 AND environment = $2 AND name = $3
        """
    static let removeDrift: StaticString = """
        DELETE FROM drift WHERE app = $1 AND environment = $2 AND customer = $3 AND id = $4
        """
    static let removeEvent: StaticString = """
        DELETE FROM outbox WHERE app = $1 AND environment = $2 AND id = $3
        """
    static let removeTold: StaticString = """
        DELETE FROM told WHERE app = $1 AND environment = $2 AND customer = $3 AND name = $4
        """
    static let removeAudit: StaticString = """
        DELETE FROM audit WHERE app = $1 AND environment = $2 AND id = $3
        """
    static let removePolicy: StaticString = """
        DELETE FROM policy_version WHERE app = $1 AND environment = $2 AND effective_at = $3
        """
    static let removeWebhook: StaticString = """
        DELETE FROM webhook WHERE app = $1 AND id = $2
        """
    static let removeDeliveries: StaticString = """
        DELETE FROM webhook_delivery WHERE app = $1 AND webhook = $2
        """
    static let removeAttempts: StaticString = """
        DELETE FROM webhook_attempt WHERE app = $1 AND webhook = $2
        """

    // MARK: Policy

    static let insertPolicy: StaticString = """
        INSERT INTO policy_version (app, environment, effective_at, fingerprint, form)
        SELECT $1, $2, $3, $4, $5 WHERE $4 IS DISTINCT FROM (
            SELECT fingerprint FROM policy_version WHERE app = $1 AND environment = $2
            ORDER BY effective_at DESC LIMIT 1
        ) ON CONFLICT DO NOTHING
        """
    static let newestPolicy: StaticString = """
        SELECT fingerprint FROM policy_version WHERE app = $1 AND environment = $2
        ORDER BY effective_at DESC LIMIT 1
        """
    static let policyVersions: StaticString = """
        SELECT effective_at, fingerprint, form FROM policy_version
        WHERE app = $1 AND environment = $2 ORDER BY effective_at
        """

    // MARK: Keys

    static let insertKey: StaticString = """
        INSERT INTO api_key (id, digest, kind, apps, name, created_at, revoked_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """
    static let revokeKey: StaticString = """
        UPDATE api_key SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL
        """
    static let key: StaticString = """
        SELECT id, digest, kind, apps, name, created_at, revoked_at FROM api_key WHERE id = $1
        """
    static let keys: StaticString = """
        SELECT id, digest, kind, apps, name, created_at, revoked_at FROM api_key ORDER BY id
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
    static let evidenceAfter: StaticString = """
        SELECT dedupe_key, source, signed_at, received_at, form, id FROM evidence
        WHERE app = $1 AND id > $2 AND environment = $3 ORDER BY id LIMIT $4
        """
    static let evidenceKeyed: StaticString = """
        SELECT dedupe_key, source, signed_at, received_at, form, id FROM evidence
        WHERE app = $1 AND environment = $2 AND dedupe_key > $3 AND dedupe_key < $4
        ORDER BY dedupe_key LIMIT $5
        """
    /// One at a time: the index finds the next key, however many facts the previous lineage has.
    static let lineageAfter: StaticString = """
        SELECT lineage FROM fact WHERE app = $1 AND environment = $2 AND lineage > $3
        ORDER BY lineage LIMIT 1
        """
    static let named: StaticString = """
        SELECT environment, lineage FROM purchase_name WHERE app = $1 AND kind = $2 AND name = $3
        ORDER BY environment, lineage LIMIT $4
        """
    static let bookmark: StaticString = """
        SELECT form FROM bookmark WHERE app = $1 AND environment = $2 AND name = $3
        """
    static let bookmarks: StaticString = """
        SELECT name, form FROM bookmark
        WHERE app = $1 AND environment = $2 AND name > $3 AND name < $4
        """
    static let header: StaticString = "SELECT text FROM header WHERE fingerprint = $1"
    static let outbox: StaticString = """
        SELECT id, environment, customer, version, kind, at, body FROM outbox
        WHERE app = $1 AND id > $2 AND kind <> 'erased' ORDER BY id LIMIT $3
        """
    static let latestEvents: StaticString = """
        SELECT id, environment, customer, version, kind, at, body FROM outbox
        WHERE app = $1 AND kind <> 'erased' ORDER BY id DESC LIMIT $2
        """
    static let audit: StaticString = """
        SELECT id, environment, form FROM audit WHERE app = $1 AND id > $2 ORDER BY id LIMIT $3
        """
    static let auditOf: StaticString = """
        SELECT id, environment, form FROM audit
        WHERE app = $1 AND environment = $2 AND customer = $3 AND id > $4
        UNION
        SELECT id, environment, form FROM audit
        WHERE app = $1 AND environment = $2 AND other = $3 AND id > $4
        ORDER BY id LIMIT $5
        """
    static let unclaimed: StaticString = """
        SELECT lineage FROM unclaimed WHERE app = $1 AND environment = $2 AND lineage > $3
        ORDER BY lineage LIMIT $4
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
    static let tallies: StaticString = """
        SELECT environment, kind, name, count FROM tally WHERE app = $1
        """
}
