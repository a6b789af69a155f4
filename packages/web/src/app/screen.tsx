import { useEffect } from "react"
import { createValueStore, useValue } from "./value-store.ts"

const screenTitle = createValueStore("")
const titleOver = createValueStore<string | undefined>(undefined)

export function usePageTitle(): string {
  const screen = useValue(screenTitle)
  return useValue(titleOver) ?? screen
}

export function useScreenTitle(title: string): void {
  useEffect(() => {
    screenTitle.set(title)
  }, [title])
}

/** Title of a layer over the screen, while the layer is open. */
export function useTitleOver(title: string): void {
  useEffect(() => {
    titleOver.set(title)
    return () => titleOver.set(undefined)
  }, [title])
}
