const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Cleans up if a signal ends the process while the work goes on. The signal then ends it as it would have, whatever its threads
 * are doing.
 */
export async function cleanedUp<T>(cleanUp: () => void, work: () => Promise<T>): Promise<T> {
  const forget = () => {
    for (const signal of SIGNALS) process.off(signal, end)
  }
  const end = (signal: NodeJS.Signals) => {
    forget()
    try {
      cleanUp()
    } finally {
      process.kill(process.pid, signal)
    }
  }
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    return await work()
  } finally {
    forget()
  }
}
