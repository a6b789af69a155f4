/**
 * Agents run in process groups of their own, so that all of a group can be ended. The price: the terminal's Ctrl-C does
 * not reach them. They are ended here when this process is, however that comes about, short of KILL.
 */
type End = (signal: NodeJS.Signals) => void

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const
const live = new Set<End>()

/** Returns what takes the process off the list again. */
export function endWithUs(end: End): () => void {
  if (live.size === 0) listen()
  live.add(end)
  return () => {
    if (live.delete(end) && live.size === 0) unlisten()
  }
}

function listen(): void {
  process.on("exit", onExit)
  for (const signal of SIGNALS) process.on(signal, onSignal)
}

function unlisten(): void {
  process.off("exit", onExit)
  for (const signal of SIGNALS) process.off(signal, onSignal)
}

function onExit(): void {
  for (const end of live) end("SIGTERM")
}

/** A program that handles the signal itself decides what becomes of its queries; otherwise it means what it always does. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  for (const end of live) end(signal)
  unlisten()
  process.kill(process.pid, signal)
}
