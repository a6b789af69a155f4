import { SdkError } from "../base/errors.ts"
import type { QueryEngine } from "../engine/query-engine.ts"
import { captureServers, copyOf } from "../launch/capture.ts"
import type { McpServerConfig, McpServerStatus, McpSetServersResult, ReadMcpResourceResult } from "../types/mcp.ts"
import type { SDKMessage, SDKUserMessage } from "../types/messages.ts"
import type { ControlRequestBody, HubCursor, ThinkingDisplay } from "../types/options.ts"
import type { AnyPermissionMode, PermissionMode } from "../types/permissions.ts"
import type * as Q from "../types/query.ts"
import type { FlagSettings } from "../types/settings.ts"

type Result = IteratorResult<SDKMessage, void>

/** Messages of a query that was closed before it began: not even a later abort is reported. */
const NOTHING: Pick<QueryEngine["messages"], "next"> = { next: async () => ({ done: true, value: undefined }) }

/** The program's side of a query. Each method is one request of the wire; what it resolves with is the agent's word. */
export class AgentQuery implements Q.Query {
  readonly #engine: Promise<QueryEngine>
  /** There as soon as the engine is: a million reads must not go through a promise each. */
  #messages: Pick<QueryEngine["messages"], "next"> | undefined
  #cursorReader: QueryEngine["cursorReader"]
  #started: QueryEngine | undefined
  #isClosedBefore = false

  constructor(engine: Promise<QueryEngine>) {
    this.#engine = engine.then((started) => {
      this.#started = started
      this.#cursorReader = started.cursorReader
      this.#messages = this.#isClosedBefore ? NOTHING : (started.cursorReader ?? started.messages)
      return started
    })
    // Whoever reads or calls is told.
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
    return this.#cursorReader?.cursor
  }

  control(request: ControlRequestBody): Promise<unknown> {
    const asked = copyOf(request)
    return quiet(this.#engine.then((engine) => engine.call(asked)))
  }

  streamInput(stream: AsyncIterable<SDKUserMessage>): Promise<void> {
    return quiet(this.#engine.then((engine) => engine.streamInput(stream)))
  }

  interrupt(options: { cancelQueued?: boolean } = {}): Promise<Q.SDKControlInterruptResponse | undefined> {
    const fields = { cancel_queued: options.cancelQueued === true ? true : undefined }
    // Only newer agents give a receipt.
    const receipt = this.#ask<Q.SDKControlInterruptResponse | undefined>("interrupt", fields)
    return quiet(receipt.then((given) => (Array.isArray(given?.still_queued) ? given : undefined)))
  }

  setPermissionMode(mode: AnyPermissionMode): Promise<void> {
    return this.#tell("set_permission_mode", { mode })
  }

  setModel(model?: string | null): Promise<void> {
    return this.#tell("set_model", { model })
  }

  setMaxThinkingTokens(tokens: number | null, display?: ThinkingDisplay | null): Promise<void> {
    return this.#tell("set_max_thinking_tokens", { max_thinking_tokens: tokens, thinking_display: display })
  }

  setMcpPermissionModeOverride(serverName: string, mode: PermissionMode | null): Promise<Record<string, unknown>> {
    return this.#ask("set_mcp_permission_mode_override", { serverName, mode })
  }

  applyFlagSettings(settings: FlagSettings): Promise<void> {
    return this.#tell("apply_flag_settings", { settings })
  }

  updateSettings(source: "localSettings" | "userSettings", settings: Record<string, unknown>): Promise<void> {
    return this.#tell("update_settings", { source, settings })
  }

  initializationResult(): Promise<Q.SDKControlInitializeResponse> {
    return this.#initialized((reply) => reply)
  }

  reinitialize(): Promise<Q.SDKControlInitializeResponse> {
    const again = this.#engine.then((engine) => {
      engine.initialization.again()
      return engine.initialized()
    })
    return trusted(again)
  }

  supportedCommands(): Promise<Q.SlashCommand[]> {
    return this.#initialized(({ commands }) => commands)
  }

  supportedModels(): Promise<Q.ModelInfo[]> {
    return this.#initialized(({ models }) => models)
  }

  supportedAgents(): Promise<Q.AgentInfo[]> {
    return this.#initialized(({ agents }) => agents)
  }

  accountInfo(): Promise<Q.AccountInfo> {
    return this.#initialized(({ account }) => account)
  }

  mcpServerStatus(): Promise<McpServerStatus[]> {
    const reply = this.#ask<{ mcpServers: McpServerStatus[] }>("mcp_status")
    return quiet(reply.then(({ mcpServers }) => mcpServers))
  }

  getContextUsage(options: { detail?: "summary" | "full" } = {}): Promise<Q.SDKControlGetContextUsageResponse> {
    return this.#ask("get_context_usage", { detail: options.detail })
  }

  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(
    options: { skipBehaviors?: boolean } = {},
  ): Promise<Q.SDKControlGetUsageResponse> {
    return this.#ask("get_usage", { skip_behaviors: options.skipBehaviors })
  }

  readFile(
    path: string,
    options: { maxBytes?: number; encoding?: "utf-8" | "base64" } = {},
  ): Promise<Q.SDKControlReadFileResponse | null> {
    const fields = { path, max_bytes: options.maxBytes, encoding: options.encoding }
    const reply = this.#ask<Q.SDKControlReadFileResponse>("read_file", fields)
    // A timeout does not mean that there is no such file.
    return quiet(reply.catch((error: unknown) => (isTimeout(error) ? Promise.reject(error) : null)))
  }

  reloadPlugins(
    options: { holdOnCacheImpact?: boolean; refuseIfBusy?: boolean; addPlugins?: unknown[] } = {},
  ): Promise<Q.SDKControlReloadPluginsResponse> {
    const { holdOnCacheImpact, refuseIfBusy, addPlugins = [] } = options
    return this.#ask("reload_plugins", {
      hold_on_cache_impact: holdOnCacheImpact,
      refuse_if_busy: refuseIfBusy,
      add_plugins: addPlugins.length === 0 ? undefined : addPlugins,
    })
  }

  reloadSkills(): Promise<Q.SDKControlReloadSkillsResponse> {
    return this.#ask("reload_skills")
  }

  reloadOutputStyles(): Promise<Q.SDKControlReloadOutputStylesResponse> {
    return this.#ask("reload_output_styles")
  }

  rewindFiles(userMessageId: string, options: { dryRun?: boolean } = {}): Promise<Q.RewindFilesResult> {
    return this.#ask("rewind_files", { user_message_id: userMessageId, dry_run: options.dryRun })
  }

  seedReadState(path: string, mtime: number): Promise<void> {
    return this.#tell("seed_read_state", { path, mtime })
  }

  reconnectMcpServer(serverName: string): Promise<void> {
    return this.#tell("mcp_reconnect", { serverName })
  }

  toggleMcpServer(serverName: string, enabled: boolean): Promise<void> {
    return this.#tell("mcp_toggle", { serverName, enabled })
  }

  setMcpServers(servers: Record<string, McpServerConfig>): Promise<McpSetServersResult> {
    const captured = captureServers(servers)
    return trusted(this.#engine.then((engine) => engine.setMcpServers(captured)))
  }

  readMcpResource(serverName: string, uri: string): Promise<ReadMcpResourceResult> {
    return this.#ask("mcp_read_resource", { serverName, uri })
  }

  stopTask(taskId: string): Promise<void> {
    return this.#tell("stop_task", { task_id: taskId })
  }

  backgroundTasks(toolUseId?: string): Promise<boolean> {
    const reply = this.#ask<{ backgrounded?: boolean } | undefined>("background_tasks", { tool_use_id: toolUseId })
    return quiet(reply.then((given) => given?.backgrounded ?? true))
  }

  // What the official package has at run time and does not type. Never relied on here, and each costs one line.

  getSettings(): Promise<unknown> {
    return this.#ask("get_settings")
  }

  getHooksListing(): Promise<unknown> {
    return this.#ask("get_hooks_listing")
  }

  getTaskOutput(taskId: string): Promise<unknown> {
    return this.#ask("get_task_output", { task_id: taskId })
  }

  listPermissionRules(): Promise<unknown> {
    return this.#ask("list_permission_rules")
  }

  cancelAsyncMessage(messageUuid: string): Promise<unknown> {
    const reply = this.#ask<{ cancelled?: boolean } | undefined>("cancel_async_message", { message_uuid: messageUuid })
    return quiet(reply.then((given) => given?.cancelled))
  }

  setCwd(path: string): Promise<unknown> {
    return this.#ask("set_cwd", { path })
  }

  renameSession(title: string): Promise<void> {
    return this.#tell("rename_session", { title, source: "host" })
  }

  generateSessionTitle(description: string, options: { persist?: boolean } = {}): Promise<unknown> {
    const fields = { description, persist: options.persist }
    const reply = this.#ask<{ title?: string } | undefined>("generate_session_title", fields)
    return quiet(reply.then((given) => given?.title))
  }

  askSideQuestion(question: string): Promise<unknown> {
    return this.#ask("side_question", { question })
  }

  getStatus(): Promise<unknown> {
    return this.#ask("get_status")
  }

  exportConversation(): Promise<unknown> {
    return this.#ask("export_conversation")
  }

  getPlan(): Promise<unknown> {
    return this.#ask("get_plan")
  }

  #ask<T>(subtype: string, fields: Record<string, unknown> = {}): Promise<T> {
    const request = { subtype, ...copyOf(fields) }
    const isEarly = this.#started === undefined
    return trusted(this.#engine.then((engine) => (isEarly ? engine.callFromTheStart(request) : engine.call(request))))
  }

  #tell(subtype: string, fields: Record<string, unknown>): Promise<void> {
    return quiet(this.#ask(subtype, fields).then(() => undefined))
  }

  #initialized<T>(read: (reply: Q.SDKControlInitializeResponse) => T): Promise<T> {
    return quiet(
      trusted<Q.SDKControlInitializeResponse>(this.#engine.then((engine) => engine.initialized())).then(read),
    )
  }
}

// The payload is the agent's word; its shape is the protocol's for what was asked, and is not checked again.
function trusted<T>(payload: Promise<unknown>): Promise<T>
function trusted(payload: Promise<unknown>): Promise<unknown> {
  return quiet(payload)
}

/** A call that nobody waits for may fail without ending the program; whoever waits is told all the same. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

function isTimeout(error: unknown): error is SdkError {
  return error instanceof SdkError && error.code === "request/timeout"
}
