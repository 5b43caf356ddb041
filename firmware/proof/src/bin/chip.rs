//! The proof on a bare chip under QEMU: Xtensa (`-M sim`, semihosting) or riscv32 (`-M virt`, UART).
//!
//! The only unsafe code of the proof is here: the way out of the chip, the heap and the paint on the stack.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::mem::MaybeUninit;

use proof::probe::Probe;

/// Heap for the uploaded plan and a few texts (bytes).
const HEAP_BYTES: usize = 64 * 1024;

#[global_allocator]
static HEAP: embedded_alloc::LlffHeap = embedded_alloc::LlffHeap::empty();
static mut HEAP_MEMORY: [MaybeUninit<u8>; HEAP_BYTES] = [MaybeUninit::uninit(); HEAP_BYTES];

/// One core, no interrupts: a critical section is nothing.
struct OneCore;
critical_section::set_impl!(OneCore);

// SAFETY: nothing can interrupt the one core, so every piece of code is a critical section already.
unsafe impl critical_section::Impl for OneCore {
    unsafe fn acquire() -> critical_section::RawRestoreState {
        0
    }

    unsafe fn release(_state: critical_section::RawRestoreState) {}
}

#[cfg(target_arch = "xtensa")]
mod chip {
    unsafe extern "C" {
        fn sim_write(bytes: *const u8, length: usize) -> i32;
        fn sim_exit(code: i32) -> !;
        fn ccount() -> u32;
    }

    /// CCOUNT runs at 40 MHz of virtual time and an instruction takes 2^7 ns under `-icount shift=7`.
    const COUNTS_PER_100_INSTRUCTIONS: u64 = 512;

    pub(super) fn write(bytes: &[u8]) {
        // SAFETY: the semihosting call only reads `bytes.len()` bytes from the pointer.
        unsafe { sim_write(bytes.as_ptr(), bytes.len()) };
    }

    pub(super) fn exit(code: i32) -> ! {
        // SAFETY: ends the emulator.
        unsafe { sim_exit(code) }
    }

    pub(super) fn counter() -> u32 {
        // SAFETY: reads a counter.
        unsafe { ccount() }
    }

    pub(super) fn instructions(counted: u64) -> u64 {
        counted * 100 / COUNTS_PER_100_INSTRUCTIONS
    }
}

#[cfg(target_arch = "riscv32")]
mod chip {
    core::arch::global_asm!(include_str!("../../chip/riscv32_start.S"));

    const UART: *mut u8 = 0x1000_0000 as *mut u8;
    const TEST_DEVICE: *mut u32 = 0x0010_0000 as *mut u32;
    /// The test device ends the emulator: success, or a failure with a code in the upper half.
    const PASS: u32 = 0x5555;
    const FAIL: u32 = 0x3333;

    pub(super) fn write(bytes: &[u8]) {
        for byte in bytes {
            // SAFETY: the transmit register of the emulated UART takes a byte at any time.
            unsafe { UART.write_volatile(*byte) };
        }
    }

    pub(super) fn exit(code: i32) -> ! {
        let word = if code == 0 { PASS } else { FAIL | (code as u32) << 16 };
        // SAFETY: the register of the emulated test device ends the emulator.
        unsafe { TEST_DEVICE.write_volatile(word) };
        loop {
            core::hint::spin_loop();
        }
    }

    pub(super) fn counter() -> u32 {
        let count: u32;
        // SAFETY: reads a counter.
        unsafe { core::arch::asm!("csrr {0}, minstret", out(reg) count, options(nomem, nostack)) };
        count
    }

    pub(super) fn instructions(counted: u64) -> u64 {
        counted
    }
}

/// Stack that is painted (bytes): twice what the control side has on the ESP32.
const PAINTED_BYTES: usize = 16 * 1024;
/// What the stack is painted with.
const PAINT: u32 = 0x5AC3_A53C;
/// Left free below the painter's own local (bytes): its frame, and on Xtensa the registers that a full window spills.
const OWN_BYTES: usize = 128;

#[derive(Default)]
struct Chip {
    /// Top of the paint; the stack grows down from above it.
    painted: usize,
}

impl Chip {
    fn words(&self) -> impl Iterator<Item = *mut u32> + use<> {
        (self.painted - PAINTED_BYTES..self.painted)
            .step_by(size_of::<u32>())
            .map(|address| address as *mut u32)
    }
}

impl Probe for Chip {
    #[inline(never)]
    fn paint_stack(&mut self) {
        let here = 0_u32;
        self.painted = core::hint::black_box(&raw const here) as usize - OWN_BYTES;
        for word in self.words() {
            // SAFETY: the stack has more than these bytes below the one frame in use, and nothing else is there.
            unsafe { word.write_volatile(PAINT) };
        }
    }

    #[inline(never)]
    fn stack_used(&mut self) -> Option<usize> {
        // SAFETY: the words are the ones that were painted.
        let used = self.words().find(|word| unsafe { word.read_volatile() } != PAINT)?;
        Some(self.painted + OWN_BYTES - used as usize)
    }

    fn line(&mut self, text: &str) {
        chip::write(text.as_bytes());
        chip::write(b"\n");
    }

    fn counter(&mut self) -> Option<u32> {
        Some(chip::counter())
    }

    fn instructions(&self, counted: u64) -> u64 {
        chip::instructions(counted)
    }
}

/// Called by the start code with a stack and cleared memory.
#[unsafe(no_mangle)]
extern "C" fn rust_main() -> ! {
    // SAFETY: called once, before anything is allocated; the memory belongs to the heap alone.
    unsafe { HEAP.init((&raw mut HEAP_MEMORY) as usize, HEAP_BYTES) };
    proof::run(&mut Chip::default());
    chip::exit(0)
}

struct Out;

impl Write for Out {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        chip::write(text.as_bytes());
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    // The way out cannot fail.
    let _written = writeln!(Out, "PANIC {info}");
    chip::exit(101)
}
