// CUDA C for clang without a CUDA installation. `warpsim` includes this file before yours, as nvcc
// includes its own headers: a `.cu` file needs no include of ours.
//
// Everything stands in one small file per subject. Functions have no debug information, so that an
// access inside of them counts as one of the line that calls them.
#ifndef WARPSIM_CUDA_H
#define WARPSIM_CUDA_H

#include "warpsim/attributes.h"
#include "warpsim/vectors.h"
#include "warpsim/indices.h"
#include "warpsim/bits.h"
#include "warpsim/barriers.h"
#include "warpsim/votes.h"
#include "warpsim/shuffles.h"
#include "warpsim/atomics.h"
#include "warpsim/loads.h"
#include "warpsim/convert.h"
#include "warpsim/min_max.h"
#include "warpsim/rounding.h"
#include "warpsim/polynomials.h"
#include "warpsim/exponential.h"
#include "warpsim/trigonometry.h"
#include "warpsim/error_function.h"
#include "warpsim/math.h"
#include "warpsim/fast_math.h"
#include "warpsim/print.h"
#include "warpsim/host.h"

#endif
