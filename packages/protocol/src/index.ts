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
  encode,
  encodeForAgent,
  type PeerTraits,
  peerTraits,
  saysSignIn,
  type ToolQuestion,
  toolDenial,
  type UnlistedRequest,
  type UserMessageOptions,
} from "./compose.ts"
export {
  type AbortSignalLike,
  type AnswerFate,
  createPendingRequests,
  type PendingRequests,
  type PendingRequestsOptions,
  type WaitOptions,
} from "./correlation.ts"
export {
  createDecoder,
  type Decoded,
  decode,
  type KnownLine,
  type MalformedLine,
  type UnknownLine,
} from "./decode.ts"
export { defined, type Envelope, fieldOf, isObject, ProtocolError, type ProtocolErrorCode, textOf } from "./envelope.ts"
export {
  createLineSplitter,
  DEFAULT_MAX_LINE_BYTES,
  type DroppedLine,
  type LineSplitter,
  type LineSplitterOptions,
} from "./framing.ts"
export { jsonFaultWords } from "./json-fault.ts"
export { capabilities, hookEvents, known, permissionModes } from "./known.generated.ts"
export type * from "./schemas/index.ts"
export { hasUnseen, type ReadFor, replaceUnseen, unseenIn, unseenName, unseenNumber } from "./unseen.ts"
export { bytesWords, costWords, counted, type ModelUse, type ModelUses, sumUsd, type TokenCount } from "./usage.ts"
