import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { type Hub, openHub } from "@signalbox/hub"
import { createLogger } from "@signalbox/hub/logger"
import { claudeAtHand } from "../base/claude-at-hand.ts"
import { cockpitDirectory } from "../base/cockpit-directory.ts"
import type { CommandContext } from "../base/command-context.ts"
import { type DataDirectory, type DataOption, dataDirectory, makeDataDirectory } from "../base/data-directory.ts"
import { keepShort } from "../base/keep-short.ts"
import { isAlive, readCard, removeCard, writeCard } from "../base/process-card.ts"
import { LocalRunner } from "../runner/local-runner.ts"
import { stopIdleRunner } from "./down.ts"

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
  { hasRunner = true } = {},
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const data = dataDirectory(options, context.env)
  makeDataDirectory(data)
  const log = join(data.path, "hub.log")
  const cockpit = cockpitDirectory()
  // The terminal is for the table.
  const logger = createLogger({ stream: { write: (line) => appendFileSync(log, line, { mode: 0o600 }) } })
  const hub = await openHub({
    dataDirectory: data.path,
    logger,
    claudeVersion: claudeAtHand(),
    ...(hasRunner ? { expectRunnerForMs: RUNNER_MS } : {}),
    ...(cockpit === undefined ? {} : { cockpitDirectory: cockpit }),
  })
  const forget = keepShort(log)
  const runner = new LocalRunner({ hub, data, tell: (text) => logger.warn(text) })
  try {
    writeCard(data.hubCard, { url: hub.address.url })
    if (hasRunner) await runner.start()
  } catch (error) {
    await close(hub, { data, hasRunner })
    throw error
  }
  return {
    url: hub.address.url,
    async close() {
      forget()
      runner.close()
      await close(hub, { data, hasRunner })
    },
  }
}

/** A runner on which other agents live goes on, as it does after `signalbox up`. */
async function close(
  hub: Hub,
  { data, hasRunner }: { readonly data: DataDirectory; readonly hasRunner: boolean },
): Promise<void> {
  removeCard(data.hubCard)
  await hub.close()
  if (hasRunner) await stopIdleRunner(data)
}
