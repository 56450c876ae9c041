// An assertion that fails stops the simulated program and names its place. Included again after
// NDEBUG was changed, it changes too, as in C.
#undef assert
#ifdef NDEBUG
#define assert(CONDITION) ((void)0)
#else
#define assert(CONDITION) ((CONDITION) ? (void)0 : __assertfail(#CONDITION, __FILE__, __LINE__, __func__, 1))
#endif
