// Types of the driver's interface that kernels' files mention.
#include "warpsim_cuda.h"
#pragma once
typedef unsigned long long CUdeviceptr;
