{{- define "coffer-tenant.name" -}}
{{- default .Release.Name .Values.tenant.name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "coffer-tenant.kms" -}}
{{- default (printf "%s-keys" (include "coffer-tenant.name" . | trunc 35 | trimSuffix "-")) .Values.kms.name -}}
{{- end -}}

{{/* Call with (dict "root" $ "labels" … ): what GitOps tools compare is ours, so no label here is copied to what the operator makes. */}}
{{- define "coffer-tenant.labels" -}}
app.kubernetes.io/name: coffer-tenant
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- with merge (dict) (.labels | default dict) (.root.Values.labels | default dict) }}
{{ toYaml . }}
{{- end }}
{{- end -}}
