//! Fields as 64-bit words.

/// What a field can be.
pub trait Words: Sized {
    /// Appends its words.
    fn put(&self, to: &mut Vec<u64>);
    /// Takes its words; `None` where they are no such thing.
    fn take(from: &mut std::slice::Iter<'_, u64>) -> Option<Self>;
}

impl Words for u64 {
    fn put(&self, to: &mut Vec<u64>) {
        to.push(*self);
    }
    fn take(from: &mut std::slice::Iter<'_, u64>) -> Option<u64> {
        from.next().copied()
    }
}

impl Words for u32 {
    fn put(&self, to: &mut Vec<u64>) {
        to.push(u64::from(*self));
    }
    fn take(from: &mut std::slice::Iter<'_, u64>) -> Option<u32> {
        u32::try_from(*from.next()?).ok()
    }
}

impl Words for i32 {
    fn put(&self, to: &mut Vec<u64>) {
        to.push(u64::from(*self as u32));
    }
    fn take(from: &mut std::slice::Iter<'_, u64>) -> Option<i32> {
        u32::take(from).map(|word| word as i32)
    }
}

impl Words for bool {
    fn put(&self, to: &mut Vec<u64>) {
        to.push(u64::from(*self));
    }
    fn take(from: &mut std::slice::Iter<'_, u64>) -> Option<bool> {
        match *from.next()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<const N: usize> Words for [u32; N] {
    fn put(&self, to: &mut Vec<u64>) {
        self.iter().for_each(|word| word.put(to));
    }
    fn take(from: &mut std::slice::Iter<'_, u64>) -> Option<[u32; N]> {
        let mut all = [0; N];
        for word in &mut all {
            *word = u32::take(from)?;
        }
        Some(all)
    }
}
