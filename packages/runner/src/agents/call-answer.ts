const REASON = "the hub was away while this was asked, so that its answer is lost: try again"

/** The answer that a runner gives to a call of an agent, such as one of a tool, whose own answer will not come any more. */
export function callAnswer(requestId: string): string {
  return JSON.stringify({
    type: "control_response",
    response: { subtype: "error", request_id: requestId, error: REASON },
  })
}
