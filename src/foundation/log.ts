/** What the engine writes to the log of the process. */
export type Log = { warn(fields: object, message: string): void }
export type InfoLog = Log & { info(fields: object, message: string): void }
