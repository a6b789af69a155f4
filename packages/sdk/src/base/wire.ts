/**
 * What this room uses of the wire protocol at run time, by its narrow entries, and from one file: every other way of
 * importing it shows in the time it takes to import the package.
 */
export { type AgentLine, type AgentState, idleAgent, stepAgent } from "@signalbox/protocol/agent-state"
export { composeError, composeRequest, composeSuccess, composeUserMessage, encode } from "@signalbox/protocol/compose"
export { createPendingRequests } from "@signalbox/protocol/correlation"
export { type Envelope, fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
