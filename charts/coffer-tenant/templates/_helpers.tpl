{{/* The whole name, or none: a name that is cut would be that of another release, whose data this one would take. */}}
{{- define "coffer-tenant.name" -}}
{{- $tenant := .Values.tenant | default dict -}}
{{- $name := toString (default .Release.Name $tenant.name) -}}
{{- if gt (len $name) 40 -}}
{{- fail (printf "the release is called %s, and a Tenant has at most 40 characters: set tenant.name. What an earlier version of this chart made is called %s" $name ($name | trunc 40 | trimSuffix "-")) -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- fail (printf "%s is no name of a Tenant, whose Services have it: it begins with a letter, and has small letters, digits and - alone; set tenant.name" $name) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "coffer-tenant.kms" -}}
{{- $kms := .Values.kms | default dict -}}
{{- $name := toString (default (printf "%s-keys" (include "coffer-tenant.name" .)) $kms.name) -}}
{{- if gt (len $name) 40 -}}
{{- fail (printf "%s has more than the 40 characters of a KMSConfig: set kms.name. What an earlier version of this chart made is called %s-keys" $name (include "coffer-tenant.name" . | trunc 35 | trimSuffix "-")) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* Call with (dict "root" $ "labels" … ): what GitOps tools compare is ours, so no label here is copied to what the operator makes. */}}
{{- define "coffer-tenant.labels" -}}
{{- $root := .root -}}
{{- $own := dict "app.kubernetes.io/name" "coffer-tenant" "app.kubernetes.io/instance" $root.Release.Name "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{- $helm := dict "app.kubernetes.io/managed-by" $root.Release.Service -}}
{{- toYaml (merge dict $helm (include "coffer-tenant.strings" .labels | fromYaml) (include "coffer-tenant.strings" $root.Values.labels | fromYaml) $own) -}}
{{- end -}}

{{/* A map of strings, without what is null. */}}
{{- define "coffer-tenant.strings" -}}
{{- $strings := dict -}}
{{- range $name, $value := . | default dict -}}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $strings $name $value }}{{ end -}}
{{- end -}}
{{- toYaml $strings -}}
{{- end -}}

{{- define "coffer-tenant.keep" -}}
{{- $tenant := .Values.tenant | default dict -}}
{{- if $tenant.keep }}true{{ end -}}
{{- end -}}

{{/* Call with (dict "root" $ "annotations" … ). What is kept stays when the release is uninstalled. */}}
{{- define "coffer-tenant.annotations" -}}
{{- $annotations := include "coffer-tenant.strings" .annotations | fromYaml -}}
{{- if include "coffer-tenant.keep" .root }}{{ $_ := set $annotations "helm.sh/resource-policy" "keep" }}{{ end -}}
{{- if $annotations }}{{ toYaml $annotations }}{{ end -}}
{{- end -}}

{{- define "coffer-tenant.isMaps" -}}
{{- $isMaps := true -}}
{{- range $item := . }}{{ if not (kindIs "map" $item) }}{{ $isMaps = false }}{{ end }}{{ end -}}
{{- if $isMaps }}true{{ end -}}
{{- end -}}

{{/* The fields of a spec without those that are null: an API server takes no null for a field with a default of its own. */}}
{{- define "coffer-tenant.spec" -}}
{{- $spec := dict -}}
{{- range $name, $value := . | default dict -}}
{{- if kindIs "invalid" $value -}}
{{- else if kindIs "map" $value }}{{ $_ := set $spec $name (include "coffer-tenant.spec" $value | fromYaml) -}}
{{- else if and (kindIs "slice" $value) (include "coffer-tenant.isMaps" $value) -}}
{{- $items := list -}}
{{- range $item := $value }}{{ $items = append $items (include "coffer-tenant.spec" $item | fromYaml) }}{{ end -}}
{{- $_ := set $spec $name $items -}}
{{- else }}{{ $_ := set $spec $name $value }}{{ end -}}
{{- end -}}
{{- toYaml $spec -}}
{{- end -}}

{{/* A resource for each row. A row that is null is absent, as Helm has it. Call with (dict "root" $ "kind" … "rows" …). */}}
{{- define "coffer-tenant.rows" -}}
{{- $root := .root -}}
{{- $kind := .kind -}}
{{- range $name, $row := .rows }}
{{- if not (kindIs "invalid" $row) }}
{{- $spec := deepCopy $row }}
{{- if ne $kind "IdentityProvider" }}
{{- $_ := set $spec "tenantRef" (dict "name" (include "coffer-tenant.name" $root)) }}
{{- end }}
---
apiVersion: coffer.dev/v1alpha1
kind: {{ $kind }}
metadata:
  name: {{ $name | quote }}
  namespace: {{ $root.Release.Namespace | quote }}
  labels: {{- include "coffer-tenant.labels" (dict "root" $root) | nindent 4 }}
  {{- with include "coffer-tenant.annotations" (dict "root" $root) }}
  annotations: {{- . | nindent 4 }}
  {{- end }}
spec: {{- include "coffer-tenant.spec" $spec | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}
