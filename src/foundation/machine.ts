import { totalmem } from 'node:os'

/** Bytes of memory of the machine, or of the container where that is less. */
export function memoryOfMachine(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}
