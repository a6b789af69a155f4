export type { AskRecord } from "./asks.ts"
export { type Edit, type EditLine, editOf } from "./edit-lines.ts"
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
  costWords,
  countWords,
  durationWords,
  failureWords,
  hookWords,
  limitWords,
  resultWords,
  retryWords,
  startedWords,
  thinkingWords,
} from "./row-words.ts"
export { isUsualGrant } from "./standing-grant.ts"
export { answersOf, resultText, type ToolHeading, toolHeading } from "./tool-words.ts"
export { Transcript, type TranscriptOptions } from "./transcript.ts"
export { visibleLine, visibleText } from "./visible-text.ts"
