//! Registers of the core: byte offsets and fields.
//!
//! Made from rtl/registers/core_regs.rdl by `python -m rtl.registers.generate`.

/// A field of a 32-bit register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    shift: u32,
    mask: u32,
}

impl Field {
    const fn new(shift: u32, mask: u32) -> Self {
        Self { shift, mask }
    }

    /// The field's value in a register.
    #[must_use]
    pub const fn get(self, register: u32) -> u32 {
        (register & self.mask) >> self.shift
    }

    /// A register with this value in the field and 0 elsewhere; bits beyond the field are dropped.
    #[must_use]
    pub const fn put(self, value: u32) -> u32 {
        (value << self.shift) & self.mask
    }
}

/// What this is. ASCII RMCC.
pub const ID: u32 = 0x0;

/// What [`ID`] reads.
pub const ID_VALUE: u32 = 0x524d4343;

/// Version of registers and instructions. A driver refuses another major number, and a minor number
/// below the one it was made for. 1.1 has the instruction ROOTS, pairs of banks for both lanes, and
/// a MULK that shifts and subtracts.
pub const VERSION: u32 = 0x4;
/// Field minor of [`VERSION`].
pub const VERSION_MINOR: Field = Field::new(0, 0xffff);
/// Field major of [`VERSION`].
pub const VERSION_MAJOR: Field = Field::new(16, 0xffff0000);

/// What [`VERSION`] reads.
pub const VERSION_VALUE: u32 = 0x10001;

/// Shape.
pub const SHAPE: u32 = 0x8;
/// Bits of a word.
pub const SHAPE_WORD: Field = Field::new(0, 0xff);
/// Butterflies of a lane.
pub const SHAPE_NBF: Field = Field::new(8, 0xff00);
/// log2 of the largest degree.
pub const SHAPE_LOGN_MAX: Field = Field::new(16, 0xff0000);
/// Entries of the modulus table.
pub const SHAPE_MODS: Field = Field::new(24, 0xff000000);

/// Variant.
pub const VARIANT: u32 = 0xc;
/// Kind of modular multiplier, numbered as in rm_modmul_pkg.
pub const VARIANT_KIND: Field = Field::new(0, 0xff);
/// Bits of the memory bus.
pub const VARIANT_BUS: Field = Field::new(16, 0xffff0000);

/// Control.
pub const CONTROL: u32 = 0x10;
/// Write 1: run the program at PROGRAM; refused while busy.
pub const CONTROL_START: Field = Field::new(0, 0x1);
/// Write 1: end what was dispatched, then stop with the code ABORTED.
pub const CONTROL_SOFT_RESET: Field = Field::new(1, 0x2);
/// 1: the interrupt line follows IRQ.pending.
pub const CONTROL_IRQ_ENABLE: Field = Field::new(2, 0x4);

/// Status.
pub const STATUS: u32 = 0x14;
/// A program runs.
pub const STATUS_BUSY: Field = Field::new(0, 0x1);
/// The last program ended at END; until the next start.
pub const STATUS_DONE: Field = Field::new(1, 0x2);
/// The last program ended with an error; until the next start.
pub const STATUS_ERROR: Field = Field::new(2, 0x4);
/// A start came while busy and was ignored; until the next start.
pub const STATUS_REFUSED: Field = Field::new(3, 0x8);
/// error_e of rm_core_pkg, 0 without an error.
pub const STATUS_CODE: Field = Field::new(8, 0xff00);

/// Instruction that failed. Number in the program, from 0; of use with STATUS.error.
pub const ERROR_PC: u32 = 0x18;

/// First bus error since start.
pub const BUS_ERROR: u32 = 0x1c;
/// 0 none, 1 fetch, 2 read, 3 write.
pub const BUS_ERROR_KIND: Field = Field::new(0, 0x3);
/// AXI response: 2 SLVERR, 3 DECERR.
pub const BUS_ERROR_RESP: Field = Field::new(2, 0xc);

/// Where the first bus error was. Address of the burst, in units of 64 bytes.
pub const BUS_ERROR_ADDR: u32 = 0x20;

/// Program. Address in units of 64 bytes; a multiple of the bus width.
pub const PROGRAM: u32 = 0x24;

/// Degree.
pub const LOG_N: u32 = 0x28;
/// log2 of the degree, at most SHAPE.logn_max.
pub const LOG_N_VALUE: Field = Field::new(0, 0x1f);

/// Interrupt.
pub const IRQ: u32 = 0x2c;
/// A program has ended; write 1 to clear.
pub const IRQ_PENDING: Field = Field::new(0, 0x1);

/// Counter. Of the running or last program, 40 bits. In this order: cycles; busy NTT 0, NTT 1,
/// arithmetic; arithmetic waiting for operands, read data, write space; NTT 0, NTT 1 waiting for
/// operands; NTT 0, NTT 1 waiting for twiddle factors; read beats; write beats; instructions.
pub const COUNTER: u32 = 0x100;
/// Bytes from one to the next.
pub const COUNTER_STRIDE: u32 = 0x8;
/// How many there are.
pub const COUNTER_COUNT: u32 = 14;

/// Modulus table, write only. Entry i at 256·i holds 64-bit words: 0 q, 1 aux, 2 + b the root rho_b
/// (b = 0 … 14). Write the low half first; the high half stores both.
pub const MODULUS: u32 = 0x2000;
/// Bytes of the window.
pub const MODULUS_BYTES: u32 = 0x2000;
