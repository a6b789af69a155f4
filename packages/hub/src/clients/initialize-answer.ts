import { textOf, type UnlistedRequest } from "@signalbox/protocol"
import {
  differingOptions,
  type LaunchOptions,
  optionsOfInitialize,
  uncarriedFields,
} from "@signalbox/protocol/launch-options"
import { HubError } from "../errors.ts"
import type { Ask, AskKind } from "../model/ask.ts"
import type { ControlReply } from "../session/agent-control.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { AskView } from "./ask-view.ts"
import type { PartOutcome } from "./client-desk.ts"
import type { ClientDesks } from "./client-desks.ts"
import { readClientHooks } from "./client-hooks.ts"
import { noteLine, questionOf } from "./client-lines.ts"
import { hostedServers } from "./client-parts.ts"

export interface InitializeAnswerOptions {
  readonly client: { readonly id: string; readonly session: LiveSession; tell(line: string): void }
  readonly desks: ClientDesks
  readonly asks: AskView
  readonly request: UnlistedRequest
}

/**
 * A client's `initialize`: what it brings goes to the agent with what the others brought, and the reply is the one that the
 * hub got, with the open questions beside it.
 */
export async function answerInitialize(options: InitializeAnswerOptions): Promise<ControlReply> {
  const { client, desks, asks, request } = options
  requireCarried(client.session, request)
  const title = textOf(request, "title")
  if (title !== undefined && client.session.record.title === null) client.session.change({ title: title.slice(0, 500) })
  const hooks = readClientHooks(request["hooks"])
  const servers = hostedServers(request["sdkMcpServers"], request["sdkMcpServerConfigs"])
  // Whatever this client had brought before is replaced: a program that comes back under its name may be another one.
  const outcome = desks
    .of(client.session)
    .bring(client.id, { hooks, servers })
    // The agent went away, or is slow: it gets this when it is back, and the client need not know.
    .catch(() => undefined)
  await desks.whenGreeted(client.session)
  await outcome
  const missing = desks.of(client.session).missing(client.id)
  tellWhatIsMissing(client, missing)
  return {
    subtype: "success",
    response: { ...(client.session.kept.own.initializeReply ?? NO_AGENT_YET), ...applied(hooks, missing) },
    ...pendingLists(await asks.pending()),
  }
}

/** Refuses, by name, a field that cannot reach this agent: the client would believe that the agent has it. */
export function requireCarried({ kept }: LiveSession, request: UnlistedRequest): void {
  const [field] = uncarriedFields(request)
  if (field !== undefined) throw refused(field, "a hub cannot bring it to an agent: leave it out")
  let asked: LaunchOptions
  try {
    asked = optionsOfInitialize(request)
  } catch (error) {
    throw new HubError("request/invalid", `initialize: ${error instanceof Error ? error.message : String(error)}`)
  }
  const [option] = differingOptions(asked, kept.own.options ?? {})
  const advice = "this agent was not started with it: make the session with it, or leave it out"
  if (option !== undefined) throw refused(option === "outputFormat" ? "jsonSchema" : option, advice)
}

function refused(field: string, why: string): HubError {
  return new HubError("request/invalid", `initialize: ${field}: ${why}`, { details: { field } })
}

/** The hub's own reply told of none: what became of this client's hooks is known here. */
function applied(hooks: readonly unknown[], { unregisteredEvents }: PartOutcome): { hooks_applied?: boolean } {
  return hooks.length === 0 ? {} : { hooks_applied: unregisteredEvents.length === 0 }
}

/** Enough for a client to go on with; what its agent can do it learns from the agent. */
const NO_AGENT_YET = {
  commands: [],
  models: [],
  agents: [],
  account: {},
  output_style: "default",
  available_output_styles: [],
}

function tellWhatIsMissing(client: InitializeAnswerOptions["client"], missing: PartOutcome): void {
  const { unregisteredEvents: events, takenServers: servers } = missing
  if (events.length > 0) {
    const message = `this agent takes no hooks after its start: make the session with hooks: ${JSON.stringify(events)}`
    client.tell(noteLine("hooks_not_registered", { events, message }))
  }
  if (servers.length > 0) {
    const message = "another client of this session hosts MCP servers of these names: choose others"
    client.tell(noteLine("servers_not_registered", { servers, message }))
  }
}

const LISTS: Readonly<Record<AskKind, string>> = {
  tool: "pending_permission_requests",
  question: "pending_permission_requests",
  plan: "pending_permission_requests",
  elicitation: "pending_elicitation_requests",
  dialog: "pending_user_dialog_requests",
}

function pendingLists(asks: readonly Ask[]): Readonly<Record<string, readonly unknown[]>> {
  const lists: Record<string, unknown[]> = { pending_permission_requests: [] }
  for (const ask of asks) (lists[LISTS[ask.kind]] ??= []).push(questionOf(ask))
  return lists
}
