export { costWords, counted } from "@signalbox/protocol"
export { type ModelUse, type ModelUses, type TokenCount, totalTokens } from "@signalbox/protocol/usage"
export type { AskRecord } from "./asks.ts"
export { blockedPathWords } from "./blocked-path.ts"
export { type Edit, type EditLine, editOf } from "./edit-lines.ts"
export { type LimitWindow, limitWindowsOf } from "./limit-windows.ts"
export { actWords } from "./notes.ts"
export { PLAN_EVENTS, planInCall } from "./plan.ts"
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
  StartedRow,
  TaskFacts,
  TextRow,
  ThinkingRow,
  ToolResult,
  ToolRow,
  ToolState,
  TranscriptEvent,
  UnknownRow,
} from "./row.ts"
export {
  askWords,
  compactionWords,
  countWords,
  durationWords,
  failureWords,
  hookWords,
  limitWords,
  modelWords,
  resultWords,
  retryWords,
  startedWords,
  TOKEN_KINDS,
  thinkingWords,
  tokenWords,
} from "./row-words.ts"
export { isUsualGrant } from "./standing-grant.ts"
export { thinkingLevels, thinkingLevelWords, thinkingRequest } from "./thinking-level.ts"
export { answersOf, resultText, type ToolHeading, toolHeading } from "./tool-words.ts"
export { Transcript, type TranscriptOptions } from "./transcript.ts"
export { tellingErrors } from "./turn-table.ts"
export { visibleLine, visibleText } from "./visible-text.ts"
