//! A short list kept in place: operand lists are read every cycle and must not be a pointer
//! away.

/// Up to `N` items, no allocation. The length comes first: with the first items it is in one line
/// of the host's cache, and most lists are much shorter than `N`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FixedList<T, const N: usize> {
    len: u8,
    items: [T; N],
}

impl<T: Copy + Default, const N: usize> Default for FixedList<T, N> {
    fn default() -> Self {
        FixedList {
            items: [T::default(); N],
            len: 0,
        }
    }
}

impl<T: Copy + Default, const N: usize> FixedList<T, N> {
    /// Forgets all items.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds an item. More than `N` is a bug in the caller's choice of `N`.
    #[inline]
    pub fn push(&mut self, item: T) {
        self.items[self.len as usize] = item;
        self.len += 1;
    }

    /// Takes out the last item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let last = *self.last()?;
        self.len -= 1;
        Some(last)
    }
}

impl<T, const N: usize> std::ops::Deref for FixedList<T, N> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[..self.len as usize]
    }
}

impl<T, const N: usize> std::ops::DerefMut for FixedList<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.len as usize]
    }
}
