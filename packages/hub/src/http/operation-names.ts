import type { Route } from "./route.ts"

/** Parts of the API that are told under the heading of another. */
const HEADINGS: Readonly<Record<string, string>> = {
  login: "access",
  logout: "access",
  me: "access",
  tokens: "access",
  grants: "policy",
  audit: "policy",
  search: "sessions",
}

/** The heading under which a description lists a route. */
export function tagOf({ path }: Pick<Route, "path">): string {
  const [first = "", second = ""] = segmentsOf(path)
  if (first !== "api" || second === "openapi.json") return "operations"
  return HEADINGS[second] ?? second
}

/**
 * The name that generated clients give a route, from its method and path: `listSessions`, `getSession`, `createSession`,
 * `answerAsk`. It follows the path, so that a new route has one without a second table to keep.
 */
export function operationIdOf({ method, path }: Pick<Route, "method" | "path">): string {
  const segments = segmentsOf(path).filter((segment) => segment !== "api")
  const last = segments.at(-1) ?? "root"
  const parents = segments.slice(0, -1).filter((segment) => !segment.startsWith(":"))
  const isItem = last.startsWith(":")
  const isList = !isItem && last.endsWith("s")
  const words = parents.map(singular)
  if (method === "POST" && !isItem && !isList) return camelCase([last, ...words])
  if (!isItem) words.push(method === "POST" ? singular(last) : last)
  return camelCase([verbOf(method, isList), ...words])
}

function verbOf(method: Route["method"], isList: boolean): string {
  switch (method) {
    case "GET":
      return isList ? "list" : "get"
    case "POST":
      return "create"
    case "PUT":
      return "set"
    case "PATCH":
      return "change"
    case "DELETE":
      return "delete"
  }
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "")
}

function singular(word: string): string {
  return word.replace(/s$/, "")
}

function camelCase(words: readonly string[]): string {
  const parts = words.flatMap((word) => word.split(/[^A-Za-z0-9]+/))
  return parts.map((part, index) => (index === 0 ? part : part.charAt(0).toUpperCase() + part.slice(1))).join("")
}
