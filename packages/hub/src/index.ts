export { HubError, type HubErrorCode } from "./errors.ts"
export { type Hub, type HubOptions, openHub } from "./hub.ts"
export { createLogger, type HubLogger } from "./operations/logger.ts"
