{{- define "coffer-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "coffer-operator.fullname" -}}
{{- $name := include "coffer-operator.wholeName" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- fail (printf "%s is no name of a Service: it begins with a letter, and has small letters, digits and - alone; set fullnameOverride" $name) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "coffer-operator.wholeName" -}}
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
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Each label once: those of commonLabels win, but for what selectors and Helm go by. */}}
{{- define "coffer-operator.labels" -}}
{{- $fixed := merge (dict "app.kubernetes.io/managed-by" .Release.Service) (include "coffer-operator.selectorLabels" . | fromYaml) -}}
{{- $version := .Chart.AppVersion | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- $chart := printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- toYaml (merge dict $fixed (.Values.commonLabels | default dict) (dict "app.kubernetes.io/version" $version "helm.sh/chart" $chart)) -}}
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
{{ .repository }}:{{ default ($.Chart.AppVersion | replace "+" "-") .tag }}
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
