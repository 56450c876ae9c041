// The line of the first check that failed goes into fail[0]; `zero` is 0, which no compiler knows.
#define KERNEL(NAME) extern "C" __global__ void NAME(unsigned *fail, int zero)
#define CHECK(CONDITION)                                                                           \
    do {                                                                                           \
        if (!(CONDITION))                                                                          \
            atomicCAS(fail, 0u, (unsigned)__LINE__);                                               \
    } while (0)
