{{- define "agent-platform.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "agent-platform.selector" -}}
app.kubernetes.io/name: agent-platform
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "agent-platform.labels" -}}
{{ include "agent-platform.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
