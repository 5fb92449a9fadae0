/** A copy without the members that are undefined. */
export const omitUndefined = <T extends object>(args: T) =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)) as {
    [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
  } & { [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
