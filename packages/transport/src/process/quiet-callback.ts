/** Calls a caller's callback so that its failure stays its own: it runs in a stream's event, where a throw ends the process. */
export function quietly<T>(callback: ((value: T) => unknown) | undefined): (value: T) => void {
  return (value) => {
    try {
      const result = callback?.(value)
      if (result instanceof Promise) result.catch(() => undefined)
    } catch {
      // Nobody is left to tell.
    }
  }
}
