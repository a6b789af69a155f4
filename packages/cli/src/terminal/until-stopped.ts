/** Aborts at Ctrl-C or SIGTERM: what goes on without end is ended by its user, and that is no failure. */
export async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once("SIGINT", stop)
  process.once("SIGTERM", stop)
  try {
    await work(stopping.signal)
  } catch (error) {
    if (!stopping.signal.aborted) throw error
  } finally {
    process.off("SIGINT", stop)
    process.off("SIGTERM", stop)
  }
}
