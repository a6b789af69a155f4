import { useEffect } from "react"
import { createValueStore } from "./value-store.ts"

export const screenTitle = createValueStore("")

export function useScreenTitle(title: string): void {
  useEffect(() => {
    screenTitle.set(title)
  }, [title])
}
