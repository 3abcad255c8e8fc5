{{- define "waitlist.name" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- if contains $name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Not the overridden name: Prometheus takes the job name from it, which the alerts expect. */}}
{{- define "waitlist.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "waitlist.labels" -}}
{{ include "waitlist.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
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
{{- with .Values.trustedCa }}
{{- if and .configMap .secret }}
{{- fail "trustedCa.configMap and trustedCa.secret: only one of them can hold the certificates" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "waitlist.hasTrustedCa" -}}
{{- if or .Values.trustedCa.configMap .Values.trustedCa.secret }}yes{{ end }}
{{- end }}

{{/* Container level. */}}
{{- define "waitlist.extras" -}}
{{- if or (include "waitlist.hasTrustedCa" .) .Values.extraEnv }}
env:
  {{- if include "waitlist.hasTrustedCa" . }}
  - name: NODE_EXTRA_CA_CERTS
    value: /etc/waitlist-service/ca.crt
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
volumeMounts:
  - name: transfers
    mountPath: /transfers
  {{- if include "waitlist.hasTrustedCa" . }}
  - name: trusted-ca
    mountPath: /etc/waitlist-service
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
