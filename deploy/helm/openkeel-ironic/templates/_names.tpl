{{- define "ironic.name" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "ironic.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "ironic.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "ironic.checks" -}}
{{- if not .Values.database.connectionSecret -}}
{{- fail "database.connectionSecret must name a Secret with the key connection" -}}
{{- end -}}
{{- if not .Values.jsonRpc.credentialsSecret -}}
{{- fail "jsonRpc.credentialsSecret must name a Secret with the keys username, password and htpasswd" -}}
{{- end -}}
{{- if and (eq .Values.api.authStrategy "http_basic") (not .Values.api.htpasswdSecret) -}}
{{- fail "api.htpasswdSecret must name a Secret with the key htpasswd, or api.authStrategy must be another" -}}
{{- end -}}
{{- if not .Values.agentApiUrl -}}
{{- fail "agentApiUrl must be the URL of the API as agents reach it" -}}
{{- end -}}
{{- end -}}

{{/* Secrets stay files: the environment names where they are, nothing of them is in a ConfigMap. */}}
{{- define "ironic.volumes" -}}
- name: config
  configMap:
    name: {{ include "ironic.name" . }}
- name: secrets
  projected:
    defaultMode: 0400
    sources:
      - secret:
          name: {{ .Values.database.connectionSecret }}
          items: [{ key: connection, path: connection }]
      - secret:
          name: {{ .Values.jsonRpc.credentialsSecret }}
          items:
            - { key: username, path: json-rpc-username }
            - { key: password, path: json-rpc-password }
            - { key: htpasswd, path: json-rpc-htpasswd }
      {{- if eq .Values.api.authStrategy "http_basic" }}
      - secret:
          name: {{ .Values.api.htpasswdSecret }}
          items: [{ key: htpasswd, path: htpasswd }]
      {{- end }}
      {{- range .Values.extraConfigSecrets }}
      - secret:
          name: {{ . }}
      {{- end }}
{{- end -}}

{{- define "ironic.environment" -}}
- name: OS_DATABASE__CONNECTION
  valueFrom: { secretKeyRef: { name: {{ .Values.database.connectionSecret }}, key: connection } }
- name: OS_JSON_RPC__USERNAME
  valueFrom: { secretKeyRef: { name: {{ .Values.jsonRpc.credentialsSecret }}, key: username } }
- name: OS_JSON_RPC__PASSWORD
  valueFrom: { secretKeyRef: { name: {{ .Values.jsonRpc.credentialsSecret }}, key: password } }
{{- end -}}

{{- define "ironic.security" -}}
runAsNonRoot: true
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end -}}
