/** A frame as `ws` hands it over: text or binary, whole or in pieces. */
type FrameData = Buffer | ArrayBuffer | readonly Buffer[]

export function frameBytes(data: FrameData): Buffer {
  if (data instanceof ArrayBuffer) return Buffer.from(data)
  return Buffer.isBuffer(data) ? data : Buffer.concat(data)
}

export function frameText(data: FrameData): string {
  return frameBytes(data).toString("utf8")
}
