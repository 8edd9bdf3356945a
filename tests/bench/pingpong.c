/* MPI's own messages between two ranks: one of 64 bytes there and back, and 64 MiB one way. See nodes.c. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 2001
#define TIMES  15
#define SIZE   (64 << 20)

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double measure(char *bytes, int size, int back, int n, int rank)
{
    double *seconds = calloc((size_t)n, sizeof(*seconds)), median;

    for (int i = 0; seconds && i < n; i++) {
        double begin = MPI_Wtime();

        if (rank == 0) {
            MPI_Send(bytes, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(bytes, back, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(bytes, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(bytes, back, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        seconds[i] = MPI_Wtime() - begin;
    }
    if (!seconds)
        return 0;
    qsort(seconds, (size_t)n, sizeof(*seconds), compare);
    median = seconds[n / 2];
    free(seconds);
    return median;
}

int main(int argc, char **argv)
{
    char *bytes = malloc(SIZE);
    double small, large;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!bytes)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(bytes, 1, SIZE);
    small = measure(bytes, 64, 64, ROUNDS, rank);
    large = measure(bytes, SIZE, 1, TIMES, rank);
    if (rank == 0)
        printf("MPI, a message of 64 bytes there and back: %.1f us\nMPI, 64 MiB: %.2f GB/s\n", small * 1e6,
               SIZE / 1e9 / large);
    MPI_Finalize();
    free(bytes);
    return 0;
}
