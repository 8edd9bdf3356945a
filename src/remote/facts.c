/* Kernels' facts as bytes: those of the compiler's wire, and what that leaves out. */
#include "compile_client/wire.h"
#include "remote/protocol.h"

enum { OF_TEXT = 1, OF_WINDOWS = 2, UNTOUCHED = 1, WRITTEN = 2 };

void tsl_remote_put_facts(struct tsl_writer *writer, const struct tsl_kernel_facts *facts)
{
    tsl_wire_put_facts(writer, facts);
    for (unsigned d = 0; d < 3; d++)
        tsl_write_u64(writer, facts->max_global_size[d]);
    tsl_write_u8(writer, (facts->of_text ? OF_TEXT : 0) | (uint8_t)(facts->of_windows ? OF_WINDOWS : 0));
    for (cl_uint i = 0; i < facts->n_args; i++)
        tsl_write_u8(writer,
                     (facts->args[i].untouched ? UNTOUCHED : 0) | (uint8_t)(facts->args[i].written ? WRITTEN : 0));
}

bool tsl_remote_get_facts(struct tsl_reader *reader, struct tsl_kernel_facts *facts)
{
    uint8_t of;

    if (!tsl_wire_get_facts(reader, facts))
        return false;
    for (unsigned d = 0; d < 3; d++)
        facts->max_global_size[d] = (size_t)tsl_read_u64(reader);
    of = tsl_read_u8(reader);
    facts->of_text = of & OF_TEXT;
    facts->of_windows = of & OF_WINDOWS;
    for (cl_uint i = 0; i < facts->n_args; i++) {
        uint8_t bits = tsl_read_u8(reader);

        facts->args[i].untouched = bits & UNTOUCHED;
        facts->args[i].written = bits & WRITTEN;
    }
    if (tsl_read_end(reader))
        return true;
    tsl_kernel_facts_finish(facts);
    return false;
}
