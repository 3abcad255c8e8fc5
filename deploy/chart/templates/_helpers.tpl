{{/* A Service must have no dot in its name and no digit at its beginning, which the name of a release may have. */}}
{{- define "waitlist.name" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- regexReplaceAll "^([0-9])" ($full | replace "." "-") "w${1}" | trunc 52 | trimAll "-" }}
{{- end }}

{{/* Not the overridden name: Prometheus takes the job name from it, which the alerts expect. */}}
{{- define "waitlist.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "waitlist.labels" -}}
{{ include "waitlist.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The labels, and others that win: a list of the context and the others. A name twice would be invalid. */}}
{{- define "waitlist.labelsWith" -}}
{{ mergeOverwrite (include "waitlist.labels" (first .) | fromYaml) (last . | default dict) | toYaml }}
{{- end }}

{{/* The data of the ConfigMap that the service reads, and of the one that the migration reads. */}}
{{- define "waitlist.settings" -}}
PORT: '3000'
HOST: 0.0.0.0
METRICS_PORT: '9464'
TRANSFER_DIR: /transfers
SHUTDOWN_DELAY: {{ .Values.shutdown.delaySeconds | quote }}
{{- range $name, $value := .Values.config }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end }}

{{/*
The number of pods when Helm writes the Deployment. Without the number Kubernetes takes 1, so with autoscaling it is the number
of now, or the smallest where nothing runs. A client without a cluster, such as `helm template`, finds nothing.
*/}}
{{- define "waitlist.replicas" -}}
{{- if .Values.autoscaling.enabled }}
{{- $live := lookup "apps/v1" "Deployment" .Release.Namespace (include "waitlist.name" .) }}
{{- max .Values.autoscaling.minReplicas (min .Values.autoscaling.maxReplicas (dig "spec" "replicas" 0 $live)) }}
{{- else }}
{{- .Values.replicas }}
{{- end }}
{{- end }}

{{/*
The paths that people and clients use, below the path of PUBLIC_BASE_URL. /metrics and the probes stay inside the cluster.
The service takes these paths with and without the path of PUBLIC_BASE_URL.
*/}}
{{- define "waitlist.paths" -}}
{{- $base := regexReplaceAll "/+$" (urlParse .Values.config.PUBLIC_BASE_URL).path "" }}
- { path: {{ $base | default "/" }}, pathType: Exact }
{{- if $base }}
- { path: {{ $base }}/, pathType: Exact }
{{- end }}
{{- range list "desk" "waitlist" "widget.js" "widget" "api" "docs" "openapi.json" "openapi-legacy.json" }}
- { path: {{ $base }}/{{ . }}, pathType: Prefix }
{{- end }}
{{- end }}

{{- define "waitlist.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "waitlist.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "waitlist.name" .) }}
{{- end }}

{{/* Pod level, by the restricted Pod Security Standard. Any user id works; a high one belongs to no user of the node. */}}
{{- define "waitlist.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.runAsUser }}
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "waitlist.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
{{- with .Values.runAsUser }}
runAsUser: {{ . }}
runAsGroup: {{ . }}
{{- end }}
capabilities:
  drop: [ALL]
{{- end }}

{{- define "waitlist.imagePullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Rules that compare two values, which a JSON schema cannot do. */}}
{{- define "waitlist.refusals" -}}
{{- with .Values.autoscaling }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
{{- fail (printf "autoscaling.minReplicas (%v) must not be more than autoscaling.maxReplicas (%v)" .minReplicas .maxReplicas) }}
{{- end }}
{{- end }}
{{- with .Values.podDisruptionBudget }}
{{- if and .enabled (regexMatch "^0%?$" (toString .maxUnavailable)) }}
{{- fail "podDisruptionBudget.maxUnavailable must be 1 or more: with 0, a node with a pod on it can never be drained" }}
{{- end }}
{{- end }}
{{- if and .Values.secret.asFiles (not .Values.secret.keys) }}
{{- fail "secret.asFiles needs secret.keys, which say what the files are" }}
{{- end }}
{{- with .Values.trustedCa }}
{{- if and .configMap .secret }}
{{- fail "trustedCa.configMap and trustedCa.secret: only one of them can hold the certificates" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "waitlist.hasTrustedCa" -}}
{{- if or .Values.trustedCa.configMap .Values.trustedCa.secret }}yes{{ end }}
{{- end }}

{{/* Container level. The second of the list is the name of a ConfigMap. Later sources take precedence. */}}
{{- define "waitlist.environment" -}}
{{- $root := first . }}
{{- $configMap := last . }}
{{- with $root }}
envFrom:
  - configMapRef:
      name: {{ $configMap }}
  {{- if not .Values.secret.keys }}
  - secretRef:
      name: {{ .Values.secret.name }}
  {{- end }}
  {{- with .Values.extraEnvFrom }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or .Values.secret.keys .Values.clientCertificate.secret (include "waitlist.hasTrustedCa" .) .Values.extraEnv }}
env:
  {{- range $variable, $source := .Values.secret.keys }}
  {{- if $root.Values.secret.asFiles }}
  - name: {{ $variable }}_FILE
    value: /etc/waitlist-secrets/{{ $variable }}
  {{- else }}
  - name: {{ $variable }}
    valueFrom:
      secretKeyRef:
        name: {{ $source.name | default $root.Values.secret.name }}
        key: {{ $source.key }}
  {{- end }}
  {{- end }}
  {{- if .Values.clientCertificate.secret }}
  - name: DATABASE_TLS_CERT_FILE
    value: /etc/waitlist-client-certificate/tls.crt
  - name: DATABASE_TLS_KEY_FILE
    value: /etc/waitlist-client-certificate/tls.key
  {{- end }}
  {{- if include "waitlist.hasTrustedCa" . }}
  - name: NODE_EXTRA_CA_CERTS
    value: /etc/waitlist-service/ca.crt
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Container level. */}}
{{- define "waitlist.volumeMounts" -}}
volumeMounts:
  - name: transfers
    mountPath: /transfers
  {{- if include "waitlist.hasTrustedCa" . }}
  - name: trusted-ca
    mountPath: /etc/waitlist-service
    readOnly: true
  {{- end }}
  {{- if .Values.secret.asFiles }}
  - name: secrets
    mountPath: /etc/waitlist-secrets
    readOnly: true
  {{- end }}
  {{- if .Values.clientCertificate.secret }}
  - name: client-certificate
    mountPath: /etc/waitlist-client-certificate
    readOnly: true
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Pod level. */}}
{{- define "waitlist.volumes" -}}
volumes:
  - name: transfers
    {{- if .Values.transfers.volume }}
    {{- toYaml .Values.transfers.volume | nindent 4 }}
    {{- else }}
    emptyDir:
      sizeLimit: {{ .Values.transfers.sizeLimit }}
    {{- end }}
  {{- if include "waitlist.hasTrustedCa" . }}
  {{- with .Values.trustedCa }}
  - name: trusted-ca
    {{- if .secret }}
    secret:
      secretName: {{ .secret }}
    {{- else }}
    configMap:
      name: {{ .configMap }}
    {{- end }}
      items:
        - key: {{ .key }}
          path: ca.crt
  {{- end }}
  {{- end }}
  {{- if .Values.secret.asFiles }}
  - name: secrets
    projected:
      sources:
        {{- range $variable, $source := .Values.secret.keys }}
        - secret:
            name: {{ $source.name | default $.Values.secret.name }}
            items:
              - key: {{ $source.key }}
                path: {{ $variable }}
        {{- end }}
  {{- end }}
  {{- with .Values.clientCertificate.secret }}
  - name: client-certificate
    secret:
      secretName: {{ . }}
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Pod level. Init containers that keep running: a Job can end although they run. */}}
{{- define "waitlist.sidecars" -}}
{{- with .Values.sidecars }}
initContainers:
  {{- range . }}
  - {{ toYaml (merge (dict "restartPolicy" "Always") .) | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- end }}
