#!/bin/sh
# Makes the logins and the database of Docrail, on the first start of PostgreSQL. Its processes log in as docrail_service,
# which owns nothing; `docrail server migrate` as docrail_owner, which owns the tables. Neither is a superuser.
set -eu
psql -X -q -v ON_ERROR_STOP=1 -U "${POSTGRES_USER:-postgres}" -d "${POSTGRES_DB:-postgres}" <<'SQL'
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
CREATE ROLE docrail_app;
CREATE ROLE docrail_fleet;
CREATE ROLE docrail_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE docrail_service LOGIN PASSWORD :'service_password';
GRANT docrail_app, docrail_fleet TO docrail_owner, docrail_service WITH INHERIT FALSE, SET TRUE;
CREATE DATABASE docrail OWNER docrail_owner;
REVOKE ALL ON DATABASE docrail FROM PUBLIC;
GRANT CONNECT ON DATABASE docrail TO docrail_service;
SQL
