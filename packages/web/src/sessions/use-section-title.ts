import { abbreviateHome } from "../fleet/folder-name.tsx"
import { useMachineHome } from "../fleet/machine-store.tsx"
import type { Section } from "./session-sections.ts"

/** A folder is written from home, as in the rows. */
export function useSectionTitle({ title, isFolder, entries }: Section): string {
  const home = useMachineHome(isFolder ? (entries[0]?.session.runner ?? null) : null)
  return isFolder ? abbreviateHome(title, home) : title
}
