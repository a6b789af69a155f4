import type { UUID } from "node:crypto"

/**
 * From the wire's schemas to the types that programs are written against. The schemas are tolerant: open enumerations,
 * members of a later version, `null` beside "absent", fields nobody has named yet. A program wants the closed form, and
 * programs written for the official package were compiled against it.
 */
export type Published<T> = T extends string
  ? T
  : T extends readonly (infer Element)[]
    ? Closed<Published<Known<Element>>>[]
    : T extends object
      ? [keyof { [K in keyof T as NamedKey<K>]: T[K] }] extends [never]
        ? { [K in keyof T]: Published<T[K]> }
        : { [K in keyof T as NamedKey<K>]: K extends "uuid" ? UUID : Field<T, K> }
      : T

/** The same with some fields as programs know them: there for certain in the newest CLI, or never null, or named. */
export type With<T, Fields> = T extends unknown ? Flat<Omit<T, keyof Fields> & Fields> : never
type Flat<T> = { [K in keyof T]: T[K] }

/** Without an index signature: what is not named is not there. */
type NamedKey<K> = string extends K ? never : number extends K ? never : K

type Field<T, K extends keyof T> = Closed<Published<Known<undefined extends T[K] ? Exclude<T[K], null> : T[K]>>>

type UnrecognizedText = `${string} (unrecognized)`

/** Without the members that stand for a later version's. */
type Known<T> = T extends
  | { readonly type: UnrecognizedText }
  | { readonly hook_event_name: UnrecognizedText }
  | { readonly hookEventName: UnrecognizedText }
  ? never
  : T

/** `"a" | "b" | (string & {})` is `"a" | "b"`; a plain `string` stays. */
type Closed<T> = [Literals<Extract<T, string>>] extends [never] ? T : Literals<Extract<T, string>> | Exclude<T, string>

/** Without the one mode that the newest CLI no longer has. */
type Literals<T> = T extends string ? (string extends T ? never : Exclude<T, "delegate">) : never
