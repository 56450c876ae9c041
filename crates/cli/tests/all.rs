//! The command as its users see it: one program for all tests, a module for each subject.

#[path = "../../view/tests/common/chromium.rs"]
mod chromium;
mod cli;
mod common;
mod compare;
mod cuda;
mod examples;
#[cfg(target_os = "linux")]
mod exec;
mod export;
mod failures;
mod flow;
mod guide;
mod half;
mod listed;
mod machine_code;
mod observed;
mod phases;
mod places;
mod printing;
mod profile;
#[cfg(target_os = "linux")]
mod programs;
mod reference;
mod registers;
mod report;
mod shards;
mod shell;
mod special_files;
mod studies;
mod timeline;
mod tour;
mod view;
mod virtual_blocks;
#[path = "../../view/tests/common/visit.rs"]
mod visit;
