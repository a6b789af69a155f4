/** How this page stands with the hub. */
export type Connection =
  | { readonly name: "connecting" }
  | { readonly name: "live" }
  /** `since`: what is shown is as of then. */
  | { readonly name: "lost"; readonly since: number; readonly tries: number }
  | { readonly name: "signed-out"; readonly reason: string }

export type ConnectionInput =
  | { readonly type: "subscribed" }
  | { readonly type: "disconnected"; readonly at: number }
  | { readonly type: "tried"; readonly tries: number }
  | { readonly type: "refused"; readonly reason: string }

export function stepConnection(state: Connection, input: ConnectionInput): Connection {
  switch (input.type) {
    case "subscribed":
      return { name: "live" }
    case "disconnected":
      return state.name === "lost" ? state : { name: "lost", since: input.at, tries: 1 }
    case "tried":
      return state.name === "lost" ? { ...state, tries: Math.max(state.tries, input.tries) } : state
    case "refused":
      return { name: "signed-out", reason: input.reason }
  }
}
