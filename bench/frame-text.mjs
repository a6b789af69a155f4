/** The text of a WebSocket's frame. @param {import("ws").RawData} data */
export function frameText(data) {
  return Buffer.isBuffer(data) ? data.toString() : ""
}
