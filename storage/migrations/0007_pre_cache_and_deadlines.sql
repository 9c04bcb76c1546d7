-- Outputs of cached steps, and the runs that did not end within their deadline.

-- May be emptied at any time: what is missing is made again.
CREATE TABLE step_cache (
    tenant_id  text NOT NULL,
    cache_key  text NOT NULL CHECK (cache_key ~ '^[0-9a-f]{64}$'), -- of handler, config as written and resolved key
    handler    text NOT NULL,
    output     json NOT NULL, -- not jsonb, which forgets the order of an output's fields
    made_at    timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, cache_key)
);
-- For the removal of what has expired, which is the same for all tenants.
CREATE INDEX step_cache_expired ON step_cache (expires_at);

-- A run that was retried began anew, so it may be overdue anew.
CREATE TABLE overdue_runs (
    tenant_id        text NOT NULL,
    run_id           text NOT NULL,
    started_at       timestamptz NOT NULL, -- by the engine's clock, with the run its identity
    definition_id    text NOT NULL,
    version          integer NOT NULL,
    document_id      text,
    deadline_seconds double precision NOT NULL,
    recorded_at      timestamptz NOT NULL DEFAULT now(),
    notified_at      timestamptz, -- NULL: nobody is to be notified, or nobody could be
    PRIMARY KEY (tenant_id, run_id, started_at)
);
