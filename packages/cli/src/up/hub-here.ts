import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { type Hub, type HubOptions, openHub } from "@signalbox/hub"
import { createLogger } from "@signalbox/hub/logger"
import { defined } from "@signalbox/protocol"
import {
  type CommandContext,
  type DataDirectory,
  type DataOption,
  dataDirectory,
  makeDataDirectory,
} from "../base/context.ts"
import { claudeAtHand, cockpitDirectory } from "../base/installed.ts"
import { keepShort, readLivingCard, removeCard, writeCard } from "../base/process-files.ts"
import { postgresOf, rememberStore } from "../base/store-place.ts"
import { LocalRunner } from "../runner/local-runner.ts"
import { stopIdleRunner } from "./down.ts"

/** A runner connects within a second, unless the machine is busy. */
const RUNNER_MS = 20_000

export interface HubHereOptions extends Partial<HubOptions> {
  readonly hasRunner: boolean
  /** Takes what whoever started the hub should know. */
  readonly tell: (text: string) => void
}

/** A hub of this process: other commands find it by its card, and a runner may serve it. */
export interface HubHere {
  readonly hub: Hub
  readonly startRunner: () => Promise<void>
  readonly close: () => Promise<void>
}

export async function openHubHere(data: DataDirectory, options: HubHereOptions): Promise<HubHere> {
  const { hasRunner, tell, ...own } = options
  makeDataDirectory(data)
  const hub = await openHub({
    dataDirectory: data.path,
    claudeVersion: claudeAtHand(),
    ...(hasRunner ? { expectRunnerForMs: RUNNER_MS } : {}),
    ...defined({ cockpitDirectory: cockpitDirectory() }),
    ...own,
  })
  const runner = new LocalRunner({ hub, data, tell, isOnPostgres: own.store !== undefined })
  const close = async () => {
    runner.close()
    removeCard(data.hubCard)
    await hub.close()
  }
  try {
    writeCard(data.hubCard, { url: hub.address.url })
    rememberStore(data, own.store)
  } catch (error) {
    await close()
    throw error
  }
  return { hub, startRunner: () => runner.start(), close }
}

/** Whether a command would find a hub: a named one, or one that runs on the data directory. */
export function hasHub(options: DataOption, { env }: CommandContext): boolean {
  const data = dataDirectory(options, env)
  const isNamedElsewhere = !data.isNamed && (env["SIGNALBOX_URL"] ?? "") !== ""
  return isNamedElsewhere || readLivingCard(data.hubCard) !== undefined
}

/** A hub for as long as a loop runs. Its log goes to a file: the terminal is for the table. */
export async function openOwnHub(
  options: DataOption,
  { env }: CommandContext,
  { hasRunner = true } = {},
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const data = dataDirectory(options, env)
  const log = join(data.path, "hub.log")
  const logger = createLogger({ stream: { write: (line) => appendFileSync(log, line, { mode: 0o600 }) } })
  const tell = (text: string) => logger.warn(text)
  const store = defined({ store: postgresOf({}, data, env) })
  const here = await openHubHere(data, { hasRunner, logger, tell, ...store })
  const forget = keepShort(log)
  const close = async () => {
    forget()
    await here.close()
    // A runner with other agents stays, as it does after `signalbox up`.
    if (hasRunner) await stopIdleRunner(data)
  }
  try {
    if (hasRunner) await here.startRunner()
  } catch (error) {
    await close()
    throw error
  }
  return { url: here.hub.address.url, close }
}
