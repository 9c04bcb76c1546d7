{{- define "docrail.labels" -}}
app.kubernetes.io/name: docrail
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "docrail.selector" -}}
app.kubernetes.io/name: docrail
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "docrail.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "docrail.environment" -}}
- {name: DOCRAIL_DATA_DIR, value: /data}
- {name: DOCRAIL_TRUSTED_PROXIES, value: {{ .Values.trustedProxies | quote }}}
{{- range $name, $value := .Values.settings }}
- {name: DOCRAIL_{{ upper $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- with .Values.store.location }}
- {name: DOCRAIL_STORE, value: {{ . | quote }}}
{{- end }}
{{- end }}

{{- define "docrail.container" -}}
image: {{ include "docrail.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: data, mountPath: /data}
{{- end }}

{{- define "docrail.pod" -}}
automountServiceAccountToken: false
# Kubernetes would set DOCRAIL_API_PORT to the address of a service that is named docrail-api.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: data
{{- if .Values.store.existingClaim }}
    persistentVolumeClaim: {claimName: {{ .Values.store.existingClaim }}}
{{- else if .Values.store.location }}
    emptyDir: {}
{{- else }}
{{- fail "set store.location (s3://bucket/prefix), or store.existingClaim to a volume that all pods can mount" }}
{{- end }}
{{- end }}
