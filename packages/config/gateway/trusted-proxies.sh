# Sourced before the entrypoint of the nginx image: turns GATEWAY_TRUSTED_PROXIES (addresses and CIDR ranges, separated by
# commas or spaces) into what nginx.conf.template needs. Ends the start on anything else, and on a range that is everybody.
REAL_IP_FROM=''
TRUSTED_PROXY_LIST=''
for proxy in $(printf %s "${GATEWAY_TRUSTED_PROXIES:-}" | tr ',' ' '); do
  case $proxy in
    *[!0-9A-Fa-f.:/]* | */0)
      echo "GATEWAY_TRUSTED_PROXIES must name addresses or CIDR ranges of proxies, not \"$proxy\"" >&2
      exit 1
      ;;
  esac
  REAL_IP_FROM="$REAL_IP_FROM set_real_ip_from $proxy;"
  TRUSTED_PROXY_LIST="$TRUSTED_PROXY_LIST $proxy 1;"
done
export REAL_IP_FROM TRUSTED_PROXY_LIST
