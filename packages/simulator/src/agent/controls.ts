import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { textsIn } from "../json.ts"
import { setMode } from "../permissions/rules.ts"
import type { Fields } from "../profiles/profile.ts"
import { type AgentCore, initializeReply, resolveModel } from "./core.ts"

/** A request, and what an agent can do with it besides answering. */
export interface ControlScope {
  readonly core: AgentCore
  readonly requestId: string
  readonly request: Readonly<Fields>
  readonly session: SessionControl
}

export interface SessionControl {
  /** Breaks into the turn under way. */
  interrupt(): void
  readonly isFirstInput: boolean
  end(): void
}

/** A request it knows, since which generation, and how it is answered. */
export interface Control {
  readonly since: 37 | 120 | 325
  readonly run: (scope: ControlScope) => void | Promise<void>
}

const controls: Readonly<Record<string, Control>> = {
  initialize: { since: 37, run: initialize },
  interrupt: { since: 37, run: interrupt },
  set_permission_mode: { since: 37, run: changeMode },
  set_model: { since: 37, run: changeModel },
  set_max_thinking_tokens: { since: 37, run: succeed },
  mcp_status: {
    since: 37,
    run: ({ core, requestId }) => core.wire.success(requestId, { mcpServers: core.mcp.statusList() }),
  },
  mcp_message: { since: 37, run: succeed },
  mcp_set_servers: { since: 37, run: setServers },
  mcp_reconnect: { since: 37, run: (scope) => withServer(scope, reconnect) },
  mcp_toggle: { since: 37, run: (scope) => withServer(scope, toggle) },
  rewind_files: { since: 37, run: rewindFiles },
  end_session: { since: 120, run: endSession },
}

let newer: Readonly<Record<string, Control>> | undefined

/**
 * Loads the code that answers such a request, where that is not there yet; to be awaited before the next line is read, so
 * that answers keep their order. Most hosts ask for little more than `initialize`.
 */
export function loadControl(subtype: string | undefined): Promise<void> | undefined {
  if (newer !== undefined || subtype === undefined || Object.hasOwn(controls, subtype)) return undefined
  return loadNewer()
}

async function loadNewer(): Promise<void> {
  const { newerControls } = await import("./controls-newer.ts")
  newer = newerControls
}

/** Answers a control request as this version does, also one it has never heard of. */
export async function answerControl(scope: ControlScope): Promise<void> {
  const { core, requestId, request } = scope
  const subtype = textOf(request, "subtype") ?? ""
  const known = { ...newer, ...controls }
  const control = Object.hasOwn(known, subtype) ? known[subtype] : undefined
  if (control !== undefined && control.since <= core.profile.generation) return control.run(scope)
  const { unknownRequest } = core.profile.quirks
  if (unknownRequest === "silence") return
  const code = unknownRequest === "error-with-code" ? { error_code: "unsupported_request" } : {}
  core.wire.error(requestId, `Unsupported control request subtype: ${subtype}`, code)
}

function succeed({ core, requestId }: ControlScope): void {
  core.wire.success(requestId)
}

function initialize(scope: ControlScope): void {
  const { core, requestId, request, session } = scope
  const { quirks } = core.profile
  const servers = textsIn(request["sdkMcpServers"])
  core.mcp.add(servers)
  const isLate = !session.isFirstInput
  if (isLate && quirks.lateInitialize === "refused") {
    const error = "Already initialized"
    const pending = { pending_permission_requests: core.host.openPermissions() }
    const response = { subtype: "error", error, request_id: requestId, ...pending }
    return core.wire.emit({ type: "control_response", response })
  }
  configure(core, request)
  // Their first message goes out before the reply; how they take it is waited for by the turn.
  if (quirks.connectsMcpAtOnce) void core.mcp.connect()
  if (!quirks.listsOpenRequests) return core.wire.success(requestId, initializeReply(core))
  const response = { subtype: "success", request_id: requestId, response: initializeReply(core) }
  const pending = { pending_permission_requests: core.host.openPermissions(), pending_user_dialog_requests: [] }
  core.wire.emit({ type: "control_response", response: { ...response, ...pending } })
  if (isLate) core.tasks.tellAll()
}

function configure(core: AgentCore, request: Readonly<Fields>): void {
  core.hooks.register(request["hooks"])
  const agents = fieldOf(request, "agents") ?? {}
  core.state.agents = Object.fromEntries(
    Object.entries(agents).flatMap(([name, agent]) => (isObject(agent) ? [[name, { ...agent }]] : [])),
  )
  const schema = fieldOf(request, "jsonSchema")
  if (schema !== undefined) core.state.jsonSchema = schema
  const manifests = fieldOf(request, "sdkMcpServerManifests")
  if (!core.profile.quirks.takesManifests || manifests === undefined) return
  for (const [name, manifest] of Object.entries(manifests)) if (isObject(manifest)) core.mcp.adopt(name, manifest)
}

function interrupt({ core, requestId, request, session }: ControlScope): void {
  const { interruptReceipt } = core.profile.quirks
  const cancelled = interruptReceipt && request["cancel_queued"] === true ? core.queue.clear() : []
  for (const { uuid } of cancelled) core.wire.lifecycle(uuid, "cancelled")
  session.interrupt()
  if (!interruptReceipt) return core.wire.success(requestId)
  const gone = request["cancel_queued"] === true ? { cancelled: cancelled.flatMap(({ uuid }) => uuid ?? []) } : {}
  core.wire.success(requestId, { still_queued: core.queue.uuids(), ...gone })
}

function changeMode({ core, requestId, request }: ControlScope): void {
  const { quirks, catalog } = core.profile
  const mode = textOf(request, "mode") ?? "default"
  const coded = (code: string) => (quirks.errorCodes ? { error_code: code } : {})
  if (quirks.checksMode && !catalog.permissionModes.includes(mode)) {
    const choice = catalog.permissionModes.join(", ")
    return core.wire.error(requestId, `Cannot set permission mode: must be one of ${choice}`, coded("invalid_mode"))
  }
  if (mode === "bypassPermissions" && quirks.bypassNeedsLaunch && !core.launch.mayBypassPermissions) {
    const why = "because the session was not launched with --dangerously-skip-permissions"
    const error = `Cannot set permission mode to bypassPermissions ${why}`
    return core.wire.error(requestId, error, coded("bypass_not_launched"))
  }
  const before = core.state.permissions.mode
  core.state.permissions = setMode(core.state.permissions, mode)
  core.wire.success(requestId, { mode })
  if (quirks.setModeRepliesTwice) core.wire.success(requestId)
  if (quirks.modeRepliesWithStatus && before !== mode && catalog.permissionModes.includes(mode)) {
    core.wire.system("status", { status: null, permissionMode: mode }, "uuid")
  }
}

function changeModel({ core, requestId, request }: ControlScope): void {
  const { profile, state } = core
  const name = textOf(request, "model")
  const before = state.model
  state.model = resolveModel(profile, name)
  delete state.refusedModel
  const { modelEcho, setModelReplies } = profile.quirks
  const isChange = modelEcho === "on-change"
  if (modelEcho === "always" || (isChange && state.model !== before && core.history.length > 0)) {
    const isAlias = name !== undefined && name !== "default" && name !== state.model
    const told = isAlias ? `${name} (${state.model})` : state.model
    const shown = isChange ? `\`${state.model}\`` : told
    core.wire.replay(`<local-command-stdout>Set model to ${shown}</local-command-stdout>`)
  }
  core.wire.success(requestId, setModelReplies ? { model: state.model } : undefined)
}

async function setServers({ core, requestId, request }: ControlScope): Promise<void> {
  const wanted = fieldOf(request, "servers") ?? {}
  const removed = core.mcp.replaceable().filter((name) => !Object.hasOwn(wanted, name))
  for (const name of removed) core.mcp.remove(name)
  const hosted = Object.keys(wanted).filter((name) => isHosted(wanted[name]))
  const addedHosted = core.mcp.add(hosted)
  const addedOwn = hosted.length === Object.keys(wanted).length ? [] : await addOwnServers(core, wanted)
  // Nobody waits for those in the host: they are pending for a while.
  const connecting = core.mcp.connect()
  if (addedOwn.length > 0) await connecting
  const added = [...addedHosted, ...addedOwn]
  const errors = Object.fromEntries(added.map((name) => [name, core.mcp.errorOf(name)]).filter(([, error]) => error))
  core.wire.success(requestId, { added, removed, errors })
}

function isHosted(server: unknown): boolean {
  return textOf(server, "type") === "sdk" || !isObject(server) || !("command" in server || "url" in server)
}

async function addOwnServers(core: AgentCore, servers: Readonly<Fields>): Promise<string[]> {
  const { readServerConfig } = await import("../mcp/config.ts")
  const named = Object.entries(servers).flatMap(([name, server]) => {
    const config = isHosted(server) ? undefined : readServerConfig(server, core.launch.env)
    return config === undefined ? [] : [{ name, config, scope: "dynamic" as const }]
  })
  return core.mcp.addOwn(named, false)
}

async function withServer(
  scope: ControlScope,
  run: (scope: ControlScope, name: string) => Promise<void>,
): Promise<void> {
  const name = textOf(scope.request, "serverName") ?? ""
  if (!scope.core.mcp.has(name)) return scope.core.wire.error(scope.requestId, `Server not found: ${name}`)
  await run(scope, name)
}

async function reconnect({ core, requestId }: ControlScope, name: string): Promise<void> {
  // The newest generation cannot, with a server in the host, and says so in these words.
  if (!core.profile.quirks.reconnectsHosted && core.mcp.sourceOf(name) === "sdk") {
    return core.wire.error(requestId, "SDK servers should be handled in print.ts")
  }
  core.mcp.reset(name)
  await core.mcp.connect()
  const error = core.mcp.errorOf(name)
  if (error === undefined) core.wire.success(requestId)
  else core.wire.error(requestId, error)
}

async function toggle({ core, requestId, request }: ControlScope, name: string): Promise<void> {
  await core.mcp.setEnabled(name, request["enabled"] === true)
  if (request["enabled"] === true) await core.mcp.connect()
  core.wire.success(requestId)
}

const CHECKPOINTING = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"

function rewindFiles({ core, requestId, request }: ControlScope): void {
  const uuid = textOf(request, "user_message_id") ?? ""
  const isDry = request["dry_run"] === true
  const { checkpoints } = core.toolbox
  const isEnabled = ["1", "true"].includes(core.launch.env[CHECKPOINTING] ?? "")
  const plan = isEnabled ? checkpoints.plan(uuid) : undefined
  if (plan === undefined) {
    const error = isEnabled ? "No file checkpoint found for this message." : "File rewinding is not enabled."
    return isDry ? core.wire.success(requestId, { canRewind: false, error }) : core.wire.error(requestId, error)
  }
  if (isDry) {
    const { paths: filesChanged, insertions, deletions } = plan
    return core.wire.success(requestId, { canRewind: true, filesChanged, insertions, deletions })
  }
  checkpoints.rewind(uuid)
  core.wire.success(requestId, {
    canRewind: true,
    ...(core.profile.quirks.tellsSkippedLinks ? { skippedLinks: 0 } : {}),
  })
}

function endSession({ core, requestId, session }: ControlScope): void {
  core.wire.success(requestId)
  session.end()
}
