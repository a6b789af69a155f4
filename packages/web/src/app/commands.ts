import { useEffect } from "react"
import { createValueStore, useValue } from "./value-store.ts"

/** Something that can be done here, by its name in the palette and perhaps by a key. */
export interface Command {
  readonly name: string
  readonly keys?: string
  readonly run: () => void
}

const groups = createValueStore<readonly (readonly Command[])[]>([])

/** A screen's own commands, for as long as it is shown. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => {
    groups.set([...groups.get(), commands])
    return () => groups.set(groups.get().filter((group) => group !== commands))
  }, [commands])
}

export function useScreenCommands(): readonly Command[] {
  return useValue(groups).flat()
}
