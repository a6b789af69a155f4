import { quiet } from "../base/deadline.ts"
import { SdkError } from "../base/errors.ts"
import { trusted } from "../base/wire.ts"
import type { QueryEngine } from "../engine/query-engine.ts"
import { captureServers, copyOf } from "../launch/capture.ts"
import type { McpServerStatus } from "../types/mcp.ts"
import type { SDKMessage } from "../types/messages.ts"
import type { HubCursor } from "../types/options.ts"
import type {
  Query,
  SDKControlInitializeResponse,
  SDKControlInterruptResponse,
  SDKControlReadFileResponse,
} from "../types/query.ts"

type Result = IteratorResult<SDKMessage, void>

/** Messages of a query that was closed before it began: not even a later abort is reported. */
const NOTHING: Pick<QueryEngine["messages"], "next"> = { next: async () => ({ done: true, value: undefined }) }

/** The program's side of a query. Each method is one request of the wire; what it resolves with is the agent's word. */
export class AgentQuery implements Query {
  readonly #engine: Promise<QueryEngine>
  /** There as soon as the engine is: a million reads must not go through a promise each. */
  #messages: Pick<QueryEngine["messages"], "next"> | undefined
  #started: QueryEngine | undefined
  #isClosedBefore = false

  constructor(engine: Promise<QueryEngine>) {
    this.#engine = engine.then((started) => {
      this.#started = started
      this.#messages = this.#isClosedBefore ? NOTHING : (started.cursorReader ?? started.messages)
      return started
    })
    // The reader or caller is told.
    this.#engine.catch(() => undefined)
  }

  next(): Promise<Result> {
    if (this.#messages !== undefined) return this.#messages.next()
    return this.#engine.then(() => this.next())
  }

  /** Leaving the loop ends the agent. Like a generator's, it gives back what it was given, which should be nothing. */
  return(value?: unknown): Promise<Result>
  async return(value?: unknown): Promise<unknown> {
    await this[Symbol.asyncDispose]()
    return { value, done: true }
  }

  async throw(error: unknown): Promise<Result> {
    await this[Symbol.asyncDispose]()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosedBefore ||= this.#started === undefined
    const engine = await this.#engine
    engine.drop()
    await engine.gone
  }

  close(): void {
    // At once: a loop that closes its query must not get the next message before.
    if (this.#started !== undefined) return this.#started.close()
    this.#isClosedBefore = true
    this.#engine.then((engine) => engine.close()).catch(() => undefined)
  }

  get hubCursor(): HubCursor | undefined {
    return this.#started?.cursorReader?.cursor
  }

  readonly control: Query["control"] = (request) => {
    const asked = copyOf(request)
    return quiet(this.#engine.then((engine) => engine.call(asked)))
  }

  readonly streamInput: Query["streamInput"] = (stream) =>
    quiet(this.#engine.then((engine) => engine.streamInput(stream)))

  readonly interrupt: Query["interrupt"] = ({ cancelQueued } = {}) => {
    const fields = { cancel_queued: cancelQueued === true ? true : undefined }
    // Only newer agents give a receipt.
    const receipt = this.#ask<SDKControlInterruptResponse | undefined>("interrupt", fields)
    return quiet(receipt.then((given) => (Array.isArray(given?.still_queued) ? given : undefined)))
  }

  readonly setPermissionMode: Query["setPermissionMode"] = (mode) => this.#tell("set_permission_mode", { mode })
  readonly setModel: Query["setModel"] = (model) => this.#tell("set_model", { model })
  readonly setMaxThinkingTokens: Query["setMaxThinkingTokens"] = (max_thinking_tokens, thinking_display) =>
    this.#tell("set_max_thinking_tokens", { max_thinking_tokens, thinking_display })
  readonly setMcpPermissionModeOverride: Query["setMcpPermissionModeOverride"] = (serverName, mode) =>
    this.#ask("set_mcp_permission_mode_override", { serverName, mode })
  readonly applyFlagSettings: Query["applyFlagSettings"] = (settings) => this.#tell("apply_flag_settings", { settings })
  readonly updateSettings: Query["updateSettings"] = (source, settings) =>
    this.#tell("update_settings", { source, settings })

  readonly initializationResult: Query["initializationResult"] = () => this.#initialized((reply) => reply)
  readonly reinitialize: Query["reinitialize"] = () => {
    const again = this.#engine.then((engine) => {
      engine.initialization.again()
      return engine.initialized()
    })
    return quiet(trusted(again))
  }
  readonly supportedCommands: Query["supportedCommands"] = () => this.#initialized(({ commands }) => commands)
  readonly supportedModels: Query["supportedModels"] = () => this.#initialized(({ models }) => models)
  readonly supportedAgents: Query["supportedAgents"] = () => this.#initialized(({ agents }) => agents)
  readonly accountInfo: Query["accountInfo"] = () => this.#initialized(({ account }) => account)

  readonly mcpServerStatus: Query["mcpServerStatus"] = () => {
    const reply = this.#ask<{ mcpServers: McpServerStatus[] }>("mcp_status")
    return quiet(reply.then(({ mcpServers }) => mcpServers))
  }
  readonly getContextUsage: Query["getContextUsage"] = ({ detail } = {}) => this.#ask("get_context_usage", { detail })
  readonly usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET: Query["usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET"] =
    ({ skipBehaviors } = {}) => this.#ask("get_usage", { skip_behaviors: skipBehaviors })

  readonly readFile: Query["readFile"] = (path, { maxBytes, encoding } = {}) => {
    const reply = this.#ask<SDKControlReadFileResponse>("read_file", { path, max_bytes: maxBytes, encoding })
    // A timeout does not mean that there is no such file.
    const isTimeout = (error: unknown) => error instanceof SdkError && error.code === "request/timeout"
    return quiet(reply.catch((error: unknown) => (isTimeout(error) ? Promise.reject(error) : null)))
  }

  readonly reloadPlugins: Query["reloadPlugins"] = ({ holdOnCacheImpact, refuseIfBusy, addPlugins = [] } = {}) =>
    this.#ask("reload_plugins", {
      hold_on_cache_impact: holdOnCacheImpact,
      refuse_if_busy: refuseIfBusy,
      add_plugins: addPlugins.length === 0 ? undefined : addPlugins,
    })
  readonly reloadSkills: Query["reloadSkills"] = () => this.#ask("reload_skills")
  readonly reloadOutputStyles: Query["reloadOutputStyles"] = () => this.#ask("reload_output_styles")
  readonly rewindFiles: Query["rewindFiles"] = (userMessageId, { dryRun } = {}) =>
    this.#ask("rewind_files", { user_message_id: userMessageId, dry_run: dryRun })
  readonly seedReadState: Query["seedReadState"] = (path, mtime) => this.#tell("seed_read_state", { path, mtime })
  readonly reconnectMcpServer: Query["reconnectMcpServer"] = (serverName) => this.#tell("mcp_reconnect", { serverName })
  readonly toggleMcpServer: Query["toggleMcpServer"] = (serverName, enabled) =>
    this.#tell("mcp_toggle", { serverName, enabled })

  readonly setMcpServers: Query["setMcpServers"] = (servers) => {
    const captured = captureServers(servers)
    return quiet(trusted(this.#engine.then((engine) => engine.setMcpServers(captured))))
  }

  readonly readMcpResource: Query["readMcpResource"] = (serverName, uri) =>
    this.#ask("mcp_read_resource", { serverName, uri })
  readonly stopTask: Query["stopTask"] = (taskId) => this.#tell("stop_task", { task_id: taskId })
  readonly backgroundTasks: Query["backgroundTasks"] = (toolUseId) => {
    const reply = this.#ask<{ backgrounded?: boolean } | undefined>("background_tasks", { tool_use_id: toolUseId })
    return quiet(reply.then((given) => given?.backgrounded ?? true))
  }

  // Methods that the official package has at run time and does not type. Never relied on here, and each costs one line.

  readonly getSettings = () => this.#ask("get_settings")
  readonly getHooksListing = () => this.#ask("get_hooks_listing")
  readonly getTaskOutput = (taskId: string) => this.#ask("get_task_output", { task_id: taskId })
  readonly listPermissionRules = () => this.#ask("list_permission_rules")
  readonly cancelAsyncMessage = (messageUuid: string) => {
    const reply = this.#ask<{ cancelled?: boolean } | undefined>("cancel_async_message", { message_uuid: messageUuid })
    return quiet(reply.then((given) => given?.cancelled))
  }
  readonly setCwd = (path: string) => this.#ask("set_cwd", { path })
  readonly renameSession = (title: string) => this.#tell("rename_session", { title, source: "host" })
  readonly generateSessionTitle = (description: string, { persist }: { persist?: boolean } = {}) => {
    const reply = this.#ask<{ title?: string } | undefined>("generate_session_title", { description, persist })
    return quiet(reply.then((given) => given?.title))
  }
  readonly askSideQuestion = (question: string) => this.#ask("side_question", { question })
  readonly getStatus = () => this.#ask("get_status")
  readonly exportConversation = () => this.#ask("export_conversation")
  readonly getPlan = () => this.#ask("get_plan")

  #ask<T>(subtype: string, fields: Record<string, unknown> = {}): Promise<T> {
    const request = { subtype, ...copyOf(fields) }
    const isEarly = this.#started === undefined
    const reply = this.#engine.then((engine) => (isEarly ? engine.callFromTheStart(request) : engine.call(request)))
    // Its shape is the protocol's for what was asked.
    return quiet(trusted(reply))
  }

  #tell(subtype: string, fields: Record<string, unknown>): Promise<void> {
    return quiet(this.#ask(subtype, fields).then(() => undefined))
  }

  #initialized<T>(read: (reply: SDKControlInitializeResponse) => T): Promise<T> {
    const reply = trusted<Promise<SDKControlInitializeResponse>>(this.#engine.then((engine) => engine.initialized()))
    return quiet(reply.then(read))
  }
}
