import { processEntry } from "./process-table.ts"
import { StateFile } from "./state-file.ts"

/** How many agents live of those that a runner wrote down in its directory: for whoever cannot ask a hub. */
export async function agentsIn(directory: string): Promise<number> {
  const { agents } = StateFile.open(directory).state
  const found = await Promise.all(
    agents.map(async ({ launched, processStartedAt }) => {
      const entry = await processEntry(launched.pid)
      return entry !== undefined && entry.startedAt === processStartedAt
    }),
  )
  return found.filter(Boolean).length
}
