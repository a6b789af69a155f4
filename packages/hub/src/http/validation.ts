import type { z } from "zod"
import { HubError } from "../errors.ts"

type Issue = z.core.$ZodIssue

const MAX_ISSUES = 5

/** The value as the schema reads it, or an error that says which field is wrong and what is right. */
export function validate<S extends z.ZodType>(schema: S, value: unknown, what: "body" | "query"): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.flatMap((issue) => narrow(issue)).slice(0, MAX_ISSUES)
  const said = issues.map((issue) => `${nameOf(issue, what)}: ${issue.message}`)
  throw new HubError("request/invalid", said.join("; "), {
    details: { fields: issues.map((issue) => issue.path.map(String).join(".")) },
  })
}

/** A query's fields, each at most once. */
export function readQuery(url: string): Record<string, string> {
  const entries = [...new URL(url).searchParams]
  const names = entries.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new HubError("request/invalid", `query.${twice}: given more than once`)
  return Object.fromEntries(entries)
}

/** Keeps the issues of the form that the value comes closest to; if no form is closest, those of all forms. */
function narrow(issue: Issue): readonly Issue[] {
  if (issue.code !== "invalid_union") return [issue]
  const fewest = Math.min(...issue.errors.map((errors) => errors.length))
  const closest = issue.errors.filter((errors) => errors.length === fewest)
  const [only] = closest
  if (only === undefined || closest.length > 1) return [issue]
  return only.flatMap((inner) => narrow({ ...inner, path: [...issue.path, ...inner.path] }))
}

function nameOf(issue: Issue, what: "body" | "query"): string {
  return [what, ...issue.path.map(String)].join(".")
}
