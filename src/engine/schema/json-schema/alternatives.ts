import { type Compiler, type Evaluate, type Fault, Faults, type Keyword, Seen } from './evaluation.ts'
import { spend } from './evaluation-cost.ts'
import type { Clean } from './normalize.ts'

/** In-place applicators: keywords that apply subschemas to the value itself. */
export const ALTERNATIVES: Readonly<Record<string, Keyword>> = {
  $ref: (_value, schema, compiler) => reference(schema, compiler),
  not: (value, schema, compiler) => not(value, schema, compiler),
  anyOf: (value, schema, compiler) => anyOf(value as unknown[], schema, compiler),
  oneOf: (value, schema, compiler) => oneOf(value as unknown[], schema, compiler),
  allOf: (value, _schema, compiler) => allOf(value as unknown[], compiler),
  if: (value, schema, compiler) => conditional(value, schema, compiler),
}

/** Resolves `$ref` on first use, since a reference may be recursive. */
function reference(schema: Clean, compiler: Compiler): Evaluate {
  let target: Evaluate | undefined
  return (data, seen, out, path) => {
    target ??= compiler.schema(compiler.target(schema))
    return target(data, seen, out, path)
  }
}

function not(value: unknown, parent: Clean, compiler: Compiler): Evaluate {
  const evaluate = compiler.schema(value)
  return (data, _seen, out, path) => {
    if (!evaluate(data, null, null, '')) return true
    out?.add({ keyword: 'not', path, schema: value, parent, data })
    return false
  }
}

function allOf(schemas: readonly unknown[], compiler: Compiler): Evaluate {
  const branches = schemas.map(compiler.schema)
  return (data, seen, out, path) => {
    spend(branches.length)
    let valid = true
    for (const branch of branches) {
      if (branch(data, seen, out, path)) continue
      if (!out) return false
      valid = false
    }
    return valid
  }
}

// Base cost of a branch: for the verdict, and again when faults are collected.
const BRANCH_STEPS = 2
const EXPLAINED_STEPS = 20

function anyOf(schemas: readonly unknown[], parent: Clean, compiler: Compiler): Evaluate {
  const branches = schemas.map(compiler.schema)
  return (data, seen, out, path) => {
    const failed: Faults[] = []
    let valid = false
    for (const branch of branches) {
      if (!branchMatches(branch, data, seen, out, path, failed)) continue
      valid = true
      // With annotations collected, another branch may have evaluated more.
      if (!seen) break
    }
    if (!valid && out)
      for (const fault of likelyBranch({ keyword: 'anyOf', path, schema: schemas, parent, data }, failed))
        out.add(fault)
    return valid
  }
}

function oneOf(schemas: readonly unknown[], parent: Clean, compiler: Compiler): Evaluate {
  const branches = schemas.map(compiler.schema)
  return (data, seen, out, path) => {
    const failed: Faults[] = []
    let first = -1
    for (let i = 0; i < branches.length; i++) {
      const branch = branches[i] as Evaluate
      if (!branchMatches(branch, data, seen, out, path, failed)) continue
      if (first >= 0) {
        const params = { passing: [first, i] }
        out?.add({ keyword: 'oneOf', path, schema: schemas, parent, data, params })
        return false
      }
      first = i
    }
    if (first < 0 && out)
      for (const fault of likelyBranch({ keyword: 'oneOf', path, schema: schemas, parent, data }, failed))
        out.add(fault)
    return first >= 0
  }
}

/** Evaluates a branch. Annotations count only if it is valid; its faults are collected separately. */
function branchMatches(
  branch: Evaluate,
  data: unknown,
  seen: Seen | null,
  out: Faults | null,
  path: string,
  failed: Faults[],
): boolean {
  spend(out ? EXPLAINED_STEPS : BRANCH_STEPS)
  const own = seen && new Seen()
  const faults = out && new Faults()
  const holds = branch(data, own, faults, path)
  if (holds && own) seen?.merge(own)
  if (!holds && faults) failed.push(faults)
  return holds
}

function conditional(value: unknown, parent: Clean, compiler: Compiler): Evaluate | undefined {
  const { then: onTrue, else: onFalse } = parent
  const condition = compiler.schema(value)
  const then = compiler.schema(onTrue ?? true)
  const otherwise = compiler.schema(onFalse ?? true)
  return (data, seen, out, path) => {
    const own = seen && new Seen()
    if (!condition(data, own, null, '')) return otherwise(data, seen, out, path)
    if (own) seen?.merge(own)
    return then(data, seen, out, path)
  }
}

/**
 * Selects the faults to report when no branch of a choice is valid: those of the most likely branch, if one
 * stands out.
 */
function likelyBranch(choice: Fault, branches: readonly Faults[]): Fault[] {
  const failed = branches.map(({ list }) => list)
  const merged = merge(choice, failed)
  if (merged) return [merged]
  const likely = failed.filter((faults) => !faults.some((fault) => rulesOut(fault, choice)))
  const fewest = likely.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY)
  const best = likely.filter(({ length }) => length === fewest)
  return best.length === 1 ? (best[0] ?? []) : [choice]
}

/** Whether a fault excludes the branch: another type, or another value of the discriminator. */
function rulesOut({ keyword, path }: Fault, choice: Fault): boolean {
  const below = path.slice(choice.path.length)
  if (below === '') return ['type', 'const', 'enum', 'false schema'].includes(keyword)
  return ['const', 'enum'].includes(keyword) && !below.slice(1).includes('/')
}

/** Merges alternatives that differ only in type or only in value into one fault. */
function merge(choice: Fault, failed: readonly Fault[][]): Fault | undefined {
  const faults = failed.flatMap((each) => (each.length === 1 ? each : []))
  if (faults.length < failed.length) return undefined
  if (faults.some(({ path }) => path !== choice.path)) return undefined
  if (faults.every(({ keyword }) => keyword === 'type')) {
    const types = [...new Set(faults.flatMap(({ schema }) => schema as string | string[]))]
    return { ...choice, keyword: 'type', schema: types }
  }
  if (faults.every(({ keyword }) => keyword === 'const' || keyword === 'enum')) {
    const values = faults.flatMap(({ keyword, schema }) =>
      keyword === 'enum' ? (schema as unknown[]) : [schema],
    )
    return { ...choice, keyword: 'enum', schema: values }
  }
  return undefined
}
