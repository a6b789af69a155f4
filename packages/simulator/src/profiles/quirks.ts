// Versions differ: one row for each thing, with what 2.1.37, 2.1.120 and 2.1.325 do. Code asks the
// row, never the version.

const TABLE = {
  // The host's lines.
  /** A blank line, or a message of a type it does not know, ends the process. */
  diesOfUnknownInput: [true, false, false],
  /** A `control_response` without a `response` object. */
  responseWithoutBody: ["exit", "exit", "drop"],
  knowsPriority: [false, true, true],
  /** Variables that the host sets are answered; older ones take all and say nothing. */
  answersVariables: [false, false, true],
  /** Queued messages: each its own turn, or all of them one. */
  mergesQueue: [false, true, true],
  lifecycle: [false, false, true],
  tellsState: [false, true, true],
  /** Echoes, summaries and what else stands in the user's place have a time. */
  timestampsEchoes: [false, true, true],

  // Start, session and end.
  checksFlags: [false, false, true],
  looksForPromptTool: [true, false, false],
  /** Told of a session that cannot be resumed: the id asked for, or the one it would have had. */
  namesRefusedSession: [false, true, true],
  countsResults: [false, false, true],
  writesEntrypoint: [false, true, true],
  mirrorsSession: [false, false, true],
  /** A session goes on under its title, and with what it has spent. */
  keepsTitleAndBill: [false, false, true],
  /** Permissions in the project's settings file count. */
  trustsProject: [true, true, false],
  waitsForTasks: [false, true, true],
  speaksWhenTerminated: [false, true, true],

  // Control requests.
  unknownRequest: ["silence", "error", "error-with-code"],
  lateInitialize: ["refused", "refused", "accepted"],
  listsOpenRequests: [false, false, true],
  takesManifests: [false, false, true],
  setModeRepliesTwice: [true, false, false],
  modeRepliesWithStatus: [false, true, true],
  checksMode: [false, false, true],
  bypassNeedsLaunch: [false, true, true],
  errorCodes: [false, false, true],
  setModelReplies: [false, false, true],
  /** Whether the conversation is told of another model. */
  modelEcho: ["never", "always", "on-change"],
  interruptReceipt: [false, false, true],
  reconnectsHosted: [true, true, false],
  tellsSkippedLinks: [false, false, true],
  /** Only files of the agent's folder are read for the host, and it is told which. */
  guardsHostReads: [false, false, true],
  stopsUnknownTasks: [false, false, true],
  detailsSettings: [false, false, true],
  detailsContext: [false, false, true],
  tellsRequestProgress: [false, false, true],

  // Its own lists.
  tellsPlugins: [false, false, true],
  sortsAgents: ["never", "with-files", "always"],
  /** The launch's agent gives the session its tools. */
  agentLeads: [false, false, true],
  /** Tools are offered by who is there to answer, by model, and by what else there is. */
  fitsTools: [false, false, true],
  sortsTools: [false, true, true],
  sortsHostedTools: [false, false, true],
  resourceTools: [
    ["ListMcpResourcesTool", "ReadMcpResourceTool"],
    ["ListMcpResourcesTool", "ReadMcpResourceTool"],
    ["ListMcpResourcesTool", "ReadMcpResourceDirTool", "ReadMcpResourceTool"],
  ],

  // Hooks.
  hookTimeout: ["continue", "continue", "block"],
  hookDenialsCount: [false, true, true],
  /** Hooks are told of the prompt they run for, and of the effort. */
  hooksSeePrompt: [false, false, true],
  hooksSeeTasks: [false, false, true],
  hooksSeeLastMessage: [false, true, true],
  hooksSeeDurations: [false, true, true],
  /** The sub-agent is named among the base fields, and not in the event's own. */
  hooksSeeAgents: [false, true, true],
  /** The host hears what hooks say, what they block, and that they failed. */
  tellsHookNews: [false, false, true],
  namesDenyingHook: [false, false, true],
  /** Commands at the start of a session are told of to everybody. */
  tellsStartHooks: [true, true, false],
  stopHookNotice: [
    undefined,
    { text: "Stop hook error occurred", ids: "uuid" },
    { text: "Stop hook error occurred · ctrl+o to see", ids: "session_id" },
  ],

  // Permissions.
  allowNeedsInput: [true, true, false],
  /** A hook has its way that wants somebody asked for what would be allowed. */
  hookMayAsk: [false, true, true],
  hookHidesSuggestions: [false, true, true],
  /** Hooks and host are asked at once, and the first answer counts. */
  asksHooksBesideHost: [false, true, true],
  tellsStateBeforeAsking: [false, false, true],
  announcesDenials: [false, false, true],
  countsForbiddenFiles: [false, false, true],
  /** Rules are offered for keeping also where nobody is there to keep them. */
  offersRulesToNobody: [true, true, false],
  keepsUnreadRules: [true, false, false],
  explainsUnasked: [false, false, true],
  explainsInvalidAnswers: [false, false, true],
  explainsDontAsk: [false, true, true],
  /** A host that is gone is no error. */
  forgivesGoneHost: [false, false, true],
  looksBehindVariables: [false, true, true],
  /** The path that a command writes to is looked at before rules for commands are. */
  holdsWrites: [true, false, false],
  prefixRules: [false, true, true],
  rulesForPipes: [true, false, true],
  ruleForRedirects: [false, false, true],
  commandDoubts: ["old", "none", "new"],
  asksAboutLooks: [false, false, true],
  /** Files that others run, and those that may not be read, are not changed unasked. */
  guardsFiles: [false, false, true],
  asksInPlanMode: [false, false, true],

  // Turns and replies.
  interruptIsError: [false, true, true],
  /** The text that had come when a turn is interrupted in the middle of it. */
  interruptedText: ["lost", "kept", "kept-and-closed"],
  yieldingSucceeds: [false, false, true],
  maxTurnsErrors: [false, true, true],
  readsStopReason: [false, true, true],
  /** How replies that came in one piece are counted. */
  wholeReplies: ["not-at-all", "apart", "in-turn"],
  announcesRequests: [false, true, true],
  requestIds: ["session_id", "uuid", "session_id"],
  timesFirstToken: [false, true, true],
  marksPartials: [false, false, true],
  countsThinking: [false, false, true],
  /** The end of a message is told in the message, where it is kept. */
  finishesMessages: [false, false, true],
  closesBrokenStreams: [false, false, true],
  /** The answer to a reply that broke off, once a block of it was whole. */
  brokenReply: ["ask-whole", "give-up", "continue"],
  namesAnswered: [false, false, true],
  atMaxTokens: ["tells-host", "goes-on", "tells-model"],
  continuesAfterRefusal: [false, false, true],
  explainsRefusals: [false, true, true],
  detailsSchemaErrors: [false, false, true],
  structuredOutputEnds: [false, false, true],
  remindsOnce: [false, false, true],

  // Errors of the API.
  announcesRetries: [false, true, true],
  retriesUnauthorized: [false, true, true],
  roundsDelays: [false, false, true],
  overloadName: ["rate_limit", "rate_limit", "overloaded"],
  brokenOffTag: ["unknown", "unknown", "server_error"],
  hidesStreamErrors: [false, false, true],
  namesErrors: [false, true, true],
  namesGateway: [false, false, true],
  connectionError: [
    "Unable to connect to API (UND_ERR_SOCKET)",
    "Unable to connect to API (ECONNRESET)",
    "Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again.",
  ],

  // Commands of its own, and asides.
  hasUsageCommand: [false, true, true],
  unknownCommand: ["skill", "command", "left-to-model"],
  tellsClear: [false, false, true],
  costIsReply: [false, true, true],
  tellsRateLimits: [false, true, true],
  tellsWindows: [false, false, true],
  compaction: ["plain", "measured", "chained"],

  // Tools.
  /** How its own tools tell what they did. */
  toolFormat: ["terse", "detailed", "detailed"],
  /** A file is told of by its whole path. */
  wholePaths: [false, true, true],
  callsTaskAgent: [false, true, true],
  hintsAtOtherTools: [false, false, true],
  /** A call that was stopped is told as one that the user rejected. */
  rejectsStopped: [false, false, true],
  tellsBashProgress: [true, true, false],
  promisesNotice: [false, false, true],
  tellsFileState: [false, false, true],
  readsAnswers: [false, false, true],
  passedPlan: ["ignored", "kept", "dropped"],
  namesPlanFile: [false, true, true],
  mergesMcpContent: [false, false, true],

  // Sub-agents and tasks.
  taskMessages: [false, true, true],
  /** Sub-agents run beside the turn. */
  agentsBeside: [false, false, true],
  agentsContinue: [false, true, true],
  agentToolStats: [false, true, false],
  /** Messages about a task name its run and its agent. */
  tellsRuns: [false, false, true],
  tellsAllTasks: [false, false, true],
  stoppedTasksAreQuiet: [false, false, true],
  taskNoticeIds: ["session_id", "session_id", "uuid"],
  shortTaskIds: [true, false, false],
  tasksBySession: [false, true, true],

  // MCP servers.
  /** SDK-hosted servers are contacted with `initialize`, not at the first turn. */
  connectsMcpAtOnce: [false, false, true],
  mcpHandshakeTries: [1, 1, 2],
  /** Its own servers are there before it hears its host. */
  waitsForServers: [true, true, false],
  listsServersAsTheyCome: [true, false, false],
  mcpCapabilities: [
    { roots: {} },
    { roots: {}, elicitation: {} },
    { roots: { listChanged: true }, elicitation: { form: {}, url: {} } },
  ],
  notesVersionFirst: [false, false, true],
  elicits: [false, true, true],
  ordersProperties: [false, false, true],
  mcpUserAgent: ["", " (sdk-cli)", " (sdk-cli)"],
  tellsClosedPlainly: [false, false, true],
  unreachable: [
    "fetch failed",
    "Unable to connect. Is the computer able to access the url?",
    "ECONNREFUSED: Unable to connect. Is the computer able to access the url?",
  ],
  noSuchCommand: [
    (command: string) => `spawn ${command} ENOENT`,
    (command: string) => `ENOENT: no such file or directory, posix_spawn '${command}'`,
    () => "ENOENT: no such file or directory, posix_spawn 'stdio'",
  ],
} as const

type Table = typeof TABLE

/** The differences between versions on the wire. */
export type Quirks = { readonly [Name in keyof Table]: Table[Name][number] }

/** Every row has a value in each column, and the mapped type says which. */
function column(index: 0 | 1 | 2): Quirks
function column(index: 0 | 1 | 2): object {
  return Object.fromEntries(Object.entries(TABLE).map(([name, row]) => [name, row[index]]))
}

export const [quirks2137, quirks2120, quirks2325] = [column(0), column(1), column(2)]
