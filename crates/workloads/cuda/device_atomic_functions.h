// Everything of it is there already.
#include "warpsim_cuda.h"
