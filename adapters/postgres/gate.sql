-- The gate between tenants. `migrate` applies it after the migrations, each time: a table that a migration adds cannot be
-- forgotten. Everything here can be repeated. docs/adr/0033-tenants.md gives the reasons.

-- Roles belong to the server, not to the database, so they may exist already.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['docrail_app', 'docrail_fleet'] LOOP
        IF to_regrole(wanted) IS NULL THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- another database of this server was migrated at the same time
            END;
        END IF;
        IF NOT pg_has_role(current_user, wanted, 'SET') THEN
            EXECUTE format('GRANT %I TO CURRENT_USER WITH INHERIT FALSE, SET TRUE', wanted);
        END IF;
    END LOOP;
END $$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO docrail_app, docrail_fleet;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, docrail_app, docrail_fleet;
GRANT SELECT ON migrations TO docrail_app, docrail_fleet;
GRANT SELECT, INSERT, UPDATE ON store_identity TO docrail_app, docrail_fleet;

DO $$
DECLARE
    target record;
    allowed text;
BEGIN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    FOR target IN
        SELECT c.oid::regclass AS name, c.relrowsecurity AS is_closed, c.relkind = 'v' AS is_view
          FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND a.attname = 'tenant_id'
         ORDER BY c.relname
    LOOP
        allowed := CASE target.name::text
            WHEN 'audit_events' THEN 'SELECT, INSERT'
            WHEN 'operator_actions' THEN 'SELECT, INSERT'
            WHEN 'alias_moves' THEN 'SELECT, INSERT'
            WHEN 'audit_heads' THEN 'SELECT, INSERT, UPDATE'
            ELSE 'SELECT, INSERT, UPDATE, DELETE'
        END;
        IF target.is_view THEN -- it reads its tables as its caller (security_invoker), or has their policies' condition
            EXECUTE format('GRANT SELECT ON %s TO docrail_app, docrail_fleet', target.name);
            CONTINUE;
        END IF;
        EXECUTE format('GRANT %s ON %s TO docrail_app, docrail_fleet', allowed, target.name);
        IF NOT target.is_closed THEN
            EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target.name);
            -- A subselect is evaluated once for each statement, not for each row.
            EXECUTE format('CREATE POLICY own_rows ON %s TO docrail_app '
                'USING (tenant_id = (SELECT nullif(current_setting(''docrail.tenant'', true), '''')))', target.name);
            EXECUTE format('CREATE POLICY all_rows ON %s TO docrail_fleet USING (true)', target.name);
        END IF;
    END LOOP;
END $$;
