/* version: which Kubernetes an API server says that it is. */
#ifndef KUBE_VERSION_H
#define KUBE_VERSION_H

/* The minor version of a gitVersion, 36 of "v1.36.3"; -1: not that of a release of Kubernetes. */
int kube_minor_of(const char *git_version);

#endif
