import { connectHub, type Hub, type LaunchRequest } from "@signalbox/client"
import { type LaunchOptions, launchOptionsIn, optionsOfInitialize } from "@signalbox/protocol/launch-options"
import { SdkError } from "../base/errors.ts"
import { defined } from "../base/wire.ts"
import { mcpConfigOf, numberOf, schemaOf, thinkingOf } from "../launch/flags.ts"
import { systemPromptFields } from "../launch/initialize.ts"
import type { AgentLink, AgentStart } from "../launch/open-agent.ts"
import type { ControlRequestBody, HubCursor, HubOptions, Options } from "../types/options.ts"
import { hubFailure, sessionEnded } from "./hub-failures.ts"
import { HubLink } from "./hub-link.ts"

/** A conversation that was cleared or resumed goes on in another session, and so on; some end must be. */
const MAX_CHAIN = 1000

export interface HubOpening {
  readonly start: AgentStart
  /** Aborts when nobody wants the agent any more, while it is still being prepared. */
  readonly ended: AbortSignal
  /** Told where in the session we are. */
  readonly onAttached: (cursor: HubCursor) => void
  /** Called when everything the log had when we came has been delivered and handled. */
  readonly onCaughtUp: () => void
}

/** Attaches to a session of a hub, or has the hub start one. */
export async function attachToHub(options: Options, address: HubOptions, opening: HubOpening): Promise<AgentLink> {
  if (opening.start === "spare") {
    throw new SdkError("sdk/bad-option", "prewarm() starts a process here: it cannot be used with options.hub", {
      details: { option: "hub" },
    })
  }
  let hub: Hub | undefined
  const stop = () => hub?.close()
  opening.ended.addEventListener("abort", stop)
  try {
    hub = connectHub({ url: address.url, token: address.token })
    const start = await findStart(hub, options, address)
    opening.onAttached(start)
    return new HubLink({
      hub,
      address,
      start,
      wantsPieces: options.includePartialMessages === true,
      wantsHookEvents: options.includeHookEvents === true,
      settings: address.session === undefined ? [] : settingsOf(options),
      onCaughtUp: opening.onCaughtUp,
    })
  } catch (error) {
    hub?.close()
    throw hubFailure(error)
  } finally {
    opening.ended.removeEventListener("abort", stop)
  }
}

async function findStart(hub: Hub, options: Options, { session, after }: HubOptions): Promise<HubCursor> {
  if (session === undefined) {
    const launched = await hub.launch(launchOf(options))
    // Messages of a resumed conversation are not said again: a process here would not either.
    const isGoingOn = options.resume !== undefined || options.continue === true
    return { session: launched.id, after: isGoingOn ? launched.lastSeq : 0 }
  }
  let record = await hub.session(session).get()
  let from = after
  // Nothing of this session is wanted any more where it has been read to its end.
  const isBehind = () => from === undefined || from >= record.lastSeq
  for (let moves = 0; record.next !== undefined && isBehind() && moves < MAX_CHAIN; moves++) {
    record = await hub.session(record.next).get()
    if (from !== undefined) from = 0
  }
  if (from === undefined && record.state === "ended") throw sessionEnded(record.id)
  return { session: record.id, after: from ?? record.lastSeq }
}

function launchOf(options: Options): LaunchRequest {
  const { cwd, model, permissionMode, resume, continue: isContinued, forkSession: fork, title } = options
  const events = Object.keys(options.hooks ?? {})
  const hooks = events.length === 0 ? undefined : events
  return {
    ...defined({ cwd, model, permissionMode, resume, continue: isContinued, fork, title, hooks }),
    ...hubLaunchOptions(options),
  }
}

/** The options that a process here would have been started with. */
function settingsOf({ model, permissionMode }: Options): ControlRequestBody[] {
  return [
    ...(model === undefined ? [] : [{ subtype: "set_model", model }]),
    ...(permissionMode === undefined ? [] : [{ subtype: "set_permission_mode", mode: permissionMode }]),
  ]
}

/** The options of a launch on a hub: the same that a process here gets by its command line and `initialize`. */
export function hubLaunchOptions(options: Options): LaunchOptions {
  const { agents, mcpServers } = options
  const said = { ...systemPromptFields(options.systemPrompt), agents, jsonSchema: schemaOf(options) }
  const given = {
    ...optionsOfInitialize(said),
    maxTurns: numberOf(options.maxTurns),
    maxBudgetUsd: numberOf(options.maxBudgetUsd),
    allowedTools: options.allowedTools,
    disallowedTools: options.disallowedTools,
    additionalDirectories: options.additionalDirectories,
    settingSources: options.settingSources,
    mcpServers: mcpConfigOf(mcpServers)?.["mcpServers"],
    effort: options.effort,
    thinking: thinkingOf(options),
    betas: options.betas,
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hub looks at each; here they are what the program gave
  return launchOptionsIn(given as LaunchOptions) ?? {}
}
