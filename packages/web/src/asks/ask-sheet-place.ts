import { setQuery, usePlace } from "../app/router.tsx"

/** The request that has the screen for itself is in the address: Back closes it. */
export function useSheet(): string | undefined {
  return usePlace().query.get("ask") ?? undefined
}

export function openSheet(id: string): void {
  setQuery({ ask: id }, { push: true })
}

export function closeSheet(): void {
  setQuery({ ask: null })
}
