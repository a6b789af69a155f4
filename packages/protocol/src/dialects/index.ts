/** Old and foreign forms of the wire, for the edges where a peer may speak them. Read, never written. */
export { normaliseAgentMessage } from "./read-agent.ts"
export { type FrontendReading, normaliseFrontendMessage } from "./read-frontend.ts"
export { createAgentReader, readFrontendLine } from "./read-line.ts"
