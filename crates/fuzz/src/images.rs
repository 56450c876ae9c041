//! Fat binaries, machine code and PTX in them.

use warpsim_images::{Capability, Error, read};

/// Any bytes are an image or an error that says what is wrong.
pub fn image(data: &[u8]) {
    match read(data) {
        Ok(image) => {
            let device = Capability::new(80);
            match image.ptx_for(device) {
                Ok(ptx) => assert!(image.ptx.contains(ptx)),
                Err(error) => {
                    assert!(matches!(error, Error::NoPtx { .. }) && image.ptx.is_empty());
                    assert!(error.to_string().contains("-gencode"));
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A container with an entry of each form, a cubin with PTX and one without.
pub fn image_seeds() -> Vec<Vec<u8>> {
    let seeds: [&[u8]; 3] = [
        include_bytes!("../corpus/image/container"),
        include_bytes!("../corpus/image/cubin"),
        include_bytes!("../corpus/image/cubin-with-ptx"),
    ];
    seeds.iter().map(|s| s.to_vec()).collect()
}
