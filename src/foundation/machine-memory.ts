import { totalmem } from 'node:os'

/** Memory of the machine in bytes, or of the container if that is less. */
export function memoryOfMachine(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}
