#!/bin/sh
# Backs up, restores and upgrades the platform on one machine. Run it in the folder of docker-compose.yml:
#
#   sh platform.sh backup <file>     while the platform runs; the file holds secrets
#   sh platform.sh restore <file>    into an installation without data, and starts it
#   sh platform.sh upgrade <file>    backs up, and starts what docker-compose.yml names now
set -eu
umask 077
DATABASES='identity mail crawl'

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

# Runs a program in a container that has the volume "secrets".
with_secrets() {
  program=$1
  shift
  docker compose run --rm --no-deps -T --entrypoint "$program" secrets "$@"
}

backup() {
  [ ! -e "$1" ] || fail "$1 exists: name another file"
  for database in $DATABASES; do
    docker compose exec -T postgres pg_dump --username postgres --format custom "$database" > "$work/$database.dump"
  done
  with_secrets tar -c -f - -C /secrets . > "$work/secrets.tar"
  [ ! -f .env ] || cp .env "$work/settings.env"
  tar -c -f "$1.part" -C "$work" .
  mv "$1.part" "$1"
  echo "The databases, the secrets and the settings in .env are in $1."
}

restore() {
  tar -x -f "$1" -C "$work"
  [ -z "$(with_secrets ls -A /secrets)" ] ||
    fail 'This installation has secrets, so it may have data: a backup is restored into an empty one. If the data may go: docker compose down --volumes'
  if [ -f "$work/settings.env" ] && ! cmp -s "$work/settings.env" .env; then
    # Settings of another machine may not fit this one, so what is here stays.
    settings=$([ -f .env ] && echo .env.restored || echo .env)
    cp "$work/settings.env" "$settings"
    echo "The settings of the backup are in $settings."
  fi
  with_secrets tar -x -o -f - -C /secrets < "$work/secrets.tar"
  docker compose run --rm -T databases
  for database in $DATABASES; do
    docker compose exec -T postgres pg_restore --username postgres --exit-on-error --no-owner \
      --role "$database" --dbname "$database" < "$work/$database.dump"
  done
  # Their consumers read the events from the start, since those after the backup are gone.
  for service in identity crawl; do
    docker compose run --rm -T "migrate-$service"
    docker compose run --rm -T "migrate-$service" dist/cli.js after-restore
  done
  docker compose up --detach
}

upgrade() {
  backup "$1"
  docker compose up --detach
}

case ${1:-}:${2:-} in
  backup:?* | restore:?* | upgrade:?*)
    # Beside the file, where there is room for it.
    work=$(mktemp -d "$2.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    "$1" "$2"
    ;;
  *) fail "$(sed -n 's/^#   //p' "$0")" ;;
esac
