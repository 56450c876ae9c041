//! Workloads and launch files.
