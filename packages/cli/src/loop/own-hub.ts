import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { type Hub, openHub } from "@signalbox/hub"
import { createLogger } from "@signalbox/hub/logger"
import { claudeAtHand } from "../claude-at-hand.ts"
import { cockpitDirectory } from "../cockpit-directory.ts"
import type { CommandContext } from "../command-context.ts"
import { type DataDirectory, type DataOption, dataDirectory } from "../data-directory.ts"
import { isAlive, readCard, removeCard, writeCard } from "../process-card.ts"
import { keepShort } from "../runner/keep-short.ts"
import { startLocalRunner } from "../runner/start-local-runner.ts"
import { stopIdleRunner } from "../up/down.ts"

/** A runner is there within a second; machines may be busy. */
const RUNNER_MS = 30_000

/** Whether a command would find a hub: one that is named, or one of the data directory that lives. */
export function hasHub(options: DataOption, { env }: CommandContext): boolean {
  const data = dataDirectory(options, env)
  if (!data.isNamed && (env["SIGNALBOX_URL"] ?? "") !== "") return true
  const card = readCard(data.hubCard)
  return card !== undefined && isAlive(card)
}

/** A hub for as long as the loop lives, and a runner beside it, as `signalbox up` starts them. */
export async function openOwnHub(
  options: DataOption,
  context: CommandContext,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const data = dataDirectory(options, context.env)
  const log = join(data.path, "hub.log")
  const cockpit = cockpitDirectory()
  const hub = await openHub({
    dataDirectory: data.path,
    // The terminal is for the table.
    logger: createLogger({ stream: { write: (line) => appendFileSync(log, line, { mode: 0o600 }) } }),
    claudeVersion: claudeAtHand(),
    expectRunnerForMs: RUNNER_MS,
    ...(cockpit === undefined ? {} : { cockpitDirectory: cockpit }),
  })
  const forget = keepShort(log)
  try {
    writeCard(data.hubCard, { url: hub.address.url })
    await startLocalRunner(hub, data)
  } catch (error) {
    await close(hub, data)
    throw error
  }
  return {
    url: hub.address.url,
    async close() {
      forget()
      await close(hub, data)
    },
  }
}

/** A runner on which other agents live goes on, as it does after `signalbox up`. */
async function close(hub: Hub, data: DataDirectory): Promise<void> {
  removeCard(data.hubCard)
  await hub.close()
  await stopIdleRunner(data)
}
