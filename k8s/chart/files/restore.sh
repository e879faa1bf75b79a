# Restores the dump DUMP into the database of the service, which has to be empty. Once restored, it does nothing.
set -eu
url=$(cat /run/platform/database-url)
query() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname "$url" --command "$1"; }
note="Restored from $DUMP"
[ -f "$DUMP" ] || { echo "There is no $DUMP. The volume has: $(ls /backups)" >&2; exit 1; }
until tables=$(query "select count(*) from pg_tables where schemaname = 'public'"); do sleep 2; done
[ "$(query "select shobj_description(oid, 'pg_database') from pg_database where datname = current_database()")" != "$note" ] || exit 0
[ "$tables" = 0 ] || { echo 'The database has tables, so it may have data: a backup is restored into an empty one.' >&2; exit 1; }
pg_restore --exit-on-error --single-transaction --no-owner --dbname "$url" "$DUMP"
query "do \$\$ begin execute format('comment on database %I is %L', current_database(), '$note'); end \$\$"
echo "$note"
