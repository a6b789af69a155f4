export { ProtocolError, type ProtocolErrorCode } from "./errors.ts"
export {
  createLineSplitter,
  DEFAULT_MAX_LINE_BYTES,
  type DroppedLine,
  describeDroppedLine,
  type LineSplitter,
  type LineSplitterOptions,
} from "./framing.ts"
