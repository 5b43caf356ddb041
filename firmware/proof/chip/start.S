# Start of the proof on QEMU's Xtensa `sim` machine: window vectors, registers, stack, rust_main; semihosting calls
# (the bytes 00 51 00 are SIMCALL, which the assembler does not know). There is no asm! for Xtensa in this rustc.
    .section .vectors,"ax",@progbits
    .global _vectors
_vectors:
    s32e a0, a5, -16
    s32e a1, a5, -12
    s32e a2, a5, -8
    s32e a3, a5, -4
    rfwo
    .p2align 6
    l32e a0, a5, -16
    l32e a1, a5, -12
    l32e a2, a5, -8
    l32e a3, a5, -4
    rfwu
    .p2align 6
    s32e a0, a9, -16
    l32e a0, a1, -12
    s32e a1, a9, -12
    s32e a2, a9, -8
    s32e a3, a9, -4
    s32e a4, a0, -32
    s32e a5, a0, -28
    s32e a6, a0, -24
    s32e a7, a0, -20
    rfwo
    .p2align 6
    l32e a0, a9, -16
    l32e a1, a9, -12
    l32e a2, a9, -8
    l32e a7, a1, -12
    l32e a3, a9, -4
    l32e a4, a7, -32
    l32e a5, a7, -28
    l32e a6, a7, -24
    l32e a7, a7, -20
    rfwu
    .p2align 6
    s32e a0, a13, -16
    l32e a0, a1, -12
    s32e a1, a13, -12
    s32e a2, a13, -8
    s32e a3, a13, -4
    s32e a4, a0, -48
    s32e a5, a0, -44
    s32e a6, a0, -40
    s32e a7, a0, -36
    s32e a8, a0, -32
    s32e a9, a0, -28
    s32e a10, a0, -24
    s32e a11, a0, -20
    rfwo
    .p2align 6
    l32e a0, a13, -16
    l32e a1, a13, -12
    l32e a2, a13, -8
    l32e a11, a1, -12
    l32e a3, a13, -4
    l32e a4, a11, -48
    l32e a5, a11, -44
    l32e a6, a11, -40
    l32e a7, a11, -36
    l32e a8, a11, -32
    l32e a9, a11, -28
    l32e a10, a11, -24
    l32e a11, a11, -20
    rfwu
    .p2align 6
    .section .vec_kernel,"ax",@progbits
    rsr a4, exccause
    movi a3, 99
    movi a2, 1
    .byte 0x00, 0x51, 0x00
    .section .vec_user,"ax",@progbits
    rsr a3, exccause
    addi a3, a3, 100
    movi a2, 1
    .byte 0x00, 0x51, 0x00
    .section .vec_double,"ax",@progbits
    movi a3, 98
    movi a2, 1
    .byte 0x00, 0x51, 0x00

    .section .text.start,"ax",@progbits
    .p2align 2
.Lvec: .long _vectors
.Lsp:  .long _stack_top
.Lps:  .long 0x00040020
.Lmain: .long rust_main
    .global _start
    .p2align 2
_start:
    movi a0, 0
    wsr a0, windowbase
    rsync
    movi a0, 1
    wsr a0, windowstart
    rsync
    l32r a2, .Lvec
    wsr a2, vecbase
    rsync
    movi a2, 1
    wsr a2, cpenable
    rsync
    movi a2, 0x15
    .byte 0x20, 0x63, 0x13
    rsync
    l32r a1, .Lsp
    l32r a2, .Lps
    wsr a2, ps
    rsync
    movi a0, 0
    l32r a4, .Lmain
    callx4 a4
1:  j 1b

    .section .text.sim_write,"ax",@progbits
    .global sim_write
    .p2align 2
sim_write:
    entry a1, 32
    mov a5, a3
    mov a4, a2
    movi a3, 1
    movi a2, 4
    .byte 0x00, 0x51, 0x00
    retw
    .section .text.sim_exit,"ax",@progbits
    .global sim_exit
    .p2align 2
sim_exit:
    entry a1, 32
    mov a3, a2
    movi a2, 1
    .byte 0x00, 0x51, 0x00
2:  j 2b
    .section .text.ccount,"ax",@progbits
    .global ccount
    .p2align 2
ccount:
    entry a1, 32
    rsr a2, ccount
    retw
    .section .reset,"ax",@progbits
    .p2align 2
    j 1f
    .p2align 2
.Lst: .long _start
1:  l32r a0, .Lst
    jx a0
