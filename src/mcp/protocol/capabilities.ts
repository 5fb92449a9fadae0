import type { Provider } from './provider.ts'

/** Server capabilities in either protocol era, derived from the optional parts of the provider. */
export function capabilitiesOf({ resources, prompts, complete, watch }: Provider) {
  const listChanged = watch ? { listChanged: true } : {}
  return {
    tools: listChanged,
    logging: {},
    ...(resources && { resources: { ...listChanged, ...(watch && { subscribe: true }) } }),
    ...(prompts && { prompts: listChanged }),
    ...(complete && { completions: {} }),
  }
}
