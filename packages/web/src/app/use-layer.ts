import { useEffect, useRef } from "react"
import { openLayer } from "./browser-history.ts"

/** While it is open, Back closes it. */
export function useLayer(isOpen: boolean, close: () => void): void {
  const latest = useRef(close)
  latest.current = close
  useEffect(() => (isOpen ? openLayer(() => latest.current()) : undefined), [isOpen])
}
