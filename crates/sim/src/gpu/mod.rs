//! A GPU as a host program sees it: memory, modules, launches.

pub mod api;
