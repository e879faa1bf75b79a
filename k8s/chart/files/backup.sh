# Writes a dump of each database into /backups/<time>/, and removes dumps older than KEEP_DAYS.
set -eu
umask 077
folder=/backups/$(date -u +%Y-%m-%dT%H%M%SZ)
rm -rf /backups/*Z.part
mkdir "$folder.part"
for database in identity mail crawl; do
  pg_dump --format custom --file "$folder.part/$database.dump" --dbname "$(cat "/run/platform/$database/database-url")"
done
# What has this name is complete.
mv "$folder.part" "$folder"
find /backups -mindepth 1 -maxdepth 1 -name '*T*Z' -mtime "+$KEEP_DAYS" -exec rm -rf {} +
du -sh "$folder"
