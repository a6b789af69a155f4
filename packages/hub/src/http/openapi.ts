import { ErrorBody } from "@signalbox/protocol/hub-api/schemas"
import { z } from "zod"
import type { Route } from "./app.ts"

type Json = Record<string, unknown>

/** The description of all routes, from the very schemas that validate them. */
export function describeRoutes(routes: readonly Route[], version: string): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = openApiPath(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Signalbox hub", version, license: { name: "MIT", identifier: "MIT" } },
    // The hub that serves this document, whatever name and port it is reached by.
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        login: { type: "apiKey", in: "cookie", name: "signalbox_*", description: "Set by POST /api/login" },
      },
    },
  }
}

export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}")
}

function operationOf(route: Route, components: Json): Json {
  const parameters = [...pathParameters(route.path), ...queryParameters(route)]
  const content = route.body && { "application/json": { schema: schemaOf(route.body, components) } }
  const needsToken = route.access !== "anybody"
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    description: needsToken ? `Needs the role ${route.access}.` : "Needs no token.",
    ...(needsToken ? { security: [{ token: [] }, { login: [] }] } : { security: [] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content === undefined ? {} : { requestBody: { required: route.isBodyOptional !== true, content } }),
    responses: {
      [route.status ?? 200]: replyOf(route, components),
      default: {
        description: "what went wrong; 503 `hub/busy` and 429 come with Retry-After: wait that long, then try again",
        content: { "application/json": { schema: schemaOf(ErrorBody, components) } },
      },
    },
  }
}

function replyOf({ replies: description, reply, contentType = "application/json" }: Route, components: Json): Json {
  return { description, content: { [contentType]: reply === undefined ? {} : { schema: schemaOf(reply, components) } } }
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }))
}

function queryParameters({ query }: Route): Json[] {
  if (query === undefined) return []
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "output" })
  return Object.entries(properties).map(([name, property]) => {
    const schema = typeof property === "object" ? redirect(property) : {}
    return { name, in: "query", required: required.includes(name) && !("default" in schema), schema }
  })
}

/** Schemas with an id are told once, under `components`. As input: a reply may have more fields than are told. */
function schemaOf(schema: z.ZodType, components: Json): Json {
  const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: "input" })
  for (const [id, definition] of Object.entries($defs)) components[id] = redirect(withoutId(definition))
  const { id } = rest
  if (typeof id !== "string") return redirect(rest)
  components[id] = redirect(withoutId(rest))
  return { $ref: `#/components/schemas/${id}` }
}

function withoutId(schema: object): Json {
  const { id: _, ...rest }: Json = { ...schema }
  return rest
}

function redirect(schema: object): Json {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]: [string, unknown]) => [
      key,
      key === "$ref" ? refOf(value) : inside(value),
    ]),
  )
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside)
  return typeof value === "object" && value !== null ? redirect(value) : value
}

function refOf(value: unknown): unknown {
  return typeof value === "string" ? value.replace("#/$defs/", "#/components/schemas/") : value
}

/** Parts of the API that are told under the heading of another. */
const HEADINGS: Readonly<Record<string, string>> = {
  login: "access",
  logins: "access",
  logout: "access",
  me: "access",
  tokens: "access",
  grants: "policy",
  audit: "policy",
  search: "sessions",
}

/** The heading under which a description lists a route. */
function tagOf({ path }: Pick<Route, "path">): string {
  const [first = "", second = ""] = segmentsOf(path)
  if (first !== "api" || second === "openapi.json") return "operations"
  return HEADINGS[second] ?? second
}

const VERBS = { GET: "get", POST: "create", PUT: "set", PATCH: "change", DELETE: "delete" } as const

/**
 * The name that generated clients give a route, from its method and path: `listSessions`, `getSession`, `createSession`,
 * `answerAsk`. It follows the path, so that a new route has one without a second table to keep.
 */
function operationIdOf({ method, path }: Pick<Route, "method" | "path">): string {
  const segments = segmentsOf(path).filter((segment) => segment !== "api")
  const last = segments.at(-1) ?? "root"
  const parents = segments.slice(0, -1).filter((segment) => !segment.startsWith(":"))
  const isItem = last.startsWith(":")
  const isList = !isItem && last.endsWith("s")
  const words = parents.map(singular)
  if (method === "POST" && !isItem && !isList) return camelCase([last, ...words])
  if (!isItem) words.push(method === "POST" ? singular(last) : last)
  return camelCase([isList && method === "GET" ? "list" : VERBS[method], ...words])
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
