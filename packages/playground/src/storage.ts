/** Tabs and settings of GraphiQL for one address, so that each base has tabs of its own. */
export function storageOf(address: string): Storage {
  const prefix = `plinth:${address}:`
  const keys = () => Object.keys(localStorage).filter((key) => key.startsWith(prefix))
  return {
    getItem: (key) => localStorage.getItem(prefix + key),
    setItem: (key, value) => localStorage.setItem(prefix + key, value),
    removeItem: (key) => localStorage.removeItem(prefix + key),
    clear: () => {
      for (const key of keys()) localStorage.removeItem(key)
    },
    key: (at) => keys()[at]?.slice(prefix.length) ?? null,
    get length() {
      return keys().length
    },
  }
}
