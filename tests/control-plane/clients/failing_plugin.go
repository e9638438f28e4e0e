// A device plugin of a kubelet on this machine: four healthy GPUs, and every allocation fails.
//
//	failing_plugin RESOURCE
//
// It registers itself once, and runs until it is killed.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	plugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const socket = "failing.sock"

type failing struct {
	plugin.UnimplementedDevicePluginServer
}

func (failing) GetDevicePluginOptions(context.Context, *plugin.Empty) (*plugin.DevicePluginOptions, error) {
	return &plugin.DevicePluginOptions{}, nil
}

func (failing) ListAndWatch(_ *plugin.Empty, to plugin.DevicePlugin_ListAndWatchServer) error {
	devices := []*plugin.Device{}
	for _, id := range []string{"0", "1", "2", "3"} {
		devices = append(devices, &plugin.Device{ID: id, Health: plugin.Healthy})
	}
	if err := to.Send(&plugin.ListAndWatchResponse{Devices: devices}); err != nil {
		return err
	}
	<-to.Context().Done()
	return nil
}

func (failing) Allocate(context.Context, *plugin.AllocateRequest) (*plugin.AllocateResponse, error) {
	return nil, errors.New("GPU 0 has fallen off the bus")
}

func register(resource string) error {
	kubelet, err := grpc.NewClient("unix://"+plugin.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer kubelet.Close()
	request := &plugin.RegisterRequest{Version: plugin.Version, Endpoint: socket, ResourceName: resource}
	_, err = plugin.NewRegistrationClient(kubelet).Register(context.Background(), request)
	return err
}

func main() {
	listener, err := net.Listen("unix", plugin.DevicePluginPath+socket)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	plugin.RegisterDevicePluginServer(server, failing{})
	go func() {
		if err := register(os.Args[1]); err != nil {
			log.Fatal(err)
		}
	}()
	log.Fatal(server.Serve(listener))
}
