//! Images written by hand: what is read back, and what is said of damaged ones.

use super::*;

/// Types of sections.
const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;
const NOBITS: u32 = 8;

const PTX: &str =
    ".version 8.1\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";

/// An entry as compilers write it: `stored` is its code, `unpacked` how long that was.
fn entry(kind: u16, sm: u32, flags: u64, stored: &[u8], unpacked: usize) -> Vec<u8> {
    let name = b"a.cu\0\0\0\0";
    let padded = stored.len().next_multiple_of(8);
    let mut bytes = Vec::new();
    bytes.extend(kind.to_le_bytes());
    bytes.extend(0x101u16.to_le_bytes());
    bytes.extend(72u32.to_le_bytes());
    bytes.extend((padded as u64).to_le_bytes());
    bytes.extend((stored.len() as u32).to_le_bytes());
    bytes.extend(64u32.to_le_bytes());
    bytes.extend(1u16.to_le_bytes());
    bytes.extend(8u16.to_le_bytes());
    bytes.extend(sm.to_le_bytes());
    bytes.extend(64u32.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    bytes.extend((flags | 0x11).to_le_bytes());
    bytes.extend(0u64.to_le_bytes());
    bytes.extend((unpacked as u64).to_le_bytes());
    bytes.extend(name);
    bytes.extend(stored);
    bytes.resize(72 + padded, 0);
    bytes
}

fn container(entries: &[Vec<u8>]) -> Vec<u8> {
    let entries = entries.concat();
    let mut bytes = CONTAINER.to_le_bytes().to_vec();
    bytes.extend(1u16.to_le_bytes());
    bytes.extend(16u16.to_le_bytes());
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries);
    bytes
}

/// A text with its zero, for an architecture.
fn ptx(sm: u32) -> Vec<u8> {
    let text = PTX.replace("sm_80", &format!("sm_{sm}"));
    [text.as_bytes(), b"\0"].concat()
}

fn plain(sm: u32) -> Vec<u8> {
    entry(1, sm, 0, &ptx(sm), 0)
}

/// One literal run: the simplest LZ4 block that holds these bytes.
fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![0xf0];
    let mut rest = bytes.len() - 15;
    while rest >= 255 {
        block.push(255);
        rest -= 255;
    }
    block.push(rest as u8);
    block.extend(bytes);
    block
}

/// One raw block: the simplest zstd frame that holds these bytes.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    frame.extend((bytes.len() as u32).to_le_bytes());
    let header = (bytes.len() as u32) << 3 | 1;
    frame.extend(&header.to_le_bytes()[..3]);
    frame.extend(bytes);
    frame
}

/// A cubin with a kernel `k`, for an architecture of the older format; `text` is its section of PTX.
fn cubin(sm: u32, text: Option<&[u8]>) -> Vec<u8> {
    let mut info = vec![];
    for (which, number) in [(0x2fu8, 24u32), (0x11, 8), (0x12, 16)] {
        info.extend([4, which, 8, 0, 1, 0, 0, 0]);
        info.extend(number.to_le_bytes());
    }
    let own = [
        &[4, 0x0a, 8, 0, 1, 0, 0, 0, 0x60, 1, 12, 0][..],
        &[3, 0x1b, 0xff, 0],
        &[4, 0x17, 12, 0, 0, 0, 0, 0, 1, 0, 8, 0, 0, 0xf0, 0x11, 0],
        &[4, 0x17, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x21, 0],
        &[4, 5, 12, 0, 128, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
    ]
    .concat();
    // Name, type, size without bytes, bytes.
    let mut symbols = vec![0; 24];
    symbols.extend([1, 0, 0, 0, 0x12, 0x10, 3, 0]);
    symbols.extend([0; 16]);
    let mut sections: Vec<(&str, u32, u64, Vec<u8>)> = vec![
        ("", 0, 0, vec![]),
        (".strtab", STRTAB, 0, b"\0k\0".to_vec()),
        (".symtab", SYMTAB, 0, symbols),
        (".text.k", PROGBITS, 0, vec![0; 128]),
        (".nv.info", 0x7000_0000, 0, info),
        (".nv.info.k", 0x7000_0000, 0, own),
        (".nv.shared.k", NOBITS, 132, vec![]),
        (".nv.constant3", PROGBITS, 0, vec![0; 40]),
    ];
    if let Some(text) = text {
        sections.push((".nv_debug_ptx_txt", PROGBITS, 0, text.to_vec()));
    }
    let mut names = vec![];
    let mut offsets: Vec<u32> = vec![];
    for (name, ..) in &sections {
        offsets.push(names.len() as u32);
        names.extend(name.as_bytes());
        names.push(0);
    }
    offsets.push(names.len() as u32);
    names.extend(b".shstrtab\0");
    sections.push((".shstrtab", STRTAB, 0, names));

    let mut data = vec![];
    let mut headers = vec![];
    for (number, (name, kind, virtual_size, bytes)) in sections.iter().enumerate() {
        let place = match bytes.is_empty() && *virtual_size == 0 {
            true => 0,
            false => 64 + data.len() as u64,
        };
        headers.extend(offsets[number].to_le_bytes());
        headers.extend(kind.to_le_bytes());
        headers.extend([0; 16]);
        headers.extend(place.to_le_bytes());
        headers.extend((*virtual_size).max(bytes.len() as u64).to_le_bytes());
        let (link, info) = match *name {
            ".symtab" => (1, 1),
            ".text.k" => (2, 24 << 24 | 1),
            _ => (0, 0u32),
        };
        headers.extend((link as u32).to_le_bytes());
        headers.extend(info.to_le_bytes());
        headers.extend(1u64.to_le_bytes());
        let each = if *name == ".symtab" { 24u64 } else { 0 };
        headers.extend(each.to_le_bytes());
        data.extend(bytes);
        data.resize(data.len().next_multiple_of(8), 0);
    }
    let mut file = b"\x7fELF\x02\x01\x01\x33\x07".to_vec();
    file.resize(16, 0);
    file.extend(2u16.to_le_bytes());
    file.extend(190u16.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    file.extend([0; 16]);
    file.extend((64 + data.len() as u64).to_le_bytes());
    file.extend((sm << 16 | 0x500 | sm).to_le_bytes());
    for number in [
        64,
        56,
        0,
        64,
        sections.len() as u16,
        sections.len() as u16 - 1,
    ] {
        file.extend(number.to_le_bytes());
    }
    file.extend(data);
    file.extend(headers);
    file
}

fn numbers(image: &Image) -> Vec<u32> {
    image.ptx.iter().map(|p| p.capability.number).collect()
}

#[test]
fn entries_are_read_however_they_are_stored() {
    let text = ptx(80);
    let stored = [
        entry(1, 80, 0, &text, 0),
        entry(1, 80, 0x2000, &lz4(&text), text.len()),
        entry(1, 80, 0x8000, &zstd(&text), text.len()),
    ];
    let image = read(&container(&stored)).expect("valid");
    assert_eq!(image.ptx.len(), 3);
    for found in &image.ptx {
        assert_eq!(found.text, PTX);
        assert_eq!((found.capability.number, found.version), (80, (8, 1)));
        assert_eq!(found.origin, Origin::Entry);
    }
}

#[test]
fn containers_follow_each_other() {
    let both = [container(&[plain(52), plain(80)]), container(&[plain(90)])];
    let image = read(&both.concat()).expect("valid");
    assert_eq!(numbers(&image), [52, 80, 90]);
    let apart = [&both[0][..], &[0; 24], &both[1]].concat();
    assert_eq!(read(&apart), Ok(image));
    assert_eq!(container_bytes(&both[0][..16]), Ok(both[0].len()));
}

#[test]
fn the_newest_that_runs_is_chosen_else_the_nearest() {
    let choose = |all: &[u32], device| {
        let entries: Vec<_> = all.iter().map(|&sm| plain(sm)).collect();
        let image = read(&container(&entries)).expect("valid");
        let found = image.ptx_for(Capability::new(device)).expect("PTX");
        found.capability.number
    };
    assert_eq!(choose(&[90, 52, 75], 80), 75);
    assert_eq!(choose(&[80, 90], 80), 80);
    assert_eq!(choose(&[120, 90, 100], 80), 90);
}

#[test]
fn code_for_one_architecture_is_second_choice() {
    let only = PTX.replace("sm_80", "sm_90a");
    let mixed = [entry(1, 90, 0, only.as_bytes(), 0), plain(90)];
    let image = read(&container(&mixed)).expect("valid");
    for device in [80, 86] {
        let found = image.ptx_for(Capability::new(device)).expect("PTX");
        assert_eq!(found.capability.to_string(), "sm_90");
    }
    let found = image.ptx_for(Capability::new(90)).expect("PTX");
    assert_eq!(found.capability.to_string(), "sm_90a");
}

#[test]
fn machine_code_says_what_its_kernels_need() {
    let image = read(&cubin(80, None)).expect("valid");
    assert!(image.ptx.is_empty());
    let kernel = &image.cubins[0].kernels[0];
    let expected = Kernel {
        name: "k".into(),
        registers: Some(24),
        shared: 132,
        local: 16,
        constant: 40,
        params: vec![8, 4],
        max_threads: Some([128, 1, 1]),
    };
    assert_eq!(kernel, &expected);
    let error = image.ptx_for(Capability::new(80)).expect_err("no PTX");
    let said = "machine code only, for sm_80, and no PTX: `-gencode arch=compute_80,code=compute_80` \
        when it is compiled adds it";
    assert_eq!(error.to_string(), said);
}

#[test]
fn several_architectures_are_all_named() {
    let entries = [90, 75, 90].map(|sm| entry(2, sm, 0, &cubin(sm, None), 0));
    let image = read(&container(&entries)).expect("valid");
    let error = image.ptx_for(Capability::new(80)).expect_err("no PTX");
    let said = error.to_string();
    assert!(said.contains("for sm_75, sm_90,"), "{said}");
    assert!(said.contains("arch=compute_75,code=compute_75"), "{said}");
}

#[test]
fn ptx_comes_out_of_line_information() {
    let lines = b"\0\0.version 8.1\0.target sm_80\0\0.visible .entry k()\0{\0ret;\0}\0\0";
    let image = read(&cubin(80, Some(lines))).expect("valid");
    assert!(image.cubins[0].has_ptx);
    let found = image.ptx_for(Capability::new(80)).expect("PTX");
    assert_eq!(found.origin, Origin::LineInformation);
    assert_eq!(
        found.text,
        ".version 8.1\n.target sm_80\n\n.visible .entry k()\n{\nret;\n}\n"
    );
    assert_eq!(found.version, (8, 1));
    // The whole text is better: it says which lines of the source it is of.
    let code = entry(2, 80, 0, &cubin(80, Some(lines)), 0);
    let both = read(&container(&[plain(80), code])).expect("valid");
    let found = both.ptx_for(Capability::new(80)).expect("PTX");
    assert_eq!((both.ptx.len(), found.origin), (2, Origin::Entry));
}

#[test]
fn plain_text_is_read_with_and_without_a_zero() {
    let with = [PTX.as_bytes(), b"\0"].concat();
    let image = read(&with).expect("valid");
    assert_eq!(Ok(&image), read(PTX.as_bytes()).as_ref());
    assert_eq!(image.ptx[0].origin, Origin::Plain);
    let commented = format!("/* .version 1.0\n.target sm_10 */ // .target sm_11\n{PTX}");
    let image = read(commented.as_bytes()).expect("valid");
    assert_eq!(image.ptx[0].capability, Capability::new(80));
    assert_eq!(image.ptx[0].version, (8, 1));
}

#[test]
fn what_is_no_image_is_called_what_it_is() {
    let said = |bytes: &[u8]| read(bytes).expect_err("no image").to_string();
    assert!(said(b"").contains("empty"));
    assert!(said(b"BC\xc0\xde\x01").contains("LLVM"));
    assert!(said(b"hello").contains("without a line `.version`"));
    assert!(said(b".version 8.0\n").contains("without a line `.target"));
    assert!(said(b"PK\x03\x04\0\x01").contains("begins with 50 4b 03 04"));
    let mut other = cubin(80, None);
    other[18] = 62;
    assert!(said(&other).contains("another processor (machine 62)"));
}

#[test]
fn damage_is_told_with_its_place() {
    let said = |bytes: &[u8]| read(bytes).expect_err("damaged").to_string();
    let whole = container(&[plain(80)]);
    assert_eq!(
        said(&whole[..40]),
        format!(
            "at byte 0x0: a fat binary should be {} bytes, and 40 are left",
            whole.len()
        )
    );
    let changed = |at: usize, to: u8| {
        let mut changed = whole.clone();
        changed[at] = to;
        said(&changed)
    };
    assert!(changed(4, 2).contains("at byte 0x4: version 2"));
    assert!(changed(6, 8).contains("at byte 0x6: a header of 8"));
    assert!(changed(20, 8).contains("at byte 0x14: an entry's header of 8"));
    assert!(changed(31, 0x7f).contains("an entry's code should be"));
    let text = ptx(80);
    let short = entry(1, 80, 0x2000, &lz4(&text), text.len() + 1);
    assert!(said(&container(&[short])).contains("at byte 0x58"));
    let long = entry(1, 80, 0x8000, &zstd(&text), text.len() - 1);
    assert!(said(&container(&[long])).contains("holds more"));
    let bomb = entry(1, 80, 0x2000, &lz4(&text), 1 << 40);
    assert!(said(&container(&[bomb])).contains("are the most"));
    let bomb = entry(1, 80, 0x2000, &lz4(&text), 1 << 28);
    assert!(said(&container(&[bomb])).contains("cannot hold"));
    let both = entry(1, 80, 0xa000, &text, text.len());
    assert!(said(&container(&[both])).contains("two ways"));
}

#[test]
fn other_kinds_are_counted() {
    let image = read(&container(&[entry(8, 80, 0, b"BC", 0)])).expect("valid");
    assert_eq!((image.others, image.ptx.len()), (1, 0));
}
