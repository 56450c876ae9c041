//! Workloads and launch files: one program for all tests, a module for each subject.

mod agreement;
mod common;
mod cuda_headers;
mod details;
mod everywhere;
mod gangs;
mod guide;
mod implicit_synchronisation;
mod launch_errors;
mod launch_run;
mod laws;
mod machine_code;
mod nvcc;
mod observed;
mod power;
mod residency;
mod suite;
mod variants;
mod virtual_blocks;
mod vtw_kernels;
mod warp_sizes;
