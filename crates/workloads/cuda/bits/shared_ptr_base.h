// The host's header says `__attribute__((__noinline__))`, where CUDA's name for functions of kernels would be
// in its way.
#if __has_include_next(<bits/shared_ptr_base.h>)
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
#endif
