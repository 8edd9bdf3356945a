#include "opencl/identity.h"

#include <string.h>

/* cl_nv_device_attribute_query; not in Debian's headers. */
#ifndef CL_DEVICE_PCI_BUS_ID_NV
#define CL_DEVICE_PCI_BUS_ID_NV 0x4008
#endif
#ifndef CL_DEVICE_PCI_SLOT_ID_NV
#define CL_DEVICE_PCI_SLOT_ID_NV 0x4009
#endif
#ifndef CL_DEVICE_PCI_DOMAIN_ID_NV
#define CL_DEVICE_PCI_DOMAIN_ID_NV 0x400A
#endif

bool tsl_opencl_has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* True if the device answered with exactly this many bytes. */
static bool ask(const struct tsl_opencl_cl *cl, cl_device_id device, cl_device_info param, size_t size, void *value)
{
    size_t got = 0;

    return cl->clGetDeviceInfo(device, param, size, value, &got) == CL_SUCCESS && got == size;
}

static void set_pci(struct tsl_identity *identity, cl_uint domain, cl_uint bus, cl_uint device, cl_uint function)
{
    identity->has_pci = true;
    identity->pci_domain = domain;
    identity->pci_bus = bus;
    identity->pci_device = device;
    identity->pci_function = function;
}

static void ask_uuid(const struct tsl_opencl_cl *cl, cl_device_id device, struct tsl_identity *identity)
{
    static const uint8_t none[CL_UUID_SIZE_KHR];

    /* All zero is what drivers say that don't know. */
    identity->has_uuid = ask(cl, device, CL_DEVICE_UUID_KHR, sizeof(identity->uuid), identity->uuid) &&
                         memcmp(identity->uuid, none, sizeof(none)) != 0;
}

static void ask_pci(const struct tsl_opencl_cl *cl, cl_device_id device, const char *extensions,
                    struct tsl_identity *identity)
{
    cl_device_pci_bus_info_khr khr;
    cl_device_topology_amd amd;
    cl_uint bus, slot, domain = 0;
    cl_bool unified = CL_FALSE;

    if (tsl_opencl_has_word(extensions, "cl_khr_pci_bus_info") &&
        ask(cl, device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(khr), &khr)) {
        set_pci(identity, khr.pci_domain, khr.pci_bus, khr.pci_device, khr.pci_function);
    } else if (tsl_opencl_has_word(extensions, "cl_nv_device_attribute_query") &&
               ask(cl, device, CL_DEVICE_PCI_BUS_ID_NV, sizeof(bus), &bus) &&
               ask(cl, device, CL_DEVICE_PCI_SLOT_ID_NV, sizeof(slot), &slot)) {
        ask(cl, device, CL_DEVICE_PCI_DOMAIN_ID_NV, sizeof(domain), &domain);
        /* The slot is PCI's "devfn": five bits of device, three of function. */
        set_pci(identity, domain, bus, slot >> 3, slot & 7);
    } else if (tsl_opencl_has_word(extensions, "cl_amd_device_attribute_query") &&
               ask(cl, device, CL_DEVICE_TOPOLOGY_AMD, sizeof(amd), &amd) &&
               amd.raw.type == CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD) {
        /* AMD tells no domain. */
        set_pci(identity, 0, (cl_uchar)amd.pcie.bus, (cl_uchar)amd.pcie.device, (cl_uchar)amd.pcie.function);
    } else if (tsl_opencl_has_word(extensions, "cl_intel_device_attribute_query") &&
               ask(cl, device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(unified), &unified) && unified) {
        /* Intel's query has no address, but its integrated GPU is always 0000:00:02.0. */
        set_pci(identity, 0, 0, 2, 0);
    }
}

void tsl_opencl_identity(const struct tsl_opencl_cl *cl, cl_device_id device, cl_device_type type,
                         const char *extensions, struct tsl_identity *identity)
{
    memset(identity, 0, sizeof(*identity));
    /* Simulators say that they are everything; what says CPU runs on this host's. */
    identity->is_host_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    if (tsl_opencl_has_word(extensions, "cl_khr_device_uuid"))
        ask_uuid(cl, device, identity);
    if (!identity->is_host_cpu)
        ask_pci(cl, device, extensions, identity);
}
