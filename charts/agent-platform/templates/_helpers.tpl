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

{{/*
The environment, as text: what the chart sets, and over it `env`. The chart's ports, probes and mounts follow it. Helm
reads every number of a file as a float, whose text would be 1e+07.
*/}}
{{- define "agent-platform.env" -}}
{{- $env := dict "PORT" 8080 "MANAGEMENT_PORT" 8081 "DATA_DIR" "/data" }}
{{- with .Values.publicUrl }}{{ $_ := set $env "PUBLIC_URL" . }}{{ end }}
{{- if .Values.sqliteClaim }}{{ $_ := set $env "SQLITE_DIR" "/sqlite" }}{{ end }}
{{- range $name, $value := .Values.env }}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $env $name $value }}{{ end }}
{{- end }}
{{- range $name, $value := $env }}
{{ $name | quote }}: {{ (kindIs "float64" $value | ternary (toJson $value) (toString $value)) | quote }}
{{- end }}
{{- end }}
