-- The versions of each document in the lake, and which originals were deleted because they were old.

-- A version is one state of what is known of a document: the same state again is the same version, and so the same file.
CREATE TABLE lake_versions (
    tenant_id   text NOT NULL,
    document_id text NOT NULL,
    version     integer NOT NULL CHECK (version > 0),
    content     text NOT NULL CHECK (content ~ '^[0-9a-f]{64}$'), -- sha256 of the invoice as JSON
    saved_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, document_id, version),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id)
);

-- The row of a document outlives its bytes.
ALTER TABLE documents ADD COLUMN original_removed_at timestamptz;
-- For the removal of old originals, which is the same for all tenants: blobs are shared.
CREATE INDEX documents_by_sha256 ON documents (sha256);
