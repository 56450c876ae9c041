//! A kernel whose analyses wait until a caller asks for what they find: a file may hold thousands
//! of kernels, of which a run launches a few.

use crate::analysis;
use crate::kernel::Kernel;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A lowered kernel. All its mistakes have been found; blocks, reconvergence points, slots and
/// registers are found when it is first looked at as a [`Kernel`], once.
pub struct LazyKernel {
    /// Name as in the PTX (mangled). It can be asked for without looking at the kernel.
    pub name: String,
    instructions: usize,
    /// Until then: the kernel as it was lowered, and its labels.
    draft: Mutex<Option<Draft>>,
    kernel: OnceLock<Kernel>,
}

#[derive(Clone)]
struct Draft {
    kernel: Kernel,
    labels: Vec<(u32, String)>,
}

impl LazyKernel {
    /// A kernel with its code, targets resolved, and what is called how where.
    pub fn new(kernel: Kernel, labels: Vec<(u32, String)>) -> LazyKernel {
        LazyKernel {
            name: kernel.name.clone(),
            instructions: kernel.code.len(),
            draft: Mutex::new(Some(Draft { kernel, labels })),
            kernel: OnceLock::new(),
        }
    }

    /// Instructions in its code, without a further look at it.
    pub fn instructions(&self) -> usize {
        self.kernel
            .get()
            .map_or(self.instructions, |k| k.code.len())
    }

    /// The kernel with all that is known about it.
    pub fn into_kernel(self) -> Kernel {
        let _: &Kernel = &self;
        self.kernel.into_inner().expect("it was just looked at")
    }

    fn draft(&self) -> MutexGuard<'_, Option<Draft>> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for LazyKernel {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        self.kernel.get_or_init(|| {
            let draft = self.draft().take().expect("it is taken here alone");
            let mut kernel = draft.kernel;
            analysis::finish(&mut kernel, &draft.labels);
            kernel
        })
    }
}

impl DerefMut for LazyKernel {
    fn deref_mut(&mut self) -> &mut Kernel {
        let _: &Kernel = self;
        self.kernel.get_mut().expect("it was just looked at")
    }
}

impl Clone for LazyKernel {
    fn clone(&self) -> LazyKernel {
        // Before the kernel: it is taken from there only when it becomes one.
        let draft = self.draft().clone();
        let kernel = match draft {
            Some(_) => OnceLock::new(),
            None => OnceLock::from(Kernel::clone(self)),
        };
        LazyKernel {
            name: self.name.clone(),
            instructions: self.instructions,
            draft: Mutex::new(draft),
            kernel,
        }
    }
}

impl From<Kernel> for LazyKernel {
    /// A kernel about which all is known.
    fn from(kernel: Kernel) -> LazyKernel {
        LazyKernel {
            name: kernel.name.clone(),
            instructions: kernel.code.len(),
            draft: Mutex::new(None),
            kernel: OnceLock::from(kernel),
        }
    }
}

impl fmt::Debug for LazyKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Kernel::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_kernel_is_analysed_when_it_is_looked_at_and_not_before() {
        let text = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\
                    .reg .b32 %r<3>;\nmov.u32 %r1, 1;\nadd.u32 %r2, %r1, %r1;\nret;\n}\n";
        let module = crate::parse(text).expect("valid");
        let kernel = crate::lower(&module).expect("valid").kernels.remove(0);
        assert_eq!((kernel.name.as_str(), kernel.instructions()), ("k", 3));
        let copy = kernel.clone();
        assert!(kernel.kernel.get().is_none() && copy.kernel.get().is_none());
        assert_eq!(kernel.blocks.len(), 1);
        assert!(kernel.kernel.get().is_some() && kernel.draft().is_none());
        let demand = kernel.register_demand;
        assert!(demand > 0);
        assert_eq!(kernel.clone().register_demand, demand);
        assert_eq!(copy.into_kernel().register_demand, demand);
    }
}
