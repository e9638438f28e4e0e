"""Agreement: what the dry run says is what kube-scheduler does."""
