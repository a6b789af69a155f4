import { Validator } from "@seriousme/openapi-schema-validator"
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { openApiPath } from "../../src/http/openapi.ts"
import { type HttpSetup, setUpHttp, signIn } from "./http-setup.ts"
import { EXAMPLES } from "./route-examples.ts"

type Json = Record<string, unknown>

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters?: { name: string; in: string; required: boolean; schema: Json }[]
  readonly requestBody?: { content: { "application/json": { schema: Json } } }
  readonly responses: Record<string, { content?: Record<string, { schema?: Json }> }>
}

interface OpenApi {
  readonly openapi: string
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { schemas: Record<string, Json> }
}

describe("the description of it all", () => {
  let hub: HttpSetup
  let api: OpenApi
  beforeAll(async () => {
    hub = await setUpHttp()
    api = (await (await hub.ask("/api/openapi.json", { as: "viewer" })).json()) as OpenApi
  })

  /** A schema of the document, with what it refers to. */
  const schemaOf = (schema: Json) => {
    const defs = JSON.parse(JSON.stringify(api.components.schemas).replaceAll("#/components/schemas/", "#/$defs/"))
    const own = JSON.parse(JSON.stringify(schema).replaceAll("#/components/schemas/", "#/$defs/"))
    return z.fromJSONSchema({ ...own, $defs: defs })
  }

  it("[HA32] has every route of the app and no other", () => {
    expect(api.openapi).toBe("3.1.0")
    const described = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const served = hub.app.hono.routes
      .filter(({ method, path }) => method !== "ALL" && path !== "/*")
      .map(({ method, path }) => `${method} ${openApiPath(path)}`)
    expect(described.toSorted()).toEqual([...new Set(served)].toSorted())
    expect(described.length).toBeGreaterThan(35)
  })

  it("[HA50] is valid OpenAPI, and says where its hub is", async () => {
    const { valid, errors } = await new Validator().validate({ ...api })
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
    expect(api).toMatchObject({ servers: [{ url: "/" }] })
  })

  it("[HA50] gives every operation a name of its own and a heading that is listed", () => {
    const operations = Object.values(api.paths).flatMap((methods) => Object.values(methods))
    const names = operations.map(({ operationId }) => operationId)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !/^[a-z][A-Za-z0-9]*$/.test(name))).toEqual([])
    expect(names).toEqual(
      expect.arrayContaining(["listSessions", "createSession", "getSession", "answerAsk", "setPolicy"]),
    )
    const headings = api.tags.map(({ name }) => name)
    expect(operations.filter(({ tags }) => tags.length !== 1 || !headings.includes(tags[0] ?? ""))).toEqual([])
  })

  it("[HA32] has every reference it makes, and none to elsewhere", () => {
    const refs = [...JSON.stringify(api).matchAll(/"\$ref":"([^"]*)"/g)].map((match) => match[1] ?? "")
    const known = Object.keys(api.components.schemas).map((name) => `#/components/schemas/${name}`)
    expect(refs.filter((ref) => !known.includes(ref))).toEqual([])
    expect(known).toEqual(
      expect.arrayContaining(["Session", "Event", "Ask", "Error"].map((n) => `#/components/schemas/${n}`)),
    )
    expect(JSON.stringify(api)).not.toContain("$defs")
  })

  it("[HA32] names the parts of each path and the fields of each query", () => {
    const events = api.paths["/api/sessions/{id}/events"]?.["get"]
    expect(events?.parameters?.map(({ name, in: where, required }) => [name, where, required])).toEqual([
      ["id", "path", true],
      ["after", "query", false],
      ["before", "query", false],
      ["around", "query", false],
      ["limit", "query", false],
    ])
    const search = api.paths["/api/search"]?.["get"]
    expect(search?.parameters?.find(({ name }) => name === "q")).toMatchObject({ required: true })
  })

  it.each(Object.entries(EXAMPLES))(
    "[HA32] %s: the example and its real reply are as described",
    async (name, example) => {
      const [method = "", path = ""] = name.split(" ")
      const operation = api.paths[openApiPath(path)]?.[method.toLowerCase()]
      const { record } = await hub.authority.tokens.create({ role: "viewer" }, "test")
      const body =
        JSON.parse(JSON.stringify(example.body ?? null).replace("ADMIN_TOKEN", hub.tokens.admin)) ?? undefined
      // A route without a body has no schema for one, and everything validates.
      const bodySchema = operation?.requestBody?.content["application/json"].schema ?? {}
      expect(schemaOf(bodySchema).safeParse(body ?? {}).error).toBeUndefined()
      const login = example.path.includes("LOGIN_ID") ? await signIn(hub, "admin") : "none"
      const target = example.path.replace("TOKEN_ID", record.id).replace("LOGIN_ID", login)
      const reply = await hub.ask(target, { method: example.method, as: "admin", body })
      const described = operation?.responses[String(reply.status)]
      expect(described).toBeDefined()
      const [contentType = "none"] = reply.headers.get("content-type")?.split(";") ?? []
      expect(Object.keys(described?.content ?? { none: {} })).toEqual([contentType])
      const schema = described?.content?.[contentType]?.schema ?? {}
      // An own property of this name does not come through zod; that it comes through the app is checked elsewhere.
      const text = (await reply.text()).replaceAll("__proto__", "proto")
      const sent: unknown = contentType === "application/json" ? JSON.parse(text) : text
      expect(schemaOf(schema).safeParse(sent).error).toBeUndefined()
      // The route's own schema drops what it does not know: nothing may be sent that is not described.
      const own = hub.app.routes.find((route) => route.method === method && route.path === path)?.reply
      expect((own ?? z.unknown()).parse(sent)).toEqual(sent)
    },
  )

  it("[HA32] an error is as described, and what is not as described does not validate", async () => {
    const error = await (await hub.ask("/api/nowhere", { as: "viewer" })).json()
    expect(schemaOf({ $ref: "#/components/schemas/Error" }).safeParse(error).success).toBe(true)
    expect(schemaOf({ $ref: "#/components/schemas/Session" }).safeParse(error).success).toBe(false)
    expect(schemaOf({ $ref: "#/components/schemas/NewSession" }).safeParse({ titel: "x" }).success).toBe(false)
  })
})
