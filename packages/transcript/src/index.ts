export { bytesWords, costWords, counted } from "@signalbox/protocol"
export { type ModelUse, type ModelUses, type TokenCount, totalTokens } from "@signalbox/protocol/usage"
export { failureOf, limitNames, limitPercent, limitWords, modeName } from "./rows/agent-words.ts"
export { actWords } from "./rows/notes.ts"
export { blockedPathWords, isUsualGrant, stillKeptWords } from "./rows/permission-words.ts"
export type {
  ActivityRow,
  AskFacts,
  AskOutcome,
  AskRow,
  CompactionRow,
  Delivery,
  FailureRow,
  HarnessRow,
  HookRow,
  JsonObject,
  LimitRow,
  NoteRow,
  PictureRow,
  PictureSource,
  PromptRow,
  ResultRow,
  RetryRow,
  Row,
  RowOf,
  StartedRow,
  TaskFacts,
  TextRow,
  ThinkingRow,
  ToolResult,
  ToolRow,
  ToolState,
  TranscriptEvent,
  UnknownRow,
} from "./rows/row.ts"
export {
  askWords,
  compactionWords,
  countWords,
  durationWords,
  hookWords,
  modelWords,
  resultWords,
  retryWords,
  startedWords,
  TOKEN_KINDS,
  thinkingLevels,
  thinkingLevelWords,
  thinkingRequest,
  thinkingWords,
  tokenWords,
} from "./rows/row-words.ts"
export type { AskRecord } from "./rows/tool.ts"
export {
  answersOf,
  type Edit,
  type EditLine,
  editOf,
  PLAN_EVENTS,
  planInCall,
  resultText,
  type ToolHeading,
  toolHeading,
} from "./rows/tool-words.ts"
export { Transcript, type TranscriptOptions } from "./rows/transcript.ts"
export { type LimitWindow, limitWindowsOf, tellingErrors } from "./rows/turn-table.ts"
export { waitedForPeople } from "./rows/waits.ts"
export { type WhyLines, whyLines } from "./rows/why-words.ts"
export { visibleLine, visibleText } from "./text/visible-text.ts"
