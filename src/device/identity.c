/* The device's identity: cl_khr_device_uuid and cl_khr_pci_bus_info. */
#include "base/bytes.h"
#include "device/device_facts.h"
#include "device/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds what stays the same from process to process, and when a driver is updated. */
static void put_member(struct tsl_writer *w, const struct tsl_path *path)
{
    const struct tsl_identity *identity = &path->identity;

    if (identity->has_uuid) {
        tsl_write_raw(w, identity->uuid, sizeof(identity->uuid));
        return;
    }
    tsl_write_text(w, path->platform_name);
    tsl_write_text(w, path->device_name);
    tsl_write_text(w, path->id);
}

static void digest(struct tsl_writer *w, cl_uchar *uuid)
{
    for (unsigned half = 0; half < 2; half++) {
        tsl_write_u8(w, (uint8_t)half);
        uint64_t sum = tsl_bytes_sum(w->data, w->size);
        memcpy(uuid + 8 * half, &sum, sizeof(sum));
    }
    /* Version 8 of RFC 9562: custom contents. */
    uuid[6] = (cl_uchar)((uuid[6] & 0x0f) | 0x80);
    uuid[8] = (cl_uchar)((uuid[8] & 0x3f) | 0x80);
}

/* Programs that keep binaries (PyOpenCL) find them by the driver's version. It changes with the members: a binary from
 * other members would leave out some that are here now. It changes with our compiler, too, which users build anew
 * without another version: what it wrote before may be of a form that this library doesn't read. */
static bool put_version(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n)
{
    struct tsl_writer w = {0};

    for (unsigned i = 0; i < n; i++) {
        put_member(&w, members[i]->path);
        tsl_write_text(&w, members[i]->path->driver_version);
        tsl_write_u64(&w, members[i]->path->compiler);
    }
    snprintf(facts->driver_version, sizeof(facts->driver_version), TESELA_VERSION " (%08x)",
             (unsigned)tsl_bytes_sum(w.data, w.size));
    free(w.data);
    return !w.failed;
}

static bool same_place(const struct tsl_identity *a, const struct tsl_identity *b)
{
    return a->has_pci && b->has_pci && a->pci_domain == b->pci_domain && a->pci_bus == b->pci_bus &&
           a->pci_device == b->pci_device && a->pci_function == b->pci_function;
}

static void fill_pci(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n)
{
    const struct tsl_identity *first = n ? &members[0]->path->identity : NULL;

    facts->has_pci = first && first->has_pci;
    for (unsigned i = 1; i < n; i++)
        facts->has_pci = facts->has_pci && same_place(first, &members[i]->path->identity);
    if (facts->has_pci)
        facts->pci =
            (cl_device_pci_bus_info_khr){first->pci_domain, first->pci_bus, first->pci_device, first->pci_function};
}

bool tsl_identity_fill(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n)
{
    struct tsl_writer device = {0}, driver = {0};

    tsl_write_text(&device, TSL_NAME " device");
    for (unsigned i = 0; i < n; i++)
        put_member(&device, members[i]->path);
    tsl_write_text(&driver, TSL_NAME " driver " TESELA_VERSION);
    digest(&device, facts->uuid);
    digest(&driver, facts->driver_uuid);
    fill_pci(facts, members, n);
    bool good = !device.failed && !driver.failed && put_version(facts, members, n);
    free(device.data);
    free(driver.data);
    return good;
}
