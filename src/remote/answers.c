/* What answers hold, as bytes: members, and programs that were built. */
#include "remote/codec.h"
#include "remote/protocol.h"

#include <stdlib.h>
#include <string.h>

/* ---- Members ----------------------------------------------------------------------------------------------------- */

static void code_identity(const struct codec *c, struct tsl_identity *is)
{
    code_bool(c, &is->has_uuid);
    for (unsigned i = 0; i < CL_UUID_SIZE_KHR; i++)
        code_u8(c, &is->uuid[i]);
    code_bool(c, &is->has_pci);
    code_u32(c, &is->pci_domain);
    code_u32(c, &is->pci_bus);
    code_u32(c, &is->pci_device);
    code_u32(c, &is->pci_function);
    code_bool(c, &is->is_host_cpu);
    code_u64(c, &is->processors);
    code_bool(c, &is->has_numa);
    code_u32(c, &is->numa_node);
    code_u64(c, &is->host_id);
}

static void code_caps(const struct codec *c, struct tsl_member_caps *caps)
{
    uint64_t speed;

    code_bool(c, &caps->gates_ahead);
    code_bool(c, &caps->profiles);
    code_bool(c, &caps->takes_parts);
    code_bool(c, &caps->access_holds);
    code_bool(c, &caps->no_views_of_parts);
    code_u64(c, &caps->memory_size);
    code_u64(c, &caps->max_alloc_size);
    code_size(c, &caps->base_align);
    code_u32(c, &caps->fill_items);
    memcpy(&speed, &caps->speed, sizeof(speed));
    code_u64(c, &speed);
    memcpy(&caps->speed, &speed, sizeof(speed));
    fail_unless(c, caps->speed > 0 && caps->base_align > 0 && caps->base_align <= 4096);
}

static void code_member(const struct codec *c, struct tsl_remote_member *m)
{
    uint32_t svm = m->svm;

    code_text(c, &m->driver);
    code_text(c, &m->id);
    code_text(c, &m->platform_name);
    code_text(c, &m->device_name);
    code_text(c, &m->driver_version);
    fail_unless(c, m->driver && m->id && m->platform_name && m->device_name && m->driver_version);
    code_u64(c, &m->type);
    code_identity(c, &m->identity);
    code_caps(c, &m->caps);
    code_bool(c, &m->windows);
    code_bool(c, &m->combines);
    code_bool(c, &m->images);
    code_bool(c, &m->variables);
    code_bool(c, &m->links);
    code_bool(c, &m->windows_by);
    code_bool(c, &m->substitutes);
    code_u32(c, &svm);
    fail_unless(c, svm <= TSL_REMOTE_SVM_OWN);
    m->svm = (enum tsl_remote_svm)svm;
    code_u32(c, &m->peers);
}

void tsl_remote_put_member(struct tsl_writer *writer, const struct tsl_remote_member *member)
{
    struct tsl_remote_member copy = *member;

    code_member(&(struct codec){.writer = writer}, &copy);
}

bool tsl_remote_get_member(struct tsl_reader *reader, struct tsl_remote_member *member)
{
    memset(member, 0, sizeof(*member));
    code_member(&(struct codec){.reader = reader}, member);
    if (!reader->failed)
        return true;
    tsl_remote_member_finish(member);
    return false;
}

void tsl_remote_member_finish(struct tsl_remote_member *member)
{
    free(member->driver);
    free(member->id);
    free(member->platform_name);
    free(member->device_name);
    free(member->driver_version);
    memset(member, 0, sizeof(*member));
}

static void code_built(const struct codec *c, struct tsl_remote_built *built)
{
    code_text(c, &built->log);
    code_text(c, &built->kernels);
    code_bool(c, &built->has_variables);
    code_bool(c, &built->of_text);
    code_u64(c, &built->variables_size);
}

void tsl_remote_put_built(struct tsl_writer *writer, const struct tsl_remote_built *built)
{
    struct tsl_remote_built copy = *built;

    code_built(&(struct codec){.writer = writer}, &copy);
}

bool tsl_remote_get_built(struct tsl_reader *reader, struct tsl_remote_built *built)
{
    memset(built, 0, sizeof(*built));
    code_built(&(struct codec){.reader = reader}, built);
    if (tsl_read_end(reader))
        return true;
    tsl_remote_built_finish(built);
    return false;
}

void tsl_remote_built_finish(struct tsl_remote_built *built)
{
    free(built->log);
    free(built->kernels);
    memset(built, 0, sizeof(*built));
}
