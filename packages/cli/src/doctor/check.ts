/** `note`: nothing is wrong, and there is something to know or to do. */
export interface Check {
  readonly name: string
  readonly state: "ok" | "note" | "wrong"
  readonly found: string
  /** What to do; with `ok`, nothing. */
  readonly todo?: string
}

export function ok(name: string, found: string): Check {
  return { name, state: "ok", found }
}

export function note(name: string, found: string, todo: string): Check {
  return { name, state: "note", found, todo }
}

export function wrong(name: string, found: string, todo: string): Check {
  return { name, state: "wrong", found, todo }
}
