/** What all commands share of commander. */
import { type Command, Option as Flag } from 'commander'
import { misused } from './failure.ts'

/** Applies the settings that all commands share. */
export function configure(command: Command): Command {
  return command
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .configureHelp({ showGlobalOptions: true })
}

/** An option with a value. Rejects repeats, because one value would be silently dropped. */
export function valued(flags: string, about: string): Flag {
  return new Flag(flags, about).argParser((value: string, before: unknown) => {
    if (before !== undefined) throw misused(`${flags.split(' ', 1)[0]} is given more than once.`)
    return value
  })
}
