// Reductions over tiles are part of the one header.
#include "../cooperative_groups.h"
