import { ErrorBody } from "@signalbox/protocol/hub-api/schemas"
import { z } from "zod"
import { operationIdOf, tagOf } from "./operation-names.ts"
import type { Route } from "./route.ts"

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
  const { body } = route
  const content = body && { "application/json": { schema: schemaOf(body.schema, components) } }
  const needsToken = route.access !== "anybody"
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    description: needsToken ? `Needs the role ${route.access}.` : "Needs no token.",
    ...(needsToken ? { security: [{ token: [] }, { login: [] }] } : { security: [] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content === undefined ? {} : { requestBody: { required: body?.optional !== true, content } }),
    responses: {
      [route.reply.status]: replyOf(route, components),
      default: {
        description: "what went wrong; 503 `hub/busy` and 429 come with Retry-After: wait that long, then try again",
        content: { "application/json": { schema: schemaOf(ErrorBody, components) } },
      },
    },
  }
}

function replyOf({ reply }: Route, components: Json): Json {
  const { description, schema, contentType = "application/json" } = reply
  if (schema === undefined) {
    return reply.status === 204 ? { description } : { description, content: { [contentType]: {} } }
  }
  return { description, content: { [contentType]: { schema: schemaOf(schema, components) } } }
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
