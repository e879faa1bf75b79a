#!/bin/sh
# Makes the role and the database of each service in PostgreSQL where they are missing: at the first start, and in a volume
# whose first start was interrupted. Says what to do about a volume that can't be used.
set -eu
export PGHOST=postgres PGUSER=postgres PGDATABASE=postgres PGCONNECT_TIMEOUT=5 PGOPTIONS='-c client_min_messages=warning'
PGPASSWORD=$(cat /run/platform/password)
export PGPASSWORD
START_TIMEOUT_S=120

query() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 "$@"; }

fail() {
  printf '%s\n' "$1" "PostgreSQL says: $2" >&2
  exit 1
}

deadline=$(($(date +%s) + START_TIMEOUT_S))
until problem=$(query --command 'select' 2>&1); do
  case $problem in
    *'password authentication failed'*)
      fail 'The volume "postgres" was made with other secrets than those of the volume "secrets". Bring back the "secrets" that belong to it, or, if its data may go, remove both: docker compose down --volumes' "$problem" ;;
    *'no pg_hba.conf entry'* | *'database "postgres" does not exist'* | *'role "postgres" does not exist'*)
      fail 'The volume "postgres" is half made: its first start was interrupted. There is no data in it yet; remove it: docker compose down, docker volume rm platform_postgres, docker compose up --detach' "$problem" ;;
  esac
  [ "$(date +%s)" -lt "$deadline" ] ||
    fail "PostgreSQL did not answer for $START_TIMEOUT_S s. See docker compose logs postgres. If it was interrupted at its first start and misses files since then (such as global/pg_control), there is no data in its volume yet; remove it: docker compose down, docker volume rm platform_postgres, docker compose up --detach" "$problem"
  sleep 1
done

for SERVICE in identity mail crawl; do
  export SERVICE
  query <<'SQL'
\getenv name SERVICE
\set password `cat "/run/platform/$SERVICE"`
select format('create role %I login password %L', :'name', :'password')
  where not exists (select from pg_roles where rolname = :'name') \gexec
select format('create database %I owner %I', :'name', :'name')
  where not exists (select from pg_database where datname = :'name') \gexec
SQL
done
echo 'The databases identity, mail and crawl are there.'
