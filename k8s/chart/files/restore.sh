# Restores the dump DUMP into the database of the service, which has to be empty, as one transaction: killed at any moment, it
# leaves all or nothing. Once restored, it does nothing. Until `after-restore` has run, a service with a feed (HAS_FEED) does
# not start. Exit code 78: repeating it does not help.
set -eu
url=$(cat /run/platform/database-url)
run_psql() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname "$url" "$@"; }
note="Restored from $DUMP"
get_note() { run_psql --command "select shobj_description(oid, 'pg_database') from pg_database where datname = current_database()"; }
until found=$(get_note); do sleep 2; done
[ "$found" != "$note" ] || exit 0
[ -f "$DUMP" ] || { echo "There is no $DUMP. The volume has: $(ls /backups)" >&2; exit 78; }
tables=$(run_psql --command "select count(*) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')")
[ "$tables" = 0 ] || {
  echo 'The database has tables, so it may have data: a backup is restored into an empty one. To go on with what is there, leave out restore.from.' >&2
  exit 78
}
# Without the last line nothing is committed: neither when pg_restore fails, nor when the input ends early.
{
  echo 'begin;'
  pg_restore --no-owner --file - "$DUMP" || { echo 'rollback;'; exit 1; }
  [ "$HAS_FEED" = false ] || echo 'create table public._restore_pending ();'
  echo "do \$\$ begin execute format('comment on database %I is %L', current_database(), '$note'); end \$\$;"
  echo 'commit;'
} | run_psql >&2
[ "$(get_note)" = "$note" ]
echo "$note"
