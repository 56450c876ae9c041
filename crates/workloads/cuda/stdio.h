// printf of kernels is there already; the host's header, where there is one, for host code.
#if __has_include_next(<stdio.h>)
#include_next <stdio.h>
#else
extern "C" __host__ int printf(const char *, ...);
#endif
