export {
  type AgentFacts,
  type AgentLine,
  type AgentState,
  backgroundTasksIn,
  factsIn,
  idleAgent,
  isAtRest,
  isQuestion,
  type OpenRequest,
  type QuestionSubtype,
  questionSubtypes,
  stepAgent,
  type Turn,
} from "./agent-state.ts"
export {
  type AllowOptions,
  composeAllow,
  composeCancel,
  composeDeny,
  composeError,
  composeRequest,
  composeSuccess,
  composeUserMessage,
  type ToolQuestion,
  type UnlistedRequest,
  type UserMessageOptions,
} from "./compose.ts"
export {
  type AbortSignalLike,
  type AnswerFate,
  createPendingRequests,
  type PendingRequests,
  type PendingRequestsOptions,
  type Timers,
  type WaitOptions,
} from "./correlation.ts"
export { counted } from "./counted.ts"
export {
  createDecoder,
  type Decoded,
  decode,
  describeMalformed,
  type KnownLine,
  type MalformedLine,
  type UnknownLine,
} from "./decode.ts"
export { encode, encodeForAgent } from "./encode.ts"
export { type Envelope, fieldOf, isObject, textOf } from "./envelope.ts"
export { ProtocolError, type ProtocolErrorCode } from "./errors.ts"
export {
  createLineSplitter,
  DEFAULT_MAX_LINE_BYTES,
  type DroppedLine,
  describeDroppedLine,
  type LineSplitter,
  type LineSplitterOptions,
} from "./framing.ts"
export { capabilities, hookEvents, known, permissionModes, resultSubtypes } from "./known.generated.ts"
export { costWords, sumUsd } from "./money.ts"
export { type PeerTraits, peerTraits } from "./peer-traits.ts"
export type * from "./schemas/index.ts"
export { saysSignIn } from "./sign-in.ts"
export { hasUnseen, type ReadFor, replaceUnseen, unseenIn, unseenName, unseenNumber } from "./unseen.ts"
export type { ModelUse, ModelUses, TokenCount } from "./usage.ts"
