// What clients of client-go ask of an aggregated API: discovery, a RESTMapper, lists in pages, metadata, and a watch.
//
//	clients GROUP/VERSION RESOURCE NAMESPACE
//
// Asks with $KUBECONFIG about the resource in the namespace ("": all), in pages of one object. Prints one JSON object; calls that fail are
// in its "errors", by name.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/pager"
)

type found struct {
	Resources  []string          `json:"resources"`  // with their verbs
	Namespaced []string          `json:"namespaced"` // as those who delete namespaces see them
	Kind       string            `json:"kind"`       // by the RESTMapper
	Plural     string            `json:"plural"`     // back from the kind
	Names      []string          `json:"names"`      // by pages
	Pages      int               `json:"pages"`
	Metadata   []string          `json:"metadata"`
	Errors     map[string]string `json:"errors"`
}

func (all *found) failed(call string, err error) bool {
	if err != nil {
		all.Errors[call] = err.Error()
	}
	return err != nil
}

func (all *found) discover(client discovery.DiscoveryInterface, wanted schema.GroupVersion) {
	_, lists, err := client.ServerGroupsAndResources()
	all.failed("ServerGroupsAndResources", err)
	for _, list := range lists {
		for _, resource := range list.APIResources {
			if list.GroupVersion == wanted.String() {
				all.Resources = append(all.Resources, fmt.Sprint(resource.Name, resource.Verbs))
			}
		}
	}
	lists, err = discovery.ServerPreferredNamespacedResources(client)
	all.failed("ServerPreferredNamespacedResources", err)
	for _, list := range lists {
		for _, resource := range list.APIResources {
			if list.GroupVersion == wanted.String() {
				all.Namespaced = append(all.Namespaced, resource.Name)
			}
		}
	}
}

func (all *found) translate(mapper meta.RESTMapper, resource schema.GroupVersionResource) {
	kind, err := mapper.KindFor(schema.GroupVersionResource{Resource: resource.Resource})
	if all.failed("KindFor", err) {
		return
	}
	all.Kind = kind.Kind
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if !all.failed("RESTMapping", err) {
		all.Plural = mapping.Resource.Resource
	}
}

func (all *found) list(client dynamic.ResourceInterface) {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		all.Pages++
		return client.List(ctx, options)
	})
	pages.PageSize = 1
	err := pages.EachListItem(context.Background(), metav1.ListOptions{}, func(item runtime.Object) error {
		object, err := meta.Accessor(item)
		if err == nil {
			all.Names = append(all.Names, object.GetNamespace()+"/"+object.GetName())
		}
		return err
	})
	all.failed("List", err)
	_, err = client.Watch(context.Background(), metav1.ListOptions{})
	all.failed("Watch", err)
}

func (all *found) listMetadata(client metadata.ResourceInterface) {
	list, err := client.List(context.Background(), metav1.ListOptions{})
	if all.failed("List of metadata", err) {
		return
	}
	for _, item := range list.Items {
		all.Metadata = append(all.Metadata, item.Namespace+"/"+item.Name)
	}
}

func ask(config *rest.Config, version schema.GroupVersion, name, namespace string) (found, error) {
	all := found{Errors: map[string]string{}}
	resource := version.WithResource(name)
	discovered, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return all, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return all, err
	}
	partial, err := metadata.NewForConfig(config)
	if err != nil {
		return all, err
	}
	all.discover(discovered, version)
	all.translate(restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovered)), resource)
	all.list(objects.Resource(resource).Namespace(namespace))
	all.listMetadata(partial.Resource(resource).Namespace(namespace))
	return all, nil
}

func main() {
	version, err := schema.ParseGroupVersion(os.Args[1])
	var config *rest.Config
	if err == nil {
		config, err = clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	}
	var all found
	if err == nil {
		all, err = ask(config, version, os.Args[2], os.Args[3])
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
