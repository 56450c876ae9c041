// The host's header, where there is one, for host code.
#if __has_include_next(<stdlib.h>)
#include_next <stdlib.h>
#endif
