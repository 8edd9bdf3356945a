/* What kernels print on the built-in CPU: every conversion, in the words of the host's own printf. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <CL/cl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Standard output --------------------------------------------------------------------------------------------- */

static int kept;
static FILE *caught;

static void catch_output(void)
{
    fflush(stdout);
    kept = dup(STDOUT_FILENO);
    caught = tmpfile();
    assert_non_null(caught);
    dup2(fileno(caught), STDOUT_FILENO);
}

/* Heap. */
static char *caught_output(void)
{
    char *text = NULL;
    size_t room = 0;

    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(caught);
    if (getdelim(&text, &room, 0, caught) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(caught);
    return text;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void launch(struct cpu_rig *w, cl_program program, const char *name, size_t n, int value)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(value), &value), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(w->queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    clReleaseKernel(kernel);
}

/* What one work-item prints with this statement; heap. */
static char *printed(struct cpu_rig *w, const char *statement)
{
    char source[2048], *text;
    cl_program program;

    snprintf(source, sizeof(source), "kernel void print(int x) { %s }\n", statement);
    program = cpu_rig_program(w, source, "");
    catch_output();
    launch(w, program, "print", 1, 42);
    clFinish(w->queue);
    text = caught_output();
    clReleaseProgram(program);
    return text;
}

static void one(struct cpu_rig *w, const char *statement, const char *right)
{
    char *text = printed(w, statement);

    if (strcmp(text, right))
        fail_msg("%s printed \"%s\", not \"%s\"", statement, text, right);
    free(text);
}

/* Scalars have the host's formats (OpenCL C 3.0, 6.15.14): its own printf gives the right text. */
#define CHECK_SAME(w, format, value)                           \
    do {                                                       \
        char right[512];                                       \
        snprintf(right, sizeof(right), format "|", value);     \
        one(w, "printf(\"" format "|\", " #value ");", right); \
    } while (0)

static void scalars(void **state)
{
    struct cpu_rig *w = *state;

    CHECK_SAME(w, "%d", -7);
    CHECK_SAME(w, "%i", 2147483647);
    CHECK_SAME(w, "%5d", 42);
    CHECK_SAME(w, "%-5d", 42);
    CHECK_SAME(w, "%+d", 42);
    CHECK_SAME(w, "% d", 42);
    CHECK_SAME(w, "%05d", -42);
    CHECK_SAME(w, "%.4d", 42);
    CHECK_SAME(w, "%8.4d", 42);
    CHECK_SAME(w, "%u", 4294967295u);
    CHECK_SAME(w, "%o", 511);
    CHECK_SAME(w, "%#o", 511);
    CHECK_SAME(w, "%x", 48879);
    CHECK_SAME(w, "%#x", 48879);
    CHECK_SAME(w, "%#X", 48879);
    CHECK_SAME(w, "%hhd", (char)-1);
    CHECK_SAME(w, "%hd", (short)-300);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat" /* too large for these on purpose */
    CHECK_SAME(w, "%hhx", 511);
    CHECK_SAME(w, "%hu", 65537);
#pragma GCC diagnostic pop
    CHECK_SAME(w, "%ld", -9000000000L);
    CHECK_SAME(w, "%lu", 18446744073709551615UL);
    CHECK_SAME(w, "%lx", 0x123456789abcdefL);
    CHECK_SAME(w, "%c", 'q');
    CHECK_SAME(w, "%4c", 'q');
    CHECK_SAME(w, "%f", 3.25f);
    CHECK_SAME(w, "%f", 1e10);
    CHECK_SAME(w, "%10.3f", -2.0625f);
    CHECK_SAME(w, "%-10.3f", 2.5f);
    CHECK_SAME(w, "%+.0f", 2.5f);
    CHECK_SAME(w, "%#.0f", 3.0f);
    CHECK_SAME(w, "%010.2f", 1.5f);
    CHECK_SAME(w, "%F", 0.1f);
    CHECK_SAME(w, "%e", 12345.678);
    CHECK_SAME(w, "%.2E", 0.00012345);
    CHECK_SAME(w, "%g", 0.0001f);
    CHECK_SAME(w, "%g", 1e-5);
    CHECK_SAME(w, "%#g", 1.0f);
    CHECK_SAME(w, "%G", 1e30);
    CHECK_SAME(w, "%a", 1.0f);
    CHECK_SAME(w, "%.3a", 0.1);
    CHECK_SAME(w, "%A", 255.5f);
    one(w, "printf(\"%f %F %e\", INFINITY, -INFINITY, INFINITY);", "inf -INF inf");
    one(w, "float n = NAN; printf(\"%.0f %G\", fabs(n), fabs(n));", "nan NAN");
}

static void vectors(void **state)
{
    struct cpu_rig *w = *state;

    one(w, "printf(\"%v4hld|\", (int4)(1, -2, 3, -4));", "1,-2,3,-4|");
    one(w, "printf(\"%v4d|\", (int4)(1, -2, 3, -4));", "1,-2,3,-4|");
    one(w, "printf(\"%v3hlu|\", (uint3)(1, 4294967295u, 3));", "1,4294967295,3|");
    one(w, "printf(\"%v2hhd|\", (char2)(-128, 127));", "-128,127|");
    one(w, "printf(\"%v4hhu|\", (uchar4)(255, 0, 1, 2));", "255,0,1,2|");
    one(w, "printf(\"%v2hd|\", (short2)(-32768, 5));", "-32768,5|");
    one(w, "printf(\"%v2ld|\", (long2)(-9000000000L, 5));", "-9000000000,5|");
    one(w, "printf(\"%v8hhx|\", (uchar8)(250));", "fa,fa,fa,fa,fa,fa,fa,fa|");
    one(w, "printf(\"%#v2hlx|\", (uint2)(250, 16));", "0xfa,0x10|");
    one(w, "printf(\"%v16hlx|\", (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));",
        "0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f|");
    one(w, "printf(\"%5.2v2hlf|\", (float2)(1.25f, -2.5f));", " 1.25,-2.50|");
    one(w, "printf(\"%v4f|\", (float4)(1, 2, 3, 4));", "1.000000,2.000000,3.000000,4.000000|");
    one(w, "printf(\"%v2lf|\", (double2)(0.5, 1e3));", "0.500000,1000.000000|");
    one(w, "printf(\"%.1v3hle|\", (float3)(10, 200, 3000));", "1.0e+01,2.0e+02,3.0e+03|");
    one(w, "printf(\"%-4v2hld|%+v2hld|\", (int2)(1, 2), (int2)(3, 4));", "1   ,2   |+3,+4|");
}

static void texts_and_the_rest(void **state)
{
    struct cpu_rig *w = *state;

    one(w, "printf(\"plain\");", "plain");
    one(w, "printf(\"\");", "");
    one(w, "printf(\"100%%|\");", "100%|");
    one(w, "printf(\"%s|%10s|%-10s|%.2s|\", \"one\", \"two\", \"three\", \"four\");", "one|       two|three     |fo|");
    one(w, "printf(\"a\\tb\\\\c\\\"\\n\");", "a\tb\\c\"\n");
    one(w, "printf(\"%d %s %.1f %v2hld %c\\n\", x, \"and\", x * 0.5f, (int2)(x, 1), 65);", "42 and 21.0 42,1 A\n");
    one(w, "if (printf(\"a\") == 0) printf(\"b\");", "ab");
    one(w, "global int *p = 0; printf(\"%p|\", p);", "(nil)|");
    one(w, "for (int i = 0; i < 3; i++) printf(\"%d\", i);", "012");
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* Lines of different work-items may come in any order, but whole, and each once. */
static void lines_stay_whole(void **state)
{
    enum { N = 5000 };
    struct cpu_rig *w = *state;
    cl_program program =
        cpu_rig_program(w,
                        "kernel void print(int x) {\n"
                        "  printf(\"item %d of %v2hld end\\n\", (int)get_global_id(0), (int2)(x, -x)); }\n",
                        "");
    char *text, *rest = NULL;
    int seen[N], n = 0;

    catch_output();
    launch(w, program, "print", N, 9);
    clFinish(w->queue);
    text = caught_output();
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        int end = 0;

        assert_in_range(n, 0, N - 1);
        assert_int_equal(sscanf(line, "item %d of 9,-9 end%n", &seen[n], &end), 1);
        assert_int_equal(end, strlen(line));
        n++;
    }
    assert_int_equal(n, N);
    qsort(seen, N, sizeof(seen[0]), by_number);
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], i);
    free(text);
    clReleaseProgram(program);
}

/* A launch's text is out when its event is complete, behind that of the launches before it, and in its place among
 * what the program itself prints. */
static void launches_print_in_order(void **state)
{
    struct cpu_rig *w = *state;
    cl_program program = cpu_rig_program(w, "kernel void print(int x) { printf(\"%d\\n\", x); }\n", "");
    char *text, right[4096] = "", line[32];

    catch_output();
    for (int i = 0; i < 200; i++) {
        launch(w, program, "print", 1, i);
        snprintf(line, sizeof(line), "%d\n", i);
        strcat(right, line);
        if (i % 50 == 49) {
            clFinish(w->queue);
            printf("host\n");
            strcat(right, "host\n");
        }
    }
    clFinish(w->queue);
    text = caught_output();
    assert_string_equal(text, right);
    free(text);
    clReleaseProgram(program);
}

/* All of it, once the launch's event is complete; nothing is finished or flushed. */
static void events_show_what_was_printed(void **state)
{
    enum { N = 100 };
    struct cpu_rig *w = *state;
    cl_program program = cpu_rig_program(w, "kernel void print(int x) { printf(\"%05d\\n\", x); }\n", "");
    const size_t n = N;
    const int value = 7;
    struct stat about;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "print", &error);
    cl_event event;

    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(value), &value), CL_SUCCESS);
    catch_output();
    for (int i = 1; i <= 20; i++) {
        cl_int status = CL_QUEUED;

        assert_int_equal(clEnqueueNDRangeKernel(w->queue, kernel, 1, NULL, &n, NULL, 0, NULL, &event), CL_SUCCESS);
        assert_int_equal(clFlush(w->queue), CL_SUCCESS);
        if (i % 2)
            assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
        while (status != CL_COMPLETE)
            assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL),
                             CL_SUCCESS);
        fstat(STDOUT_FILENO, &about);
        if (about.st_size != i * N * 6)
            break;
        clReleaseEvent(event);
    }
    free(caught_output());
    assert_int_equal(about.st_size, 20 * N * 6);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* A language with decimal commas, made here, as none may be installed. */
static void use_commas(char *folder)
{
    char command[512];

    assert_non_null(mkdtemp(folder));
    write_file(folder, "source",
               "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n");
    write_file(folder, "charmap",
               "<code_set_name> ANSI_X3.4-1968\n<comment_char> %\n<escape_char> /\nCHARMAP\n"
               "<U002C> /x2c COMMA\n<U002E> /x2e FULL STOP\nEND CHARMAP\n");
    /* It exits 1 for the categories that aren't there. */
    snprintf(command, sizeof(command),
             "cd %s && localedef -c -i ./source -f ./charmap --no-archive ./commas >messages 2>&1; test -d commas",
             folder);
    assert_int_equal(system(command), 0);
    setenv("LOCPATH", folder, 1);
    assert_non_null(setlocale(LC_ALL, "commas"));
}

/* Also while the application, and this thread of it, speak such a language; theirs stays as it is. */
static void any_language_prints_points(void **state)
{
    char folder[] = "/tmp/tesela-printf-XXXXXX", command[64], number[16];

    use_commas(folder);
    snprintf(number, sizeof(number), "%.2f", 1.5);
    assert_string_equal(number, "1,50");
    one(*state, "printf(\"%.2f %v2hlf %g|\", 1.5, (float2)(0.25f, 2), 1e-3);", "1.50 0.250000,2.000000 0.001|");
    snprintf(number, sizeof(number), "%.2f", 1.5);
    assert_string_equal(number, "1,50");
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars),
        cmocka_unit_test(vectors),
        cmocka_unit_test(texts_and_the_rest),
        cmocka_unit_test(lines_stay_whole),
        cmocka_unit_test(launches_print_in_order),
        cmocka_unit_test(events_show_what_was_printed),
        cmocka_unit_test(any_language_prints_points),
    };

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
