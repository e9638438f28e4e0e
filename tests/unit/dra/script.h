/*
 * script: devices in lines of text, so that tests read like tables. All of one driver,
 * gpu.nvidia.com unless a line says otherwise, and of one model.
 *
 *   slice NAME POOL@NODE GENERATION COUNT [DEVICE...]
 *   sets NAME POOL GENERATION COUNT SET:COUNTER=N[,COUNTER=N]...
 *   claim NAME [POOL/DEVICE[;admin|;shared]...]
 *   taint NAME DRIVER POOL DEVICE
 *   delete slice|claim|taint NAME
 *   keep slice NAME
 *
 * POOL@ is a pool that several nodes reach, POOL@* one whose devices name their nodes (node=). A
 * claim without a device is not allocated. In a taint, * is any. "keep" is a slice that could not
 * be read.
 *
 * DEVICE is NAME[;key=KEY][;profile=PROFILE][;tainted][;unknown][;node=NODE][;SET:COUNTER=N...]
 */
#ifndef DEVICES_SCRIPT_H
#define DEVICES_SCRIPT_H

#include "base/arena.h"
#include "dra/devices.h"

#define SCRIPT_DRIVER "gpu.nvidia.com"
#define SCRIPT_MODEL "NVIDIA A100-SXM4-40GB"

/* Carries out the lines, and takes the changed nodes. */
void script_run(struct devices *devices, const char *lines);
/* "2 total, 1 allocated, 1 free; MIG-1g.5gb: 7 total, 7 free": what is not 0; "": no devices. */
const char *script_node(const struct devices *devices, const char *node_name, struct arena *arena);

#endif
