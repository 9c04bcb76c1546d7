-- The definition registry: names for versions, who moved them, which rules choose a document's definition.

CREATE TABLE definition_aliases (
    tenant_id     text NOT NULL,
    definition_id text NOT NULL,
    alias         text NOT NULL CHECK (alias ~ '^[a-z][a-z0-9_-]{0,31}$'),
    version       integer NOT NULL,
    percent       smallint CHECK (percent BETWEEN 0 AND 100), -- of new runs; a canary's alone
    PRIMARY KEY (tenant_id, definition_id, alias),
    FOREIGN KEY (tenant_id, definition_id, version) REFERENCES definitions (tenant_id, definition_id, version),
    CHECK ((alias = 'canary') = (percent IS NOT NULL))
);

-- Only ever added to. A NULL version is "no such alias".
CREATE TABLE alias_moves (
    move_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
    reason        text NOT NULL DEFAULT ''
);
CREATE INDEX alias_moves_of ON alias_moves (tenant_id, definition_id, move_id DESC);

-- Until now new runs got the newest version: that is where `stable` stands, and how it came there. By whom is not known.
INSERT INTO definition_aliases (tenant_id, definition_id, alias, version)
SELECT tenant_id, definition_id, 'stable', max(version) FROM definitions GROUP BY tenant_id, definition_id;
INSERT INTO alias_moves (tenant_id, definition_id, alias, kind, from_version, to_version, moved_by, moved_at)
SELECT tenant_id, definition_id, 'stable', 'publish',
       lag(version) OVER (PARTITION BY tenant_id, definition_id ORDER BY version), version, 'unknown', created_at
  FROM definitions
 ORDER BY tenant_id, definition_id, version;

-- Every list of rules that was ever in force; the one with the highest revision is.
CREATE TABLE routing_rules (
    tenant_id text NOT NULL,
    revision  integer NOT NULL CHECK (revision > 0),
    rules     json NOT NULL,
    source    text NOT NULL,
    set_by    text NOT NULL,
    set_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, revision)
);

-- Chosen once, when the document is kept: whoever starts its run, the upload or the sweep, starts the same definition.
ALTER TABLE documents
    ADD COLUMN definition text, -- as the upload named it or a rule chose it: `invoice`, `invoice@4`; NULL in old rows
    ADD COLUMN source     text NOT NULL DEFAULT '';
