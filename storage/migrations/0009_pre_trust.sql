-- What documents are compared by, what vendors are known by, and how confidences are calibrated.

-- Of every document that was judged, in one way of writing: made anew when a document is judged again.
CREATE TABLE seen_invoices (
    tenant_id     text NOT NULL,
    document_id   text NOT NULL,
    sha256        text NOT NULL,
    document_type text NOT NULL,
    number_key    text,
    vat_id        text,
    iban          text,
    name_key      text,
    total         numeric,
    issued_on     date,
    seen_at       timestamptz NOT NULL DEFAULT clock_timestamp(), -- the first time
    PRIMARY KEY (tenant_id, document_id),
    FOREIGN KEY (tenant_id, document_id) REFERENCES documents (tenant_id, document_id)
);
CREATE INDEX seen_invoices_by_number ON seen_invoices (tenant_id, number_key) WHERE number_key IS NOT NULL;
CREATE INDEX seen_invoices_by_total ON seen_invoices (tenant_id, total, issued_on) WHERE total IS NOT NULL;

-- What people approved of each vendor; its keys lead to it.
CREATE TABLE vendors (
    tenant_id  text NOT NULL,
    vendor_key text NOT NULL, -- the surest key when it was first approved: vat:..., iban:... or name:...
    memory     json NOT NULL, -- not jsonb, which forgets what is newest
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, vendor_key)
);
CREATE TABLE vendor_keys (
    tenant_id  text NOT NULL,
    key        text NOT NULL,
    vendor_key text, -- NULL: more than one vendor has this key, so it leads nowhere
    PRIMARY KEY (tenant_id, key)
);

-- How every value fared that was read and then approved or corrected by a person.
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

-- Without an active one, the shipped calibration counts.
CREATE TABLE calibrations (
    tenant_id  text NOT NULL,
    version    integer NOT NULL CHECK (version > 0),
    body       json NOT NULL,
    fitted_on  text NOT NULL, -- in words
    active     boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, version)
);
CREATE UNIQUE INDEX calibrations_active ON calibrations (tenant_id) WHERE active;
