/* Offsets of the registers in bytes. Made from rtl/registers/core_regs.rdl by `python -m rtl.registers.generate`. */
#ifndef CORE_REGISTERS_H
#define CORE_REGISTERS_H

#define CORE_REG_ID 0x0u
#define CORE_REG_VERSION 0x4u
#define CORE_REG_SHAPE 0x8u
#define CORE_REG_VARIANT 0xcu
#define CORE_REG_CONTROL 0x10u
#define CORE_REG_STATUS 0x14u
#define CORE_REG_ERROR_PC 0x18u
#define CORE_REG_BUS_ERROR 0x1cu
#define CORE_REG_BUS_ERROR_ADDR 0x20u
#define CORE_REG_PROGRAM 0x24u
#define CORE_REG_LOG_N 0x28u
#define CORE_REG_IRQ 0x2cu
#define CORE_REG_COUNTER 0x100u
#define CORE_REG_MODULUS 0x2000u

#endif
