import type { Provider } from './provider.ts'

/** What the server says that it can do, in either era: what the provider has. */
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
