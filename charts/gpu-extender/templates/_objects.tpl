{{- /*
gpu-extender.objects: the objects that a kustomization in files/ lists as files, with its labels and namespace.
Called with root (the chart's values) and folder; gives JSON, {"objects": [...], "labels": {...}}.
*/}}
{{- define "gpu-extender.objects" }}
{{- $kustomization := printf "files/%s/kustomization.yaml" .folder | .root.Files.Get | fromYaml }}
{{- $labels := dict }}
{{- range $kustomization.labels }}
{{- $labels = .pairs }}
{{- end }}
{{- $objects := list }}
{{- range $kustomization.resources }}
{{- if hasSuffix ".yaml" . }}
{{- range splitList "\n---\n" (printf "files/%s/%s" $.folder . | $.root.Files.Get) }}
{{- $object := fromYaml . }}
{{- if hasKey $object "Error" }}
{{- fail (printf "files/%s: %s" $.folder $object.Error) }}
{{- end }}
{{- if $labels }}
{{- $_ := set $object.metadata "labels" (mergeOverwrite dict (default dict $object.metadata.labels) $labels) }}
{{- end }}
{{- if and $kustomization.namespace (not (hasPrefix "Cluster" $object.kind)) }}
{{- $_ := set $object.metadata "namespace" $kustomization.namespace }}
{{- end }}
{{- $objects = append $objects $object }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "objects" $objects "labels" $labels | toJson }}
{{- end }}

{{- /* gpu-extender.print: objects with Helm's labels. Called with root and objects. */}}
{{- define "gpu-extender.print" }}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- $labels := dict "helm.sh/chart" $chart "app.kubernetes.io/managed-by" .root.Release.Service "app.kubernetes.io/instance" .root.Release.Name "app.kubernetes.io/version" .root.Chart.AppVersion }}
{{- range .objects }}
{{- $_ := set .metadata "labels" (mergeOverwrite dict (default dict .metadata.labels) $labels) }}
---
{{ toYaml . }}
{{ end }}
{{- end }}

{{- /* gpu-extender.configMap: a ConfigMap of one file, as JSON. Called with name, labels, file and text. */}}
{{- define "gpu-extender.configMap" }}
{{- $metadata := dict "name" .name "namespace" "gpu-extender" "labels" .labels }}
{{- dict "apiVersion" "v1" "kind" "ConfigMap" "metadata" $metadata "data" (dict .file .text) | toJson }}
{{- end }}

{{- /* gpu-extender.policy: the text of the policy file. */}}
{{- define "gpu-extender.policy" }}
{{- $file := .Files.Get "files/base/scheduler-policy.yaml" }}
{{- $changes := deepCopy .Values.policy }}
{{- if .Values.aggregatedAPI.enabled }}
{{- $changes = mergeOverwrite $changes (dict "aggregatedAPI" (dict "enabled" true)) }}
{{- end }}
{{- if and .Values.secondScheduler.enabled (not (dig "scheduler" "names" nil $changes)) }}
{{- /* The cluster's own kube-scheduler does not ask gpu-extender then. */}}
{{- $changes = mergeOverwrite $changes (dict "scheduler" (dict "names" (list "gpu-scheduler"))) }}
{{- end }}
{{- if $changes }}
{{- mergeOverwrite (fromYaml $file) $changes | toYaml }}
{{- else }}
{{- $file }}
{{- end }}
{{- end }}

{{- /*
gpu-extender.certificates: the data of the Secrets gpu-extender-tls and gpu-extender-client, as JSON. Those of the cluster stay; if one
is missing, both are made, by an authority whose key nobody keeps. Each render makes them once, as several templates need them.
*/}}
{{- define "gpu-extender.certificates" }}
{{- if not .Values.made }}
{{- $server := lookup "v1" "Secret" "gpu-extender" "gpu-extender-tls" }}
{{- $client := lookup "v1" "Secret" "gpu-extender" "gpu-extender-client" }}
{{- $made := dict }}
{{- if and $server $client }}
{{- $made = dict "gpu-extender-tls" $server.data "gpu-extender-client" $client.data }}
{{- else }}
{{- $days := 3650 }}
{{- $authority := genCAWithKey "gpu-extender-ca" $days (genPrivateKey "ecdsa") }}
{{- $names := list }}
{{- range list "gpu-extender-verbs.gpu-extender.svc" "gpu-extender.gpu-extender.svc" }}
{{- $names = concat $names (list . (printf "%s.cluster.local" .)) }}
{{- end }}
{{- $server = genSignedCertWithKey "gpu-extender" nil $names $days $authority (genPrivateKey "ecdsa") }}
{{- /* The policy's tls.verbClients.names has this name. */}}
{{- $client = genSignedCertWithKey "gpu-extender-client" nil nil $days $authority (genPrivateKey "ecdsa") }}
{{- range $name, $pair := dict "gpu-extender-tls" $server "gpu-extender-client" $client }}
{{- $_ := set $made $name (dict "ca.crt" ($authority.Cert | b64enc) "tls.crt" ($pair.Cert | b64enc) "tls.key" ($pair.Key | b64enc)) }}
{{- end }}
{{- end }}
{{- $_ := set .Values "made" $made }}
{{- end }}
{{- .Values.made | toJson }}
{{- end }}
