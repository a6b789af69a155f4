import { useEffect, useRef, useState } from "react"
import type { Connection } from "../app/connection.ts"

/** Where this page's own code came from: its name has its content's hash in it. */
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
export function useNewerPage(connection: Connection["name"]): boolean {
  const wasLost = useRef(false)
  const [isNewer, setNewer] = useState(false)
  useEffect(() => {
    if (connection === "lost") wasLost.current = true
    const own = ownScript()
    if (connection !== "live" || !wasLost.current || own === undefined) return undefined
    wasLost.current = false
    let isCurrent = true
    const ask = async () => {
      // A hub that cannot be asked now is asked the next time it comes back.
      const answer = await hasNewerPage(own).catch(() => false)
      if (isCurrent && answer) setNewer(true)
    }
    void ask()
    return () => {
      isCurrent = false
    }
  }, [connection])
  return isNewer
}
