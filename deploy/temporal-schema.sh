#!/bin/sh
# Makes Temporal's two databases, or brings them to this version's schema. Safe to repeat.
set -eu
for database in temporal visibility; do
  name=temporal
  [ "$database" = visibility ] && name=temporal_visibility
  run="temporal-sql-tool --plugin postgres12 --ep $POSTGRES_SEEDS -p $DB_PORT -u $POSTGRES_USER --db $name"
  $run create
  $run setup-schema -v 0.0
  $run update-schema -d "/etc/temporal/schema/postgresql/v12/$database/versioned"
done
