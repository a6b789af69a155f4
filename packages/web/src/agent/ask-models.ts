import type { HubSession } from "@signalbox/client"
import type { Choice } from "../design/field.tsx"
import { refusesUnknown } from "./cli-version.ts"
import { readModels } from "./session-choices.ts"

/** Nobody looks at a list of one entry for longer. */
const TIMEOUT_MS = 5000

/** The models there are now, where the CLI can be asked; else those it named when it started. */
export async function askModels(
  agent: Pick<HubSession, "control">,
  cliVersion: string | null,
): Promise<readonly Choice[] | undefined> {
  const ask = async (subtype: string) =>
    readModels(await agent.control({ subtype }, { timeoutMs: TIMEOUT_MS }).catch(() => undefined))
  const listed = refusesUnknown(cliVersion) ? await ask("list_models") : undefined
  return listed ?? (await ask("initialize"))
}
