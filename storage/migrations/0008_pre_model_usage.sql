-- What models were asked and what it cost, and who reads which document just now.

-- One row for each answer that was paid for, also one that was of no use.
CREATE TABLE model_usage (
    usage_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id       text NOT NULL,
    used_at         timestamptz NOT NULL DEFAULT now(),
    model           text NOT NULL,
    prompt_version  text NOT NULL DEFAULT '', -- empty: the definition's own prompt
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
    priced_as       text NOT NULL, -- the price table's entry; * is a guess
    prices_read_on  date NOT NULL
);
CREATE INDEX model_usage_of_document ON model_usage (tenant_id, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX model_usage_newest ON model_usage (tenant_id, used_at DESC);

-- Its totals, so that a budget is checked and a page of metrics is made without adding up a day's rows.
CREATE TABLE model_days (
    tenant_id       text NOT NULL,
    day             date NOT NULL, -- UTC
    model           text NOT NULL,
    outcome         text NOT NULL,
    answers         bigint NOT NULL,
    input_tokens    bigint NOT NULL,
    output_tokens   bigint NOT NULL,
    thinking_tokens bigint NOT NULL,
    cost            numeric(14, 6) NOT NULL,
    PRIMARY KEY (tenant_id, day, model, outcome)
);
CREATE INDEX model_days_by_day ON model_days (day);

-- Who does a piece of work just now, so that nobody else does it too. Not a lock: an owner that dies loses it in time.
CREATE TABLE reading_leases (
    tenant_id  text NOT NULL,
    work_key   text NOT NULL,
    holder     text NOT NULL,
    expires_at timestamptz NOT NULL,
    note       jsonb NOT NULL DEFAULT '{}', -- what the last holder leaves to the next
    PRIMARY KEY (tenant_id, work_key)
);
CREATE INDEX reading_leases_expired ON reading_leases (expires_at);
