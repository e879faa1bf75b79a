{{/* The prefix of the names of all objects: the release, with the chart's name where the release has another. */}}
{{- define "platform.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $release := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $release | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* The name of an object: (dict "root" $ "name" "identity"). */}}
{{- define "platform.objectName" -}}
{{ include "platform.fullname" .root }}{{ with .name }}-{{ . }}{{ end }}
{{- end }}

{{/* What selects the pods of a program, as a map in one line: (dict "root" $ "name" "identity"). It can never change. */}}
{{- define "platform.selector" -}}
{{ dict "app.kubernetes.io/name" .name "app.kubernetes.io/instance" .root.Release.Name | toJson }}
{{- end }}

{{/* What selects all pods of this release, and no others. */}}
{{- define "platform.releaseSelector" -}}
{{ dict "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/part-of" "knowledge-platform" | toJson }}
{{- end }}

{{/* What selects the pods of this release with one of the components, as a podSelector: (dict "root" $ "components" (list "service")). */}}
{{- define "platform.componentSelector" -}}
{{ dict "matchLabels" (include "platform.releaseSelector" .root | fromJson) "matchExpressions" (list (dict "key" "app.kubernetes.io/component" "operator" "In" "values" .components)) | toJson }}
{{- end }}

{{/*
Labels that never change, for the template of a volume claim, whose labels can't: (dict "root" $ "name" "identity"
"component" "service").
*/}}
{{- define "platform.stableLabels" -}}
app.kubernetes.io/name: {{ .name | default (.root.Values.nameOverride | default .root.Chart.Name) }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component | default "platform" }}
app.kubernetes.io/part-of: knowledge-platform
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{/* Labels of every object and pod: (dict "root" $ "name" "identity" "component" "service" "labels" .Values.identity.podLabels). */}}
{{- define "platform.labels" -}}
{{ include "platform.stableLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | replace "+" "_" | trunc 63 | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonLabels) (.labels | default dict) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/*
The metadata of an object: (dict "root" $ "name" "identity" "component" "service" "object" "migrate-identity" "labels" dict
"annotations" dict). `object` is the last part of its name, when it is not that of the program.
*/}}
{{- define "platform.metadata" -}}
name: {{ include "platform.objectName" (dict "root" .root "name" (.object | default .name)) }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "platform.labels" . | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The image of a service: (dict "root" $ "service" "mail"). */}}
{{- define "platform.image" -}}
{{- $images := .root.Values.images -}}
{{- $prefix := required "images.prefix is missing: where the images identity, mail and crawl are, such as registry.example.com/platform" $images.prefix -}}
{{- $name := printf "%s/%s" $prefix .service -}}
{{- with index $images.digests .service }}{{ $name }}@{{ . }}
{{- else }}{{ $name }}:{{ $images.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* An image of others, from the mirror where there is one: (dict "root" $ "image" "postgres:18"). */}}
{{- define "platform.otherImage" -}}
{{ with .root.Values.images.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ .image }}
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

{{/* The name of the Secret of a service: (dict "root" $ "service" "mail"). */}}
{{- define "platform.secretName" -}}
{{ index .root.Values.secrets.names .service | default (include "platform.objectName" (dict "root" .root "name" .service)) }}
{{- end }}

{{/* The values of a service, with the defaults of all, as JSON: (dict "root" $ "values" .Values.mail). */}}
{{- define "platform.values" -}}
{{- $merged := deepCopy .root.Values.defaults }}
{{- range $key, $value := .values }}
{{- if has $key (list "serviceAccount" "service") }}
{{- range $part, $own := $value }}{{ $_ := set (index $merged $key) $part $own }}{{ end }}
{{- else }}{{ $_ := set $merged $key $value }}{{ end }}
{{- end }}
{{- toJson $merged }}
{{- end }}

{{/* The name of a service account: (dict "root" $ "name" "mail" "values" the values of the service with the defaults). */}}
{{- define "platform.serviceAccountName" -}}
{{ .values.serviceAccount.name | default (ternary (include "platform.objectName" (dict "root" .root "name" .name)) "default" .values.serviceAccount.create) }}
{{- end }}

{{/* A service account, unless it exists already, with the arguments of `platform.pod`. */}}
{{- define "platform.serviceAccount" -}}
{{- if .values.serviceAccount.create }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- $metadata := include "platform.metadata" (dict "root" .root "name" .name "component" .component "annotations" .values.serviceAccount.annotations) | fromYaml }}
  {{- set $metadata "name" (include "platform.serviceAccountName" .) | toYaml | nindent 2 }}
automountServiceAccountToken: false
{{- end }}
{{- end }}

{{/*
The metadata and the beginning of the spec of a pod: (dict "root" $ "name" "mail" "component" "service" "values" the values of
the service with the defaults "user" 65532 "annotations" dict).
*/}}
{{- define "platform.podMetadata" -}}
labels:
  {{- include "platform.labels" (dict "root" .root "name" .name "component" .component "labels" .values.podLabels) | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (deepCopy (.annotations | default dict)) .values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- define "platform.pod" -}}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with index $.values $field }}
{{ dict $field . | toYaml }}
{{- end }}
{{- end }}
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
serviceAccountName: {{ include "platform.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- $restricted := dict "runAsNonRoot" true "runAsUser" .user "runAsGroup" .user "fsGroup" .user "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- with ternary $restricted .values.podSecurityContext (kindIs "invalid" .values.podSecurityContext) }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The security context of a container, with the arguments of `platform.pod`. */}}
{{- define "platform.containerSecurityContext" -}}
{{- $restricted := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) }}
{{- with ternary $restricted .values.containerSecurityContext (kindIs "invalid" .values.containerSecurityContext) }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A volume claim's class, where one is named: (dict "root" $ "class" ""). */}}
{{- define "platform.storageClass" -}}
{{- with .class | default .root.Values.storageClassName }}
storageClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "platform.gatewayNamespace" -}}
{{ .Values.networkPolicies.gatewayNamespace | default (dict "kubernetes.io/metadata.name" "gateway") | toJson }}
{{- end }}
{{- define "platform.monitoringNamespace" -}}
{{ .Values.networkPolicies.monitoringNamespace | default (dict "kubernetes.io/metadata.name" "monitoring") | toJson }}
{{- end }}
