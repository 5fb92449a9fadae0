/** Work of a thread, for tests of its bounds. */
export function make(what: string): string {
  while (what === 'spin');
  if (what === 'exit') process.exit(0)
  if (what === 'throw') throw new Error('a fault of the module')
  return what
}
