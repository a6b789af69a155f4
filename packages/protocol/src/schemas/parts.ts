import { z } from "zod"

/** `Object.keys` with the key type of a literal table kept. */
export function keysOf<Table extends object>(table: Table): (keyof Table & string)[] {
  return Object.keys(table).filter((key): key is keyof Table & string => Object.hasOwn(table, key))
}

/** Versions by which the wire is dated: SDK 0.1.77 / CLI 2.0.77, SDK 0.2.37 / CLI 2.1.37, SDK 0.3.325 / CLI 2.1.325. */
const GENERATIONS = ["2.0.77", "2.1.37", "2.1.325"] as const
export type Generation = (typeof GENERATIONS)[number]

export function byGeneration<Key extends string>(
  keys: readonly Key[],
  existsIn: (key: Key, generation: Generation) => boolean,
): Record<Generation, Key[]> {
  const inGeneration = (generation: Generation) => keys.filter((key) => existsIn(key, generation))
  return { "2.0.77": inGeneration("2.0.77"), "2.1.37": inGeneration("2.1.37"), "2.1.325": inGeneration("2.1.325") }
}

export function isSince(first: Generation, generation: Generation): boolean {
  return GENERATIONS.indexOf(generation) >= GENERATIONS.indexOf(first)
}

/** One of the known literals, or a word that a newer CLI added since. `string & {}` keeps the literals in completion. */
export type Open<Literal extends string> = Literal | (string & {})

/**
 * An enumeration that the vendor may extend: any string validates, the known values are for the reader of the type.
 * Discriminators (`type`, `subtype`, `hook_event_name`) are literals instead.
 */
export function openEnum<const Values extends readonly string[]>(
  _known: Values,
): z.ZodType<Open<Values[number]>, Open<Values[number]>> {
  return z.string()
}

/**
 * A member that this version does not know. Its discriminator is typed as a pattern that no known literal matches, or
 * else it would survive `block.type === "text"` and turn every field into `unknown`. At run time it is any other string.
 */
export type Unrecognized<Key extends string> = { [field: string]: unknown } & {
  [K in Key]: `${string} (unrecognized)`
}

type Member = z.core.$ZodTypeDiscriminable

/**
 * A discriminated union that lets unknown members through untouched, but still fails a known member of the wrong shape.
 * The overload is what inference cannot give: the pattern of Unrecognized exists in the types alone.
 */
export function openUnion<const M extends Member, const Key extends string>(
  key: Key,
  members: readonly M[],
): z.ZodType<z.output<M> | Unrecognized<Key>, z.input<M> | Unrecognized<Key>>
export function openUnion(key: string, members: readonly Member[]): z.ZodType {
  const [first, ...rest] = members
  if (first === undefined) throw new Error("a union needs a member")
  const known = new Set<unknown>()
  for (const member of members) {
    // oxlint-disable-next-line no-underscore-dangle -- `_zod` is zod's interface for those who build on it
    for (const value of member._zod.propValues?.[key] ?? []) known.add(value)
  }
  const other = z.looseObject({ [key]: z.string().refine((value) => !known.has(value), "known member, wrong shape") })
  return z.union([z.discriminatedUnion(key, [first, ...rest]), other])
}

/** Fields that every message of an agent carries unless stated otherwise. Not `z.uuid()`: the SDK writes `session_id: ""`. */
export const identity = { uuid: z.string(), session_id: z.string() }

/** For messages outside the published types, whose identity nobody promises. */
export const maybeIdentity = { uuid: z.string().optional(), session_id: z.string().optional() }

/** Which user messages a line answers (2.1.325). */
export const answered = {
  user_message_uuid: z.string().nullish(),
  user_message_uuids: z.array(z.string()).nullish(),
  resume_reason: z.string().nullish(),
}

/** The API's refusal, on the line that reports it (2.1.325). */
export const apiError = {
  api_error_status: z.number().nullish(),
  // Seen on 2.1.325, not published.
  api_error_type: z.string().nullish(),
  /** The limit that was reached, such as `usage_limit_reached`. */
  api_error: z.string().nullish(),
  /** Details of that limit, such as `rate_limit_info`. */
  api_error_params: z.record(z.string(), z.unknown()).nullish(),
}

/** Who spoke when it was a sub-agent (2.1.325). */
export const subagent = {
  agent_id: z.string().nullish(),
  subagent_type: z.string().nullish(),
  task_description: z.string().nullish(),
}

type Shape = z.core.$ZodLooseShape
type SchemasOf<Key extends string, Base, Table> = {
  [Name in keyof Table & string]: z.ZodObject<
    Record<Key, z.ZodLiteral<Name>> & Omit<Base, keyof Table[Name]> & Table[Name],
    z.core.$loose
  >
}

/**
 * A schema for each name of a table, with the name as the literal at `key`, the fields that all have, and its own. The overload
 * says what a loop over the table cannot: which name has which schema.
 */
export function schemasOf<const Key extends string, Base extends Shape, Table extends Record<string, Shape>>(
  key: Key,
  base: Base,
  table: Table,
): SchemasOf<Key, Base, Table>
export function schemasOf(key: string, base: Shape, table: Record<string, Shape>): Record<string, z.ZodType> {
  const schema = ([name, fields]: [string, Shape]) => z.looseObject({ [key]: z.literal(name), ...base, ...fields })
  return Object.fromEntries(Object.entries(table).map((entry) => [entry[0], schema(entry)]))
}

/** A reply without content, or one whose shape nobody published: some versions write `{}`, some leave the payload out. */
const AnyReply = z.looseObject({}).nullish()

/** Who may ask. */
type Direction = "host" | "agent" | "both"
type Rule = { readonly asks?: Shape; readonly replies?: z.ZodType }
type Requests<Who extends Direction, Since, Table> = {
  [Name in keyof Table & string]: {
    request: z.ZodObject<
      { subtype: z.ZodLiteral<Name> } & (Table[Name] extends { asks: infer Fields extends Shape } ? Fields : unknown),
      z.core.$loose
    >
    /** The payload of a success. */
    response: Table[Name] extends { replies: infer Reply extends z.ZodType } ? Reply : typeof AnyReply
    direction: Who
    since: Since
  }
}

/** Control requests by their subtype. `since`: the first version that publishes them; "unlisted" ones none does, but 2.1.325 takes. */
export function requests<
  const Who extends Direction,
  const Since extends Generation | "unlisted",
  Table extends Record<string, Rule>,
>(direction: Who, since: Since, table: Table): Requests<Who, Since, Table>
export function requests(direction: Direction, since: string, table: Record<string, Rule>): Record<string, unknown> {
  const entry = ([subtype, { asks = {}, replies = AnyReply }]: [string, Rule]) => {
    const request = z.looseObject({ subtype: z.literal(subtype), ...asks })
    return [subtype, { request, response: replies, direction, since }]
  }
  return Object.fromEntries(Object.entries(table).map(entry))
}
