/** Where an agent dials: at the root, or at the path of one session. */
export type IngressPath = { readonly kind: "root" } | { readonly kind: "session"; readonly id: string }

/** Undefined when the path is not an agent's. The last segment after `/ws/` is the session, whatever stands before it. */
export function readIngressPath(path: string): IngressPath | undefined {
  if (path === "/") return { kind: "root" }
  if (path.startsWith("/api/") || path.startsWith("/ws/session/")) return undefined
  const match = /\/ws\/(?:cli\/)?([^/]+)$/.exec(path)
  const id = match?.[1]
  return id === undefined || id === "" ? undefined : { kind: "session", id: decode(id) }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
