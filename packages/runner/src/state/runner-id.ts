import { existsSync } from "node:fs"
import { StateFile } from "./state-file.ts"

/** The id of the runner whose state is in this directory. Undefined: none has been started there yet. */
export function runnerIdIn(directory: string): string | undefined {
  return existsSync(StateFile.pathIn(directory)) ? StateFile.open(directory).state.id : undefined
}
