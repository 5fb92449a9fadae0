/** The workers of the editor, from this server. The build fills in their addresses. */
declare const WORKERS: { readonly editor: string; readonly json: string; readonly graphql: string }

Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker: (_id: string, label: string) =>
      new Worker(label === 'json' ? WORKERS.json : label === 'graphql' ? WORKERS.graphql : WORKERS.editor),
  },
})
