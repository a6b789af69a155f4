/**
 * Calls an owner's callback so that its failure stays its own: it runs in the events of streams, sockets and timers, where
 * a throw ends the process or leaves a connection half moved. Every `on…` option goes through here once, where the options
 * are settled.
 */
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
