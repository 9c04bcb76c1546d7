-- The initial schema. Every table but store_identity carries its tenant, and every query starts from it (../gate.sql
-- makes sure).

-- Documents ----------------------------------------------------------------------------------------------------------

CREATE TABLE documents (
    document_id         text PRIMARY KEY,
    tenant_id           text NOT NULL,
    sha256              text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    size_bytes          bigint NOT NULL CHECK (size_bytes >= 0),
    media_type          text NOT NULL,
    file_name           text NOT NULL,
    source              text NOT NULL DEFAULT '',
    uploaded_by         text NOT NULL DEFAULT '', -- starts the run as well, even if the run starts later
    key_id              text,                     -- of the API key that uploaded it, whose quotas its run uses
    sla_hours           double precision NOT NULL CHECK (sla_hours > 0),
    received_at         timestamptz NOT NULL DEFAULT now(),
    duplicate_of        text,
    part_of             text,                     -- the file of several invoices that its pages were cut out of
    first_page          integer CHECK (first_page >= 1), -- in that file
    last_page           integer CHECK (last_page >= first_page),
    definition          text,                     -- `invoice` or `invoice@4`, named by the upload or chosen by a rule
    batch_id            text,                     -- the batch that it came with, and that starts its run
    inputs              json NOT NULL DEFAULT '{}', -- values that the upload gave for the definition's inputs
    run_id              text,
    run_started_at      timestamptz,
    ended_as            text,                     -- status in which its last run ended; NULL while one is open
    outcome             text,                     -- success or failed
    processing_seconds  double precision,         -- from received_at to metrics_recorded_at
    confidence          double precision,         -- NULL if nothing was read
    metrics_recorded_at timestamptz,
    decision            text CHECK (decision IN ('approved', 'rejected')), -- of its review item; NULL while that is open
    decided_at          timestamptz,
    export_id           text,                     -- the first export since it was decided; another one does not take it
    exported_at         timestamptz,              -- NULL while that export is being made
    original_removed_at timestamptz,              -- the row outlives the bytes
    UNIQUE (tenant_id, document_id),
    FOREIGN KEY (tenant_id, part_of) REFERENCES documents (tenant_id, document_id),
    CHECK (num_nonnulls(part_of, first_page, last_page) IN (0, 3))
);
CREATE INDEX documents_parts ON documents (tenant_id, part_of, first_page) WHERE part_of IS NOT NULL;
-- Of two concurrent uploads of the same bytes, exactly one is the first.
CREATE UNIQUE INDEX documents_first ON documents (tenant_id, sha256) WHERE duplicate_of IS NULL;
CREATE INDEX documents_newest ON documents (tenant_id, received_at DESC, document_id DESC);
CREATE INDEX documents_unexported ON documents (tenant_id, decided_at, document_id)
    WHERE decision = 'approved' AND export_id IS NULL;
CREATE INDEX documents_of_export ON documents (tenant_id, export_id) WHERE export_id IS NOT NULL;
-- For the tabs of the inbox: what is still to do, what was decided, and the archive.
CREATE INDEX documents_undecided ON documents (tenant_id, received_at DESC, document_id DESC) WHERE decision IS NULL;
CREATE INDEX documents_decided ON documents (tenant_id, decision, received_at DESC, document_id DESC)
    WHERE decision IS NOT NULL AND exported_at IS NULL;
CREATE INDEX documents_exported ON documents (tenant_id, received_at DESC, document_id DESC)
    WHERE exported_at IS NOT NULL;
CREATE INDEX documents_unstarted ON documents (received_at) WHERE run_started_at IS NULL AND batch_id IS NULL;
-- Those whose run may have ended without a decision.
CREATE INDEX documents_unended ON documents (run_started_at DESC, document_id DESC)
    WHERE ended_as IS NULL AND decision IS NULL AND run_started_at IS NOT NULL;
-- For the removal of old originals, across all tenants: blobs are shared.
CREATE INDEX documents_by_sha256 ON documents (sha256);

-- The parts of three characters of a text, by which a GIN index finds a text inside of others: as pg_trgm, which is not
-- installed everywhere.
CREATE FUNCTION trigrams(value text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT COST 3000
    RETURN (SELECT coalesce(array_agg(substr(value, n, 3)), '{}') FROM generate_series(1, length(value) - 2) AS n);

-- Every second of these parts, and the last: together they hold every character. The index finds nearly the same texts by
-- them in less than half of the time, and each text found is compared with the whole anyway.
CREATE FUNCTION covering_trigrams(value text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN (SELECT coalesce(array_agg(substr(value, least(n, length(value) - 2), 3)), '{}')
              FROM generate_series(1, length(value) - 1, 2) AS n);

-- What of a text can be searched: its beginning, in lower case.
CREATE FUNCTION searched(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN lower(left(value, 300));

CREATE INDEX documents_by_text ON documents USING gin (trigrams(searched(file_name)));

-- Histograms of finished documents, updated by the statement that marks a document as counted: a scrape reads about ten
-- rows of each tenant instead of every document. They can be rebuilt from `documents`. A bucket is named by its upper
-- bound, so that the bounds can change.
CREATE TABLE document_counts (
    tenant_id      text NOT NULL,
    outcome        text NOT NULL CHECK (outcome IN ('success', 'failed')),
    seconds_le     double precision NOT NULL,
    confidence_le  double precision,
    documents      bigint NOT NULL,
    seconds_sum    double precision NOT NULL,
    confidence_sum double precision NOT NULL,
    UNIQUE NULLS NOT DISTINCT (tenant_id, outcome, seconds_le, confidence_le)
) WITH (fillfactor = 50); -- room for new versions of rows that change with every document

CREATE TABLE processed_documents (
    tenant_id      text NOT NULL,
    sha256         text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    reader_version text NOT NULL,
    data           jsonb NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, sha256, reader_version)
);

-- What people corrected. The last row of a field that is not undone counts.
CREATE TABLE corrections (
    correction_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id     text NOT NULL,
    document_id   text NOT NULL,
    field         text NOT NULL,
    act           text NOT NULL CHECK (act IN ('lock', 'unlock')),
    value         text,                            -- NULL: the document does not have the field
    read_value    text,                            -- the value before the correction
    read_source   text NOT NULL DEFAULT '',
    page          integer,
    box           double precision[],
    corrected_by  text NOT NULL,
    corrected_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    why           text NOT NULL DEFAULT '',
    undone_at     timestamptz,
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id)
);
CREATE INDEX corrections_of_document ON corrections (tenant_id, document_id, correction_id DESC);

-- A version is one state of what is known about a document. The same state again is the same version and the same file.
CREATE TABLE lake_versions (
    tenant_id   text NOT NULL,
    document_id text NOT NULL,
    version     integer NOT NULL CHECK (version > 0),
    content     text NOT NULL CHECK (content ~ '^[0-9a-f]{64}$'), -- sha256 of the invoice as JSON
    saved_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, document_id, version),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id)
);

-- Definitions ----------------------------------------------------------------------------------------------------------

CREATE TABLE definitions (
    tenant_id     text NOT NULL,
    definition_id text NOT NULL,
    version       integer NOT NULL CHECK (version > 0),
    digest        text NOT NULL,
    body          json NOT NULL, -- not jsonb, which rewrites numbers: the digest covers these very characters
    source        text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    published_by  text NOT NULL,
    reason        text NOT NULL,
    PRIMARY KEY (tenant_id, definition_id, version),
    UNIQUE (tenant_id, definition_id, digest)
);

CREATE TABLE definition_aliases (
    tenant_id     text NOT NULL,
    definition_id text NOT NULL,
    alias         text NOT NULL CHECK (alias ~ '^[a-z][a-z0-9_-]{0,31}$'),
    version       integer NOT NULL,
    percent       smallint CHECK (percent BETWEEN 0 AND 100), -- of new runs; only a canary has one
    PRIMARY KEY (tenant_id, definition_id, alias),
    FOREIGN KEY (tenant_id, definition_id, version) REFERENCES definitions (tenant_id, definition_id, version),
    CHECK ((alias = 'canary') = (percent IS NOT NULL))
);

-- Append-only. A NULL version means that there is no such alias.
CREATE TABLE alias_moves (
    move_id       integer NOT NULL CHECK (move_id > 0), -- counts the definition's own: a number of all tenants shows how
                                                        -- busy the others are
    tenant_id     text NOT NULL,
    definition_id text NOT NULL,
    alias         text NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('publish', 'set', 'remove', 'rollback')),
    from_version  integer,
    from_percent  smallint,
    to_version    integer,
    to_percent    smallint,
    moved_by      text NOT NULL,
    moved_at      timestamptz NOT NULL DEFAULT now(),
    reason        text NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, definition_id, move_id)
);

-- Every list of routing rules so far; the highest revision is in force.
CREATE TABLE routing_rules (
    tenant_id text NOT NULL,
    revision  integer NOT NULL CHECK (revision > 0),
    rules     json NOT NULL,
    source    text NOT NULL,
    set_by    text NOT NULL,
    set_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, revision)
);

-- Runs -----------------------------------------------------------------------------------------------------------------

CREATE TABLE executions (
    execution_id  text PRIMARY KEY,
    tenant_id     text NOT NULL,
    definition_id text NOT NULL,
    version       integer NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    run_id        text,
    triggered_at  timestamptz,
    FOREIGN KEY (tenant_id, definition_id, version) REFERENCES definitions (tenant_id, definition_id, version)
);

-- The file store that belongs to this database: one row, once a process has used it.
CREATE TABLE store_identity (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    store_id   text NOT NULL,
    is_written boolean NOT NULL DEFAULT false, -- whether the store has had this id
    made_at    timestamptz NOT NULL DEFAULT now()
);

-- A cache: it may be emptied at any time.
CREATE TABLE step_cache (
    tenant_id  text NOT NULL,
    cache_key  text NOT NULL CHECK (cache_key ~ '^[0-9a-f]{64}$'), -- of handler, config as written and resolved key
    handler    text NOT NULL,
    output     json NOT NULL, -- not jsonb, which loses the order of an output's fields
    made_at    timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, cache_key)
);
CREATE INDEX step_cache_expired ON step_cache (tenant_id, expires_at); -- for their removal

-- Runs of documents that share a workflow: where the state of each is, until it moves to a workflow of its own. Lists and
-- counts of runs have them from here, as Temporal lists workflows.
CREATE TABLE chunked_runs (
    tenant_id     text NOT NULL,
    run_id        text NOT NULL,
    chunk_id      text NOT NULL,
    document_id   text NOT NULL,
    definition_id text NOT NULL,
    version       integer NOT NULL, -- of its definition, chosen once: an alias may move before the workflow starts
    started_at    timestamptz NOT NULL DEFAULT now(),
    status        text,             -- in which it has ended; NULL: it runs
    ended_at      timestamptz,
    moved_at      timestamptz,      -- NULL: it is in the chunk, ended or not
    PRIMARY KEY (tenant_id, run_id),
    CHECK ((status IS NULL) = (ended_at IS NULL))
);
CREATE INDEX chunked_runs_of_chunk ON chunked_runs (tenant_id, chunk_id);
-- In the order in which Temporal lists workflows.
CREATE INDEX chunked_runs_newest
    ON chunked_runs (tenant_id, coalesce(ended_at, '9999-12-31 00:00+00') DESC, started_at DESC, run_id DESC)
 WHERE moved_at IS NULL;
CREATE INDEX chunked_runs_counted ON chunked_runs (tenant_id, definition_id)
 WHERE moved_at IS NULL AND (status IS NULL OR status = 'failed');
CREATE INDEX chunked_runs_by_end ON chunked_runs ((coalesce(moved_at, ended_at))); -- for their removal

-- Starts of the last minute where open runs are limited: Temporal lists a run about a second late.
CREATE TABLE recent_starts (
    tenant_id  text NOT NULL,
    run_id     text NOT NULL,
    after      timestamptz NOT NULL, -- start of the execution that it continues, by Temporal's clock; 1970: of none
    key_id     text,                 -- of the API key that caused it; NULL: none did
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    listed_at  timestamptz,          -- when Temporal was first seen to list it
    PRIMARY KEY (tenant_id, run_id, after)
);

-- Runs that did not end within their deadline. A retried run starts again, so it can become overdue again.
CREATE TABLE overdue_runs (
    tenant_id        text NOT NULL,
    run_id           text NOT NULL,
    started_at       timestamptz NOT NULL, -- by the engine's clock; identifies the row together with the run
    definition_id    text NOT NULL,
    version          integer NOT NULL,
    document_id      text,
    deadline_seconds double precision NOT NULL,
    recorded_at      timestamptz NOT NULL DEFAULT now(),
    notified_at      timestamptz, -- NULL: no one to notify, or the notification has not been sent
    PRIMARY KEY (tenant_id, run_id, started_at)
);

-- Reports of ended runs, without outputs, for the time after Temporal has deleted them.
CREATE TABLE ended_runs (
    tenant_id    text NOT NULL,
    run_id       text NOT NULL,
    ended_at     timestamptz NOT NULL,
    document_id  text, -- NULL: the run is about none
    outer_run_id text, -- NULL: the run is nested in none
    report       jsonb NOT NULL,
    PRIMARY KEY (tenant_id, run_id)
);
CREATE INDEX ended_runs_by_end ON ended_runs (ended_at);

-- Explanations of ended runs, from their results; a worker replays a run whose result has none, once.
CREATE TABLE run_explanations (
    tenant_id    text NOT NULL,
    run_id       text NOT NULL,
    execution_id text NOT NULL,     -- Temporal's id of what has ended: a retried run ends again
    ended_at     timestamptz NOT NULL,
    facts        bytea NOT NULL,    -- packed (dag/explain/packing.py)
    PRIMARY KEY (tenant_id, run_id)
);
CREATE INDEX run_explanations_by_end ON run_explanations (ended_at);

-- Every step that failed for good, and how it was resolved.
CREATE TABLE dead_letters (
    tenant_id     text NOT NULL,
    run_id        text NOT NULL,
    step_id       text NOT NULL, -- the step's input is not stored: a retry resolves its config again
    definition_id text NOT NULL,
    version       integer NOT NULL,
    handler       text,          -- NULL: a step of another kind
    document_id   text,
    status        text NOT NULL CHECK (status IN ('parked', 'failed', 'resolved')),
    error_type    text NOT NULL,
    error_message text NOT NULL,
    retryable     boolean NOT NULL,
    attempts      integer NOT NULL,
    failed_again  integer NOT NULL DEFAULT 0, -- how often it failed after a person had it tried again
    failed_at     timestamptz NOT NULL,
    reported_at   timestamptz NOT NULL, -- by the run's clock; older reports are ignored
    resolution    text CHECK (resolution IN ('retry', 'skip', 'output', 'abort', 'dismiss')),
    resolved_by   text,
    resolved_at   timestamptz,
    PRIMARY KEY (tenant_id, run_id, step_id),
    CHECK ((status = 'resolved') = (resolution IS NOT NULL))
);
CREATE INDEX dead_letters_newest ON dead_letters (tenant_id, failed_at DESC, run_id DESC, step_id DESC);
CREATE INDEX dead_letters_of_document ON dead_letters (tenant_id, document_id)
    WHERE document_id IS NOT NULL AND (status <> 'resolved' OR resolution IN ('abort', 'dismiss'));
CREATE INDEX dead_letters_open ON dead_letters (tenant_id, error_type) WHERE status <> 'resolved';

-- What people did to runs and their failed steps. Append-only.
CREATE TABLE operator_actions (
    action_id text PRIMARY KEY DEFAULT 'act_' || replace(gen_random_uuid()::text, '-', ''), -- a caller sees it: no counter
    tenant_id text NOT NULL,
    run_id    text NOT NULL,
    step_id   text,           -- NULL: the whole run
    action    text NOT NULL,
    details   jsonb NOT NULL, -- what the person entered: configs, outputs, a reason, a version
    acted_by  text NOT NULL,
    acted_at  timestamptz NOT NULL DEFAULT clock_timestamp() -- in this order also within a transaction
);
CREATE INDEX operator_actions_of ON operator_actions (tenant_id, run_id, acted_at DESC, action_id DESC);

-- Models ---------------------------------------------------------------------------------------------------------------

-- One row for each answer that was paid for, useful or not.
CREATE TABLE model_usage (
    usage_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id       text NOT NULL,
    used_at         timestamptz NOT NULL DEFAULT now(),
    model           text NOT NULL,
    prompt_version  text NOT NULL DEFAULT '', -- empty: the definition has its own prompt
    run_id          text NOT NULL,
    step_id         text NOT NULL,
    attempt         integer NOT NULL,
    document_id     text,
    outcome         text NOT NULL,
    input_tokens    bigint NOT NULL CHECK (input_tokens >= 0),
    output_tokens   bigint NOT NULL CHECK (output_tokens >= 0),
    thinking_tokens bigint NOT NULL CHECK (thinking_tokens >= 0),
    cost            numeric(14, 6) NOT NULL CHECK (cost >= 0),
    currency        text NOT NULL,
    priced_as       text NOT NULL, -- the entry of the price table; * is an estimate
    prices_read_on  date NOT NULL
);
CREATE INDEX model_usage_of_document ON model_usage (tenant_id, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX model_usage_newest ON model_usage (tenant_id, used_at DESC);

-- Totals of model_usage, so that a budget check or a page of metrics does not add up a day's rows.
CREATE TABLE model_days (
    tenant_id       text NOT NULL,
    day             date NOT NULL, -- UTC
    key_id          text NOT NULL, -- of the API key that caused the runs; empty: none did
    model           text NOT NULL,
    outcome         text NOT NULL,
    answers         bigint NOT NULL,
    input_tokens    bigint NOT NULL,
    output_tokens   bigint NOT NULL,
    thinking_tokens bigint NOT NULL,
    cost            numeric(14, 6) NOT NULL,
    PRIMARY KEY (tenant_id, day, key_id, model, outcome)
);
CREATE INDEX model_days_by_day ON model_days (day);

-- The same over all days: a page of metrics reads it every few seconds, and it does not grow with time.
CREATE TABLE model_totals (
    tenant_id       text NOT NULL,
    model           text NOT NULL,
    outcome         text NOT NULL,
    answers         bigint NOT NULL,
    input_tokens    bigint NOT NULL,
    output_tokens   bigint NOT NULL,
    thinking_tokens bigint NOT NULL,
    cost            numeric NOT NULL,
    PRIMARY KEY (tenant_id, model, outcome)
);

-- The current holder of a piece of work, so that no one else starts it too. A lease, not a lock: it expires.
CREATE TABLE reading_leases (
    tenant_id  text NOT NULL,
    work_key   text NOT NULL,
    holder     text NOT NULL,
    expires_at timestamptz NOT NULL,
    note       jsonb NOT NULL DEFAULT '{}', -- from the last holder to the next
    PRIMARY KEY (tenant_id, work_key)
);
CREATE INDEX reading_leases_expired ON reading_leases (tenant_id, expires_at);

-- Assessment -----------------------------------------------------------------------------------------------------------

-- What each assessed document is compared by, normalised. Replaced when the document is assessed again.
CREATE TABLE seen_invoices (
    tenant_id      text NOT NULL,
    document_id    text NOT NULL,
    sha256         text NOT NULL,
    document_type  text NOT NULL,
    number_key     text,
    vat_id         text,
    iban           text,
    name_key       text,
    total          numeric,
    issued_on      date,
    vendor_name    text, -- as the document says it: for lists, not compared
    invoice_number text,
    currency       text,
    seen_at        timestamptz NOT NULL DEFAULT clock_timestamp(), -- the first time
    -- Under row-level security no index finds a number: only the comparison of texts is known to leak nothing.
    total_key      text GENERATED ALWAYS AS (trim_scale(total)::text) STORED,
    words          text GENERATED ALWAYS AS (searched(coalesce(vendor_name, '') || ' ' || coalesce(invoice_number, '')
                                                      || ' ' || coalesce(total::text, ''))) STORED,
    PRIMARY KEY (tenant_id, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id)
);
CREATE INDEX seen_invoices_by_number ON seen_invoices (tenant_id, number_key) WHERE number_key IS NOT NULL;
CREATE INDEX seen_invoices_by_total ON seen_invoices (tenant_id, total_key, issued_on) WHERE total_key IS NOT NULL;
CREATE INDEX seen_invoices_by_vat_id ON seen_invoices (tenant_id, vat_id) WHERE vat_id IS NOT NULL;
CREATE INDEX seen_invoices_by_vendor ON seen_invoices (tenant_id, name_key COLLATE "C") WHERE name_key IS NOT NULL;
CREATE INDEX seen_invoices_by_text ON seen_invoices USING gin (trigrams(words));

-- What a search for documents looks through. The view has the condition of the tables' policies itself: under a policy,
-- PostgreSQL uses no index for an operator that might leak, and `@>` is one.
CREATE VIEW document_texts AS
SELECT tenant_id, document_id, searched(file_name) AS words, NULL AS total_key FROM documents
 WHERE tenant_id = (SELECT nullif(current_setting('docrail.tenant', true), '')) OR current_user = 'docrail_fleet'
 UNION ALL
SELECT tenant_id, document_id, words, total_key FROM seen_invoices
 WHERE tenant_id = (SELECT nullif(current_setting('docrail.tenant', true), '')) OR current_user = 'docrail_fleet';

-- What approvals taught about each vendor. vendor_keys lead to it.
CREATE TABLE vendors (
    tenant_id  text NOT NULL,
    vendor_key text NOT NULL, -- the most reliable key at the first approval: vat:..., iban:... or name:...
    memory     json NOT NULL, -- not jsonb, which loses the order: the newest comes last
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, vendor_key)
);
CREATE TABLE vendor_keys (
    tenant_id  text NOT NULL,
    key        text NOT NULL,
    vendor_key text, -- NULL: several vendors share this key, so it identifies none
    PRIMARY KEY (tenant_id, key)
);

-- Whether each value that was read proved right when a person approved or corrected it.
CREATE TABLE field_outcomes (
    tenant_id   text NOT NULL,
    document_id text NOT NULL,
    field       text NOT NULL,
    raw         double precision NOT NULL, -- confidence before calibration
    was_right   boolean NOT NULL,
    family      text NOT NULL,             -- the vendor's key
    decided_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, document_id, field)
);
CREATE INDEX field_outcomes_newest ON field_outcomes (tenant_id, decided_at DESC);

-- Without an active row, the shipped calibration is used.
CREATE TABLE calibrations (
    tenant_id  text NOT NULL,
    version    integer NOT NULL CHECK (version > 0),
    body       json NOT NULL,
    fitted_on  text NOT NULL, -- a description
    active     boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, version)
);
CREATE UNIQUE INDEX calibrations_active ON calibrations (tenant_id) WHERE active;

-- Reviews --------------------------------------------------------------------------------------------------------------

-- An item asks about a document (document_id), or asks the question of a run's human step (run_id and step_id).
-- Columns shown to people are json, not jsonb, which loses the order of a form's fields.
CREATE TABLE reviews (
    tenant_id          text NOT NULL,
    review_id          text NOT NULL,
    document_id        text,
    run_id             text NOT NULL,
    step_id            text,
    run_document_id    text,                              -- the document of the run that asks
    file_name          text,                              -- of the document, if there is one
    -- For a human step's item about a document: the item of that document, which represents it in the queue. Open while
    -- that item is decided: the run has not received its answer yet.
    document_review_id text,
    status             text NOT NULL DEFAULT 'open',
    queue              text NOT NULL DEFAULT 'documents',
    title              text NOT NULL DEFAULT '',          -- '' until the question of the step is known
    asked_at           double precision NOT NULL DEFAULT 0, -- by the run's clock; older questions are ignored
    form               json,                              -- JSON Schema of a decision
    show               json,
    band               smallint NOT NULL DEFAULT 0,
    priority           numeric(6, 3) NOT NULL,            -- without the share of the SLA, which rises with time
    parts              jsonb NOT NULL,
    reasons            jsonb NOT NULL,
    summary            jsonb NOT NULL,
    due_at             timestamptz,
    sla_from           timestamptz,                       -- start of the SLA; NULL: the priority does not rise
    postponed_until    timestamptz,
    assigned_to        text,
    assignee_group     text,                              -- NULL: everyone who sees the queue
    may_not_decide     text[] NOT NULL DEFAULT '{}',      -- names of principals whose decision is refused
    claimed_by         text,
    claimed_at         timestamptz,
    claimed_until      timestamptz,
    claim_token        bigint NOT NULL DEFAULT 0,         -- rises with every claim: an older token is refused
    shown_digest       text,                              -- of the document as the queue shows it
    straight_through   boolean,                           -- whether it passed without a person, or would have
    audit_sample       boolean NOT NULL DEFAULT false,
    touched            boolean NOT NULL DEFAULT false,    -- a person corrected a field
    first_approval     json,                              -- by, at, digest: of an item that needs two approvals
    approvals_needed   integer NOT NULL DEFAULT 1,        -- equal decisions that a human step needs
    decided_so_far     json NOT NULL DEFAULT '[]',        -- of each person: by, at, digest, decision, number
    decision           json,
    decision_digest    text,                              -- of the document as it was shown for the decision
    decided_by         text,
    decided_invoice    json,                              -- the document as it was decided, until the item is reopened
    taught_vendor      text,                              -- vendors.vendor_key that the approval taught; NULL: none
    revision           integer NOT NULL DEFAULT 0,        -- rises with every decision, reopening and correction
    filed_revision     integer NOT NULL DEFAULT 0,        -- the last revision in the lake
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    closed_at          timestamptz,
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id),
    CHECK ((document_id IS NULL) = (step_id IS NOT NULL))
);
-- An item is in one of these two unique indexes only, so concurrent upserts cannot collide on the other.
CREATE UNIQUE INDEX reviews_of_document ON reviews (document_id);
CREATE UNIQUE INDEX reviews_of_step ON reviews (tenant_id, run_id, step_id) WHERE step_id IS NOT NULL;
-- Not unique for the same reason: review_id follows from the document or the step.
CREATE INDEX reviews_by_id ON reviews (tenant_id, review_id);
CREATE INDEX reviews_queue ON reviews (tenant_id, status, (-band), (-priority), due_at, created_at, review_id);
CREATE INDEX reviews_queues ON reviews (tenant_id, queue, status, (-band), (-priority), due_at, created_at, review_id);
CREATE INDEX reviews_of_group
    ON reviews (tenant_id, assignee_group, status, (-band), (-priority), due_at, created_at, review_id)
    WHERE assignee_group IS NOT NULL;
-- All questions about a document, open or not: a run and its nested runs ask once.
CREATE INDEX reviews_of_item ON reviews (tenant_id, document_review_id) WHERE document_review_id IS NOT NULL;
CREATE INDEX reviews_unanswered ON reviews (tenant_id, document_review_id)
    WHERE document_review_id IS NOT NULL AND status = 'open';
-- What the metrics count for all tenants.
CREATE INDEX reviews_open ON reviews (due_at) WHERE status = 'open' AND document_review_id IS NULL;
CREATE INDEX reviews_with_sla ON reviews (due_at) WHERE status = 'open' AND sla_from IS NOT NULL;
CREATE INDEX reviews_unfiled ON reviews (tenant_id, document_id) WHERE revision > filed_revision;

-- An open item is postponed until its time has come.
CREATE FUNCTION review_status(status text, postponed_until timestamptz, as_of timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN status = 'open' AND postponed_until > as_of THEN 'postponed' ELSE status END;

-- Batches --------------------------------------------------------------------------------------------------------------

-- Documents that are run together, a few at the same time. What people want of a batch stands here; its workflow acts.
CREATE TABLE batches (
    tenant_id       text NOT NULL,
    batch_id        text NOT NULL CHECK (batch_id ~ '^bat_[0-9a-f]{26}$'),
    wanted          json NOT NULL,                -- the order, without its documents
    max_concurrency integer NOT NULL CHECK (max_concurrency > 0),
    deadline_at     timestamptz,
    created_by      text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    closed_at       timestamptz,                  -- takes no more documents
    paused_at       timestamptz,
    cancelled_at    timestamptz,
    completed_at    timestamptz,                  -- nothing was waiting or running any more
    completions     integer NOT NULL DEFAULT 0,   -- a retry completes it once more
    held_by         text,                         -- the quota that it waits for
    notified_at     timestamptz,
    webhook_error   text NOT NULL DEFAULT '',
    trigger_name    text,                         -- of the trigger that has ordered it; NULL: no one but created_by
    PRIMARY KEY (tenant_id, batch_id)
);
CREATE INDEX batches_newest ON batches (tenant_id, created_at DESC, batch_id DESC);
CREATE INDEX batches_of_trigger ON batches (tenant_id, trigger_name, created_at DESC) WHERE trigger_name IS NOT NULL;

-- A document of a batch: the same content is one document, wherever it lies. `state` is that of its run, as seen when
-- it last changed for the batch: a run that goes on afterwards is looked at again (reopen_in_batch below).
CREATE TABLE batch_documents (
    tenant_id     text NOT NULL,
    batch_id      text NOT NULL,
    document_id   text NOT NULL,
    position      bigint GENERATED ALWAYS AS IDENTITY,
    place         text NOT NULL,                  -- where the client has it: a path, a name
    state         text NOT NULL DEFAULT 'waiting'
                  CHECK (state IN ('waiting', 'running', 'asking', 'done', 'failed', 'cancelled')),
    run_id        text,                           -- NULL: none was started
    again         boolean NOT NULL DEFAULT false, -- its run is to be retried when its turn comes
    key_id        text,                           -- of the API key that added it or asked for its retry
    error_type    text,
    error_message text,
    outputs       json,                           -- of its run, unless they are large
    started_at    timestamptz,
    ended_at      timestamptz,
    looked_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, batch_id, document_id),
    UNIQUE (tenant_id, batch_id, place),
    FOREIGN KEY (tenant_id, batch_id) REFERENCES batches (tenant_id, batch_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id)
);
CREATE INDEX batch_documents_states ON batch_documents (tenant_id, batch_id, state, position);
CREATE INDEX batch_documents_in_order ON batch_documents (tenant_id, batch_id, position);
CREATE INDEX batch_documents_errors ON batch_documents (tenant_id, batch_id, error_type) WHERE state = 'failed';
CREATE INDEX batch_documents_ended ON batch_documents (tenant_id, batch_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX batch_documents_of_run ON batch_documents (tenant_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX batch_documents_open ON batch_documents (tenant_id, batch_id) WHERE state IN ('waiting', 'running');
CREATE INDEX batch_documents_asking ON batch_documents (looked_at) WHERE state = 'asking';

-- Further places that have the content of a document of the batch.
CREATE TABLE batch_duplicates (
    tenant_id   text NOT NULL,
    batch_id    text NOT NULL,
    place       text NOT NULL,
    document_id text NOT NULL,
    PRIMARY KEY (tenant_id, batch_id, place),
    FOREIGN KEY (tenant_id, batch_id, document_id) REFERENCES batch_documents (tenant_id, batch_id, document_id)
);

-- Files of watched folders whose documents are stored: as long as one stays as it was, it is not read again.
CREATE TABLE watched_files (
    tenant_id text NOT NULL,
    folder    text NOT NULL,
    file      bytea NOT NULL, -- SHA-256 of its place in the folder: a path may be longer than what an index takes
    stamp     text NOT NULL,  -- inode, size and times when it was read
    PRIMARY KEY (tenant_id, folder, file)
);

-- A run that was retried, or whose question was answered, goes on: its document is no longer as the batch has seen it.
CREATE FUNCTION reopen_in_batch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE batch_documents SET state = 'running', ended_at = NULL, looked_at = now()
     WHERE tenant_id = NEW.tenant_id AND run_id = NEW.run_id AND state IN ('failed', 'asking');
    RETURN NULL;
END $$;
CREATE TRIGGER dead_letters_reopen AFTER UPDATE OF status ON dead_letters
    FOR EACH ROW WHEN (OLD.status <> 'resolved' AND NEW.status = 'resolved' AND NEW.resolution <> 'dismiss')
    EXECUTE FUNCTION reopen_in_batch();
CREATE TRIGGER reviews_reopen AFTER UPDATE OF status ON reviews
    FOR EACH ROW WHEN (OLD.status = 'open' AND NEW.status <> 'open') EXECUTE FUNCTION reopen_in_batch();

-- What people see of each document, and the only definition of its status. It reads the tables of several nouns, as the
-- caller of the view (row-level security), and is read by the inbox alone.
CREATE VIEW document_states WITH (security_invoker = true) AS
SELECT d.tenant_id, d.document_id, d.file_name, d.source, d.definition, d.received_at, d.decision, d.exported_at,
       CASE WHEN d.exported_at IS NOT NULL THEN 'exported'
            WHEN d.decision IS NOT NULL THEN d.decision
            WHEN r.status = 'open' THEN
                CASE WHEN review_status(r.status, r.postponed_until, now()) = 'postponed' THEN 'postponed'
                     WHEN r.first_approval IS NOT NULL THEN 'second'
                     ELSE 'attention' END
            WHEN f.status <> 'resolved' THEN 'failed'
            WHEN f.status = 'resolved' AND (f.resolved_at < d.run_started_at) IS NOT TRUE THEN 'dismissed'
            WHEN r.status = 'closed' THEN 'dismissed'
            WHEN b.state = 'failed' THEN 'failed' -- its run could not be started
            WHEN d.ended_as = 'completed' OR b.state = 'done' THEN 'completed'
            WHEN d.ended_as IS NOT NULL OR b.state = 'cancelled' THEN 'dismissed'
            ELSE 'reading' END AS status,
       d.duplicate_of, s.document_type, s.vendor_name, s.invoice_number, s.issued_on, s.total, s.currency,
       s.vat_id, s.name_key,
       (SELECT o.document_id FROM seen_invoices o
         WHERE o.tenant_id = s.tenant_id AND o.number_key = s.number_key AND o.seen_at < s.seen_at
           AND (o.vat_id = s.vat_id OR o.name_key = s.name_key) AND o.document_id IS DISTINCT FROM d.part_of
         ORDER BY o.seen_at LIMIT 1) AS look_alike,
       coalesce(r.run_id, f.run_id, CASE WHEN d.run_started_at IS NOT NULL THEN d.run_id END) AS run_id,
       r.review_id, r.due_at, r.reasons, r.postponed_until, r.assigned_to, r.decided_by,
       r.first_approval ->> 'by' AS first_approved_by,
       CASE WHEN r.claimed_until > now() THEN r.claimed_by END AS claimed_by,
       CASE WHEN r.claimed_until > now() THEN r.claimed_until END AS claimed_until,
       CASE WHEN r.review_id IS NULL THEN d.confidence ELSE (r.summary ->> 'confidence')::float8 END AS confidence,
       coalesce(f.error_type, b.error_type) AS error_type,
       coalesce(f.error_message, b.error_message) AS error_message
  FROM documents d
  LEFT JOIN batch_documents b
         ON b.tenant_id = d.tenant_id AND b.batch_id = d.batch_id AND b.document_id = d.document_id
  LEFT JOIN seen_invoices s ON s.tenant_id = d.tenant_id AND s.document_id = d.document_id
  LEFT JOIN reviews r ON r.tenant_id = d.tenant_id AND r.document_id = d.document_id
  LEFT JOIN ( -- an open failure, else the last one that a person set aside
      SELECT DISTINCT ON (l.tenant_id, l.document_id)
             l.tenant_id, l.document_id, l.status, l.resolved_at, l.run_id, l.error_type, l.error_message
        FROM dead_letters l
       WHERE l.document_id IS NOT NULL AND (l.status <> 'resolved' OR l.resolution IN ('abort', 'dismiss'))
       ORDER BY l.tenant_id, l.document_id, l.status = 'resolved', l.failed_at DESC, l.run_id, l.step_id
  ) AS f ON f.tenant_id = d.tenant_id AND f.document_id = d.document_id;

-- Shares of an item's SLA that were reported. Another due_at is another SLA.
CREATE TABLE sla_events (
    tenant_id   text NOT NULL,
    review_id   text NOT NULL,
    due_at      timestamptz NOT NULL,
    percent     smallint NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    notified_at timestamptz, -- NULL: no one to notify, or the notification has not been sent
    PRIMARY KEY (tenant_id, review_id, due_at, percent)
);
CREATE INDEX sla_events_unsent ON sla_events (recorded_at) WHERE notified_at IS NULL;

-- Totals for dashboards, updated with each act: adding up all reviews would take longer every year.
CREATE TABLE review_counts (
    tenant_id text NOT NULL,
    name      text NOT NULL,
    label     text NOT NULL,
    total     double precision NOT NULL,
    PRIMARY KEY (tenant_id, name, label)
);

-- Exports ------------------------------------------------------------------------------------------------------------

-- What approved documents are passed on as: a file, or messages to a URL. A row exists before its file does.
CREATE TABLE exports (
    tenant_id   text NOT NULL,
    export_id   text NOT NULL CHECK (export_id ~ '^exp_[0-9a-f]{26}$'),
    status      text NOT NULL DEFAULT 'preparing' CHECK (status IN ('preparing', 'sending', 'ready', 'failed')),
    wanted      json NOT NULL,                   -- the order
    documents   integer NOT NULL CHECK (documents >= 0),
    done        integer NOT NULL DEFAULT 0,      -- documents written, or sent while it is `sending`
    path        text,                            -- of the file in the tenant's folder
    sha256      text,
    size_bytes  bigint,
    error       text NOT NULL DEFAULT '',
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    PRIMARY KEY (tenant_id, export_id),
    CHECK ((status IN ('ready', 'failed')) = (ended_at IS NOT NULL)),
    CHECK (status NOT IN ('sending', 'ready') OR path IS NOT NULL)
);
CREATE INDEX exports_newest ON exports (tenant_id, created_at DESC, export_id DESC);
CREATE INDEX exports_open ON exports (tenant_id, created_at) WHERE ended_at IS NULL;

-- The documents of an export in their order, chosen when it is ordered: a repeated attempt writes the same ones.
CREATE TABLE export_documents (
    tenant_id   text NOT NULL,
    export_id   text NOT NULL,
    position    integer NOT NULL CHECK (position > 0),
    document_id text NOT NULL,
    PRIMARY KEY (tenant_id, export_id, position),
    FOREIGN KEY (tenant_id, export_id) REFERENCES exports (tenant_id, export_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id)
);
CREATE INDEX export_documents_of ON export_documents (tenant_id, document_id);

-- Access -------------------------------------------------------------------------------------------------------------

-- API keys. The secrets are random, so one fast hash keeps them: there is no list of likely ones to try. Rows stay.
CREATE TABLE api_keys (
    key_id          text PRIMARY KEY CHECK (key_id ~ '^[0-9a-f]{16}$'),
    tenant_id       text NOT NULL,
    name            text NOT NULL, -- the person or system, as the audit log names them
    scopes          text[] NOT NULL CHECK (scopes <> '{}'),
    secret_sha256   bytea NOT NULL,
    previous_sha256 bytea,         -- the secret before the last rotation
    previous_until  timestamptz,
    created_by      text NOT NULL,
    known_to        text,          -- whoever got its secret over HTTP, and counts as its holder where two people must act
    created_at      timestamptz NOT NULL DEFAULT now(),
    rotated_at      timestamptz,
    expires_at      timestamptz,
    revoked_at      timestamptz,
    revoked_by      text,
    last_used_at    timestamptz    -- to the minute
);
CREATE INDEX api_keys_of_tenant ON api_keys (tenant_id, created_at DESC, key_id DESC);

-- What the operator lets a tenant, or one of its keys, use; without a row the default of the settings applies.
CREATE TABLE quotas (
    tenant_id  text NOT NULL,
    key_id     text NOT NULL, -- empty: of the whole tenant
    quota      text NOT NULL,
    value      double precision NOT NULL CHECK (value >= 0),
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key_id, quota)
);
-- What is used of a quota that a day renews, in UTC.
CREATE TABLE quota_days (
    tenant_id text NOT NULL,
    key_id    text NOT NULL,
    quota     text NOT NULL,
    day       date NOT NULL,
    used      bigint NOT NULL CHECK (used >= 0),
    PRIMARY KEY (tenant_id, key_id, quota)
);

-- Browser sessions. The hash is that of the cookie's random value, which changes every hour of use.
CREATE TABLE sessions (
    session_id      text PRIMARY KEY CHECK (session_id ~ '^ses_[0-9a-f]{16}$'),
    tenant_id       text NOT NULL,
    name            text NOT NULL,
    scopes          text[] NOT NULL,
    key_id          text REFERENCES api_keys (key_id), -- the session ends with its key
    key_sha256      bytea,         -- that of the key's secret with which it was opened: a rotation ends it too
    issuer          text,
    secret_sha256   bytea NOT NULL UNIQUE,
    previous_sha256 bytea UNIQUE,  -- accepted for a moment: several requests may be under way
    created_at      timestamptz NOT NULL DEFAULT now(),
    rotated_at      timestamptz NOT NULL DEFAULT now(),
    last_seen_at    timestamptz NOT NULL DEFAULT now(), -- to the minute
    expires_at      timestamptz NOT NULL,
    revoked_at      timestamptz,
    CHECK ((key_id IS NULL) = (key_sha256 IS NULL))
);
CREATE INDEX sessions_of_tenant ON sessions (tenant_id, created_at DESC, session_id DESC);

-- The name of each person of an identity provider: one for each, whatever the provider calls them later.
CREATE TABLE people (
    tenant_id  text NOT NULL,
    issuer     text NOT NULL,
    subject    text NOT NULL, -- the provider's own id of the person
    name       text NOT NULL,
    first_seen timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, issuer, subject),
    UNIQUE (tenant_id, name)
);

-- Audit ----------------------------------------------------------------------------------------------------------------

-- The hash of each event covers the event before it. The head has the length of the chain, and is locked to append.
CREATE TABLE audit_events (
    tenant_id   text NOT NULL,
    sequence    bigint NOT NULL CHECK (sequence > 0),
    happened_at timestamptz NOT NULL,
    actor       text NOT NULL,
    act         text NOT NULL,
    review_id   text,
    document_id text,
    detail      json NOT NULL, -- not jsonb, which rewrites numbers
    state       text,          -- of the review item after the act, as a digest of its decision; NULL: it had no part in it
    hash        text NOT NULL,
    PRIMARY KEY (tenant_id, sequence)
);
CREATE INDEX audit_events_of_review ON audit_events (tenant_id, review_id, sequence);
CREATE INDEX audit_events_of_document ON audit_events (tenant_id, document_id, sequence);
CREATE TABLE audit_heads (
    tenant_id text PRIMARY KEY,
    sequence  bigint NOT NULL,
    hash      text NOT NULL
);
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit events are append-only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_events_stay BEFORE UPDATE OR DELETE ON audit_events
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_events_stay_all BEFORE TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- Live events ----------------------------------------------------------------------------------------------------------

-- What changed lately, for those who look at it: kind and id, no content. Triggers write it, so that no change of a row
-- can be without its event, nor the other way round. Readers look for transactions that they have not seen (txid), as
-- ids do not commit in order.
CREATE TABLE events (
    txid        xid8 NOT NULL DEFAULT pg_current_xact_id(),
    event_id    bigint GENERATED ALWAYS AS IDENTITY,
    tenant_id   text NOT NULL,
    kind        text NOT NULL,
    object_id   text NOT NULL,
    run_id      text, -- the run that the object belongs to
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (txid, event_id)
);
-- The key that seals a tenant's positions in its events: they count the transactions of all tenants.
CREATE TABLE event_seals (
    tenant_id text PRIMARY KEY,
    key       bytea NOT NULL CHECK (length(key) = 32)
);
CREATE FUNCTION record_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed text;
    of_run  text;
BEGIN
    CASE TG_ARGV[0]
        WHEN 'document' THEN changed := NEW.document_id;
        WHEN 'review' THEN changed := NEW.review_id; of_run := NEW.run_id;
        WHEN 'run' THEN changed := NEW.run_id; of_run := NEW.run_id;
        WHEN 'failure' THEN changed := NEW.run_id || '/' || NEW.step_id; of_run := NEW.run_id;
        WHEN 'definition' THEN changed := NEW.definition_id;
        WHEN 'export' THEN changed := NEW.export_id;
        WHEN 'batch' THEN changed := NEW.batch_id;
        WHEN 'access' THEN changed := TG_TABLE_NAME;
    END CASE;
    INSERT INTO events (tenant_id, kind, object_id, run_id) VALUES (NEW.tenant_id, TG_ARGV[0], changed, of_run);
    RETURN NULL;
END $$;
CREATE TRIGGER documents_live AFTER INSERT OR UPDATE ON documents
    FOR EACH ROW EXECUTE FUNCTION record_event('document');
CREATE TRIGGER corrections_live AFTER INSERT OR UPDATE ON corrections
    FOR EACH ROW EXECUTE FUNCTION record_event('document');
CREATE TRIGGER reviews_live AFTER INSERT OR UPDATE ON reviews
    FOR EACH ROW EXECUTE FUNCTION record_event('review');
-- What a run waits for, what failed in it and what people did to it changes how it is shown in lists.
CREATE TRIGGER reviews_live_run AFTER INSERT OR UPDATE OF status ON reviews
    FOR EACH ROW WHEN (NEW.step_id IS NOT NULL) EXECUTE FUNCTION record_event('run');
CREATE TRIGGER dead_letters_live_run AFTER INSERT OR UPDATE ON dead_letters
    FOR EACH ROW EXECUTE FUNCTION record_event('run');
CREATE TRIGGER operator_actions_live_run AFTER INSERT ON operator_actions
    FOR EACH ROW EXECUTE FUNCTION record_event('run');
CREATE TRIGGER overdue_runs_live_run AFTER INSERT ON overdue_runs
    FOR EACH ROW EXECUTE FUNCTION record_event('run');
CREATE TRIGGER executions_live_run AFTER UPDATE ON executions
    FOR EACH ROW WHEN (NEW.run_id IS NOT NULL) EXECUTE FUNCTION record_event('run');
-- Temporal reports only runs with workflows of their own.
CREATE TRIGGER chunked_runs_live_run AFTER INSERT OR UPDATE ON chunked_runs
    FOR EACH ROW EXECUTE FUNCTION record_event('run');
CREATE TRIGGER dead_letters_live AFTER INSERT OR UPDATE ON dead_letters
    FOR EACH ROW EXECUTE FUNCTION record_event('failure');
CREATE TRIGGER exports_live AFTER INSERT OR UPDATE ON exports
    FOR EACH ROW EXECUTE FUNCTION record_event('export');
CREATE TRIGGER batches_live AFTER INSERT OR UPDATE ON batches
    FOR EACH ROW EXECUTE FUNCTION record_event('batch');
-- One event for each statement: thousands of documents of a batch change together.
CREATE FUNCTION record_batch_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (tenant_id, kind, object_id) SELECT DISTINCT tenant_id, 'batch', batch_id FROM changed;
    RETURN NULL;
END $$;
CREATE TRIGGER batch_documents_live AFTER UPDATE ON batch_documents
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION record_batch_event();
CREATE TRIGGER batch_documents_added AFTER INSERT ON batch_documents
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION record_batch_event();
CREATE TRIGGER definitions_live AFTER INSERT ON definitions
    FOR EACH ROW EXECUTE FUNCTION record_event('definition');
CREATE TRIGGER alias_moves_live AFTER INSERT ON alias_moves
    FOR EACH ROW EXECUTE FUNCTION record_event('definition');
-- The streams of a revoked key or session end.
CREATE TRIGGER api_keys_live AFTER UPDATE OF revoked_at ON api_keys
    FOR EACH ROW EXECUTE FUNCTION record_event('access');
CREATE TRIGGER sessions_live AFTER UPDATE OF revoked_at ON sessions
    FOR EACH ROW EXECUTE FUNCTION record_event('access');
