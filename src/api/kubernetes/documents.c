/* documents: see documents.h. */
#include "api/kubernetes/documents.h"

const char KUBERNETES_GROUP_LIST[] =
    "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\","
    "\"groups\":[{\"name\":\"visibility.gpu-extender.io\","
    "\"versions\":[{\"groupVersion\":\"visibility.gpu-extender.io/v1alpha1\","
    "\"version\":\"v1alpha1\"}],"
    "\"preferredVersion\":{\"groupVersion\":\"visibility.gpu-extender.io/v1alpha1\","
    "\"version\":\"v1alpha1\"}}]}\n";

const char KUBERNETES_DISCOVERY[] =
    "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\","
    "\"metadata\":{},"
    "\"items\":[{\"metadata\":{\"name\":\"visibility.gpu-extender.io\"},"
    "\"versions\":[{\"version\":\"v1alpha1\",\"freshness\":\"Current\","
    "\"resources\":[{\"resource\":\"views\","
    "\"responseKind\":{\"group\":\"visibility.gpu-extender.io\","
    "\"version\":\"v1alpha1\",\"kind\":\"View\"},\"scope\":\"Cluster\","
    "\"singularResource\":\"view\",\"verbs\":[\"create\",\"get\"]}]}]}]}\n";

const char KUBERNETES_API_GROUP[] =
    "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\","
    "\"name\":\"visibility.gpu-extender.io\","
    "\"versions\":[{\"groupVersion\":\"visibility.gpu-extender.io/v1alpha1\","
    "\"version\":\"v1alpha1\"}],"
    "\"preferredVersion\":{\"groupVersion\":\"visibility.gpu-extender.io/v1alpha1\","
    "\"version\":\"v1alpha1\"}}\n";

const char KUBERNETES_RESOURCES[] =
    "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\","
    "\"groupVersion\":\"visibility.gpu-extender.io/v1alpha1\","
    "\"resources\":[{\"name\":\"views\",\"singularName\":\"view\",\"namespaced\":false,"
    "\"kind\":\"View\",\"verbs\":[\"create\",\"get\"]}]}\n";

const char KUBERNETES_OPENAPI_V2[] =
    "{\"swagger\":\"2.0\",\"info\":{\"title\":\"gpu-extender\",\"version\":\"v1alpha1\"},"
    "\"paths\":{\"/apis/visibility.gpu-extender.io/v1alpha1/views/"
    "{name}\":{\"get\":{\"operationId\":\"getView\","
    "\"description\":\"The answer of GET /v1/{name} of gpu-extender.\","
    "\"x-kubernetes-action\":\"get\","
    "\"x-kubernetes-group-version-kind\":{\"group\":\"visibility.gpu-extender.io\","
    "\"version\":\"v1alpha1\",\"kind\":\"View\"},\"produces\":[\"application/json\"],"
    "\"responses\":{\"200\":{\"description\":\"OK\",\"schema\":{\"type\":\"object\"}}}},"
    "\"post\":{\"operationId\":\"createView\","
    "\"description\":\"The answer of POST /v1/{name} of gpu-extender.\","
    "\"x-kubernetes-action\":\"post\","
    "\"x-kubernetes-group-version-kind\":{\"group\":\"visibility.gpu-extender.io\","
    "\"version\":\"v1alpha1\",\"kind\":\"View\"},\"produces\":[\"application/json\"],"
    "\"responses\":{\"200\":{\"description\":\"OK\",\"schema\":{\"type\":\"object\"}}}},"
    "\"parameters\":[{\"name\":\"name\",\"in\":\"path\",\"required\":true,"
    "\"type\":\"string\",\"uniqueItems\":true}]}},"
    "\"definitions\":{\"io.gpu-extender.visibility.v1alpha1.View\":{"
    "\"type\":\"object\",\"description\":\"An answer of gpu-extender's path /v1/X as the view X: "
    "kubectl get --raw /apis/visibility.gpu-extender.io/v1alpha1/views/inventory\","
    "\"x-kubernetes-group-version-kind\":[{\"group\":\"visibility.gpu-extender.io\","
    "\"version\":\"v1alpha1\",\"kind\":\"View\"}]}}}\n";

const char KUBERNETES_OPENAPI_PATHS[] =
    "{\"paths\":{\"apis/visibility.gpu-extender.io/v1alpha1\":{\"serverRelativeURL\":\"/openapi/v3/"
    "apis/visibility.gpu-extender.io/v1alpha1?hash=2\"}}}\n";

const char KUBERNETES_OPENAPI_V3[] =
    "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"gpu-extender\","
    "\"version\":\"v1alpha1\"},"
    "\"paths\":{\"/apis/visibility.gpu-extender.io/v1alpha1/views/"
    "{name}\":{\"get\":{\"operationId\":\"getView\","
    "\"description\":\"The answer of GET /v1/{name} of gpu-extender.\","
    "\"x-kubernetes-action\":\"get\","
    "\"x-kubernetes-group-version-kind\":{\"group\":\"visibility.gpu-extender.io\","
    "\"version\":\"v1alpha1\",\"kind\":\"View\"},"
    "\"responses\":{\"200\":{\"description\":\"OK\","
    "\"content\":{\"application/json\":{\"schema\":{\"type\":\"object\"}}}}}},"
    "\"post\":{\"operationId\":\"createView\","
    "\"description\":\"The answer of POST /v1/{name} of gpu-extender.\","
    "\"x-kubernetes-action\":\"post\","
    "\"x-kubernetes-group-version-kind\":{\"group\":\"visibility.gpu-extender.io\","
    "\"version\":\"v1alpha1\",\"kind\":\"View\"},"
    "\"responses\":{\"200\":{\"description\":\"OK\","
    "\"content\":{\"application/json\":{\"schema\":{\"type\":\"object\"}}}}}},"
    "\"parameters\":[{\"name\":\"name\",\"in\":\"path\",\"required\":true,"
    "\"schema\":{\"type\":\"string\"}}]}},"
    "\"components\":{\"schemas\":{\"io.gpu-extender.visibility.v1alpha1.View\":{"
    "\"type\":\"object\",\"description\":\"An answer of gpu-extender's path /v1/X as the view X: "
    "kubectl get --raw /apis/visibility.gpu-extender.io/v1alpha1/views/inventory\","
    "\"x-kubernetes-group-version-kind\":[{\"group\":\"visibility.gpu-extender.io\","
    "\"version\":\"v1alpha1\",\"kind\":\"View\"}]}}}}\n";
