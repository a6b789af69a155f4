import { draw } from "./draw.ts"

const SIGNS = 'abcXYZ019 {}[]":,\\\t<>%$#@!~\u0001\u001b\u007f'

/** A line of this many bytes that no reader can take for a message. */
export function rubbish(bytes: number, seed: number): string {
  let state = seed
  let text = "<"
  while (text.length < bytes) {
    const drawn = draw(state)
    state = drawn.state
    text += SIGNS[Math.floor(drawn.number * SIGNS.length)] ?? ""
  }
  return text
}

const LONG_HEAD = '{"type":"keep_alive","padding":"'
const LONG_TAIL = '"}'

/** A message of this many bytes that every reader may pass over. */
export function longLine(bytes: number): string {
  return `${LONG_HEAD}${"x".repeat(Math.max(0, bytes - LONG_HEAD.length - LONG_TAIL.length))}${LONG_TAIL}`
}

/** A whole message of the model's, in so many deltas. */
export function* floodLines(deltas: number, sessionId: string, uuid: () => string): Generator<string> {
  const ids = `"session_id":${JSON.stringify(sessionId)},"parent_tool_use_id":null,"uuid":"`
  const line = (event: string) => `{"type":"stream_event","event":${event},${ids}${uuid()}"}`
  const usage = { input_tokens: 1, output_tokens: 1 }
  const content = { type: "message", role: "assistant", model: "flood", content: [], stop_reason: null, usage }
  yield line(JSON.stringify({ type: "message_start", message: { id: "msg_flood", ...content } }))
  yield line('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}')
  for (let count = 0; count < deltas; count++)
    yield line('{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"drop "}}')
  yield line('{"type":"content_block_stop","index":0}')
  yield line(JSON.stringify({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }))
  yield line('{"type":"message_stop"}')
}
