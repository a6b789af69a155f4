import { useEffect, useRef, useState, useSyncExternalStore } from "react"
import { createPortal } from "react-dom"
import { useConnection, useHubStore } from "../app/hub-context.ts"
import type { Connection } from "../app/hub-store.ts"
import { connectionPlace } from "../app/screen.tsx"
import { useValue, whileOpen } from "../app/value-store.ts"
import { clockTime } from "../design/words.ts"

/** A short loss is no news. */
const PATIENCE_MS = 1500
const CAUGHT_UP_MS = 4000

function useAfter(ms: number, key: unknown): boolean {
  const [passed, setPassed] = useState<unknown>(undefined)
  useEffect(() => {
    if (key === undefined) return undefined
    const timer = setTimeout(() => setPassed(key), ms)
    return () => clearTimeout(timer)
  }, [ms, key])
  return key !== undefined && passed === key
}

function watchOnline(listener: () => void): () => void {
  const ending = new AbortController()
  addEventListener("online", listener, { signal: ending.signal })
  addEventListener("offline", listener, { signal: ending.signal })
  return () => ending.abort()
}

function useOnline(): boolean {
  return useSyncExternalStore(watchOnline, () => navigator.onLine)
}

/** Under the header, in the flow, never over anything; on top where a screen has no header across it. */
export function ConnectionBar() {
  const [top, setTop] = useState<HTMLElement | null>(null)
  const place = useValue(connectionPlace) ?? top
  const connection = useConnection()
  const store = useHubStore()
  const gaps = useValue(store.gaps)
  const online = useOnline()
  const isNewer = useNewerPage(connection.name)
  const since = connection.name === "lost" ? connection.since : undefined
  const isLong = useAfter(PATIENCE_MS, since)
  const isOld = useAfter(CAUGHT_UP_MS, gaps === 0 ? undefined : gaps)
  const isTrying = connection.name === "lost" && online && isLong
  const text = (() => {
    if (connection.name === "lost" && !online)
      return `You're offline. Last updated ${clockTime(connection.since, { seconds: true })}.`
    if (connection.name === "lost" && isLong) return `Last updated ${clockTime(connection.since, { seconds: true })}.`
    if (isNewer) return "A new version is ready."
    return gaps > 0 && !isOld ? "Caught up." : ""
  })()
  const bar = (
    <div role="status" aria-label="Connection">
      {text !== "" && (
        <p className="flex min-h-7 items-center justify-center bg-caution-soft px-3 text-dense font-medium text-caution">
          {isTrying && (
            <span className="me-[0.5ch] max-[359px]:sr-only">
              Reconnecting…
              {connection.tries > 1 && <span className="max-tablet:hidden"> (attempt {connection.tries}).</span>}
            </span>
          )}
          {text}
          {isTrying && <BarButton onClick={() => store.hub.retryNow()}>Retry now</BarButton>}
          {isNewer && connection.name === "live" && <BarButton onClick={() => location.reload()}>Reload</BarButton>}
        </p>
      )}
    </div>
  )
  return (
    <>
      <div ref={setTop} className="shrink-0" />
      {place !== null && createPortal(bar, place)}
    </>
  )
}

function BarButton({ children, onClick }: { readonly children: string; readonly onClick: () => void }) {
  return (
    <button type="button" className="ms-2 min-h-6 whitespace-nowrap underline" onClick={onClick}>
      {children}
    </button>
  )
}

/** The path of this page's own code, whose name has its content's hash in it. */
function ownScript(): string | undefined {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]')
  return script === null ? undefined : new URL(script.src).pathname
}

async function hasNewerPage(own: string): Promise<boolean> {
  const reply = await fetch("/", { cache: "no-store", headers: { accept: "text/html" } })
  if (!reply.ok || reply.headers.get("content-type")?.includes("text/html") !== true) return false
  return !(await reply.text()).includes(own)
}

/** Whether the hub came back with another cockpit than this one. Asked after every loss of the connection. */
function useNewerPage(connection: Connection["name"]): boolean {
  const wasLost = useRef(false)
  const [isNewer, setNewer] = useState(false)
  useEffect(() => {
    if (connection === "lost") wasLost.current = true
    const own = ownScript()
    if (connection !== "live" || !wasLost.current || own === undefined) return undefined
    wasLost.current = false
    // A hub that cannot be asked now is asked the next time it comes back.
    return whileOpen(hasNewerPage(own), (answer) => answer && setNewer(true))
  }, [connection])
  return isNewer
}
