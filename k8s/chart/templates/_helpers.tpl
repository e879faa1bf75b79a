{{/* Labels of every object; `name` and `component` where it has them. */}}
{{- define "platform.labels" -}}
{{- with .name -}}
app.kubernetes.io/name: {{ . }}
{{ end -}}
{{- with .component -}}
app.kubernetes.io/component: {{ . }}
{{ end -}}
app.kubernetes.io/part-of: platform
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "platform.version" -}}
{{ .Values.images.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The image of a service: (dict "root" $ "service" "mail"). */}}
{{- define "platform.image" -}}
{{- $image := printf "%s/%s" .root.Values.images.prefix .service -}}
{{- with index .root.Values.images.digests .service }}{{ $image }}@{{ . }}
{{- else }}{{ $image }}:{{ include "platform.version" .root }}{{ end }}
{{- end }}

{{/* Numbers of values are floats, which would be written as 6e+05. */}}
{{- define "platform.text" -}}
{{ if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/* The data of a ConfigMap, from variables. */}}
{{- define "platform.variables" -}}
{{- range $name, $value := . -}}
{{- if not (kindIs "invalid" $value) -}}
{{ $name }}: {{ include "platform.text" $value | quote }}
{{ end -}}
{{- end -}}
{{- end }}

{{/* The host of the public URL, without its port. */}}
{{- define "platform.host" -}}
{{ (urlParse .Values.publicUrl).hostname }}
{{- end }}

{{/* What the pods have in common: (dict "root" $ "account" "mail" "user" 65532). */}}
{{- define "platform.pod" -}}
{{- with .root.Values.podSpec -}}
{{ toYaml . }}
{{ end -}}
{{- with .root.Values.images.pullSecrets -}}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{ end -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "platform.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "platform.gatewayNamespace" -}}
{{ .Values.networkPolicies.gatewayNamespace | default (dict "platform.example.com/role" "gateway") | toJson }}
{{- end }}
{{- define "platform.monitoringNamespace" -}}
{{ .Values.networkPolicies.monitoringNamespace | default (dict "platform.example.com/role" "monitoring") | toJson }}
{{- end }}
