/* Numbers by chance, the same for the same seed: of one test, which includes this once. */
#ifndef TSL_TESTS_COMPILER_CHANCE_H
#define TSL_TESTS_COMPILER_CHANCE_H

static unsigned long long random_state = 1;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % n;
}

static float random_float(float least, float most)
{
    return least + (most - least) * (float)random_below(1 << 20) / (1 << 20);
}

#endif
