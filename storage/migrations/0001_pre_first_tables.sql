-- The first tables. Every one carries its tenant, and every query starts from it.

CREATE TABLE documents (
    document_id         text PRIMARY KEY,
    tenant_id           text NOT NULL,
    sha256              text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    size_bytes          bigint NOT NULL CHECK (size_bytes >= 0),
    media_type          text NOT NULL,
    file_name           text NOT NULL,
    sla_hours           double precision NOT NULL CHECK (sla_hours > 0),
    received_at         timestamptz NOT NULL DEFAULT now(),
    run_id              text,
    run_started_at      timestamptz,
    metrics_recorded_at timestamptz,
    duplicate_of        text,
    UNIQUE (tenant_id, document_id)
);
-- Of two uploads of the same bytes at once, exactly one is the first.
CREATE UNIQUE INDEX documents_first ON documents (tenant_id, sha256) WHERE duplicate_of IS NULL;
CREATE INDEX documents_newest ON documents (tenant_id, received_at DESC, document_id DESC);
CREATE INDEX documents_unstarted ON documents (received_at) WHERE run_started_at IS NULL;

CREATE TABLE processed_documents (
    tenant_id      text NOT NULL,
    sha256         text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    reader_version text NOT NULL,
    data           jsonb NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, sha256, reader_version)
);

CREATE TABLE reviews (
    document_id text PRIMARY KEY,
    tenant_id   text NOT NULL,
    review_id   text NOT NULL,
    run_id      text NOT NULL,
    status      text NOT NULL DEFAULT 'open',
    band        smallint NOT NULL DEFAULT 0,
    priority    numeric(6, 3) NOT NULL,
    parts       jsonb NOT NULL,
    reasons     jsonb NOT NULL,
    summary     jsonb NOT NULL,
    due_at      timestamptz NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id)
);
-- Not unique: it follows from the document, and a second unique index would make two upserts at once collide on it.
CREATE INDEX reviews_by_id ON reviews (tenant_id, review_id);
CREATE INDEX reviews_queue ON reviews (tenant_id, status, (-band), (-priority), created_at, review_id);

CREATE TABLE definitions (
    tenant_id     text NOT NULL,
    definition_id text NOT NULL,
    version       integer NOT NULL CHECK (version > 0),
    digest        text NOT NULL,
    body          json NOT NULL, -- not jsonb, which rewrites numbers: the digest is of these very characters
    source        text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, definition_id, version),
    UNIQUE (tenant_id, definition_id, digest)
);

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
