{{- define "coffer-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "coffer-operator.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "coffer-operator.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "coffer-operator.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The operator is no part of a tenant: its name label differs from that of servers and key services. */}}
{{- define "coffer-operator.selectorLabels" -}}
app.kubernetes.io/name: coffer-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "coffer-operator.labels" -}}
{{ include "coffer-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "coffer-operator.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "coffer-operator.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "coffer-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* As a JSON list. */}}
{{- define "coffer-operator.namespaces" -}}
{{- if eq .Values.scope "namespaces" -}}
{{- default (list .Release.Namespace) .Values.watchNamespaces | uniq | toJson -}}
{{- else -}}
{{- if .Values.watchNamespaces -}}
{{- fail "watchNamespaces needs scope: namespaces; with scope: cluster every namespace is watched" -}}
{{- end -}}
[]
{{- end -}}
{{- end -}}
