/**
 * The kinds of connection. Each is a `Transport`: lines in, lines out, one end.
 *
 *   who opens it       function                 lines in      lines out   outlives its peer
 *   we start a CLI     openClaude               stdout        stdin       no
 *   we start anything  openChildProcess         stdout        stdin       no
 *   an agent dials us  createWebSocketAcceptor  socket        socket      no
 *   … and posts        createHybridReceiver     socket, POST  socket      no
 *   we dial, as a CLI  dialWebSocket            socket        socket      dials again, as its preset says
 *   … and post         dialHybrid               socket        POST        dials again, as its preset says
 *   as `--sdk-url`     openSdkUrl               one of the last two, by the environment
 *   nobody: in memory  createLinkedPair         queue         queue       no
 */

export { frameText } from "./frames.ts"
export { dialHybrid, type HybridDialOptions, openSdkUrl, type SdkUrlOptions } from "./hybrid/dial.ts"
export { eventsPath, eventsUrl } from "./hybrid/events.ts"
export type { HybridConnection } from "./hybrid/hybrid-connection.ts"
export type { DroppedEvents } from "./hybrid/post-queue.ts"
export { createHybridReceiver, type HybridReceiver, type HybridReceiverOptions } from "./hybrid/receive.ts"
export { LineQueue } from "./line-queue.ts"
export { type Clock, systemClock, Waker } from "./pacing.ts"
export { createLinkedPair } from "./pair.ts"
export * from "./process/index.ts"
export { type OpenClaudeOptions, openClaude } from "./process/open-claude.ts"
export type { FlowLimits, SendLimits } from "./transport.ts"
export {
  type AcceptorOptions,
  createWebSocketAcceptor,
  isSameToken,
  readBearer,
  type UpgradeDecision,
  type UpgradeRequest,
  type WebSocketAcceptor,
} from "./websocket/accept.ts"
export type { AcceptedConnection } from "./websocket/accepted-socket.ts"
export { COME_BACK, fitCloseReason, NOT_ALLOWED, TOO_LARGE } from "./websocket/close-codes.ts"
export { type DialledConnection, dialWebSocket } from "./websocket/dial.ts"
export {
  type DialEnvironment,
  type DialOptions,
  readDialEnvironment,
  readSessionToken,
} from "./websocket/dial-options.ts"
export { type DialFailure, type DialState, describeFailure } from "./websocket/dial-state.ts"
export { type DialPreset, type DialPresetName, dialPresets, type ReplayMode } from "./websocket/presets.ts"
export { type PostPolicy, postPolicies, type ReconnectPolicy } from "./websocket/retry-policies.ts"
