/*
 * documents: the constant answers of the aggregated API. Private to api.
 */
#ifndef API_KUBERNETES_DOCUMENTS_H
#define API_KUBERNETES_DOCUMENTS_H

#define KUBERNETES_GROUP "visibility.gpu-extender.io"
#define KUBERNETES_VERSION "v1alpha1"

extern const char KUBERNETES_GROUP_LIST[]; /* /apis, for clients that know no other discovery */
extern const char KUBERNETES_DISCOVERY[];  /* /apis, for all others */
extern const char KUBERNETES_API_GROUP[];  /* /apis/GROUP */
extern const char KUBERNETES_RESOURCES[];  /* /apis/GROUP/VERSION */
extern const char KUBERNETES_OPENAPI_V2[];
extern const char KUBERNETES_OPENAPI_PATHS[]; /* /openapi/v3 */
extern const char KUBERNETES_OPENAPI_V3[];

#endif
