// Pins the operators whose kinds the overlays of manifests/ have; only their CustomResourceDefinitions are taken, by the script beside this file.
module crds

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.20.0
	github.com/prometheus-operator/prometheus-operator v0.92.0
)
