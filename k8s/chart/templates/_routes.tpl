{{/*
The paths of the platform, each with all that is below it: `internal` ones are for services only, and go to a service that has
no such path, which answers 404 as it does to any other unknown one; `exact` ones have nothing below them. Streams of /mcp last as long as their clients listen.
*/}}
{{- define "platform.routes" -}}
{{- $mcp := ternary "mcp" "identity" .Values.mcp.enabled }}
internal:
  - { prefix: /api/v1/configurationManager/internal, service: mail }
  - { prefix: /api/v1/mail/internal, service: identity }
groups:
  - service: identity
    prefixes:
      - /api/v1/auth
      - /api/v1/users
      - /api/v1/sessions
      - /api/v1/personal-access-tokens
      - /api/v1/organisation
      - /api/v1/configurationManager
      - /api/v1/oauth-applications
      - /api/v1/service-accounts
      - /api/v1/connected-apps
      - /api/v1/activity
      - /api/v1/audit
      - /api/v1/events
      - /api/v1/groups
      - /api/v1/knowledge
      - /api/v1/agents
      - /oauth2
      - /authorize
      - /token
      - /register
      - /access/v1
      - /v0.1/servers
      - /.well-known
      - /sign-in
      - /sign-out
      - /docs
  - service: {{ $mcp }}
    isStream: true
    prefixes: [/mcp]
  - service: {{ $mcp }}
    prefixes: [/api/v1/mcp-servers, /oauth2/upstream]
  # The console, and the health of the platform: without identity nobody can be let in.
  - service: identity
    exact: [/, /health/live, /health/ready]
    prefixes: [/assets, /account, /activity, /connect, /crawls, /guides, /knowledge, /mails, /organisation, /tools]
  - service: mail
    prefixes: [/api/v1/mail, /docs/mail]
  - service: crawl
    prefixes: [/api/v1/crawlingManager, /docs/crawl]
{{- end }}
