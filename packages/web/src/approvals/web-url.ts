/** An address that a browser may be sent to; undefined for anything else, such as what would run. */
export function webUrlOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : undefined
}

/** An address around its host, which is what tells where it leads: what stands before an `@` only looks like one. */
export function aroundHost(text: string): readonly [before: string, host: string, after: string] | undefined {
  const [, before, host, after] = /^(\s*[a-z][a-z0-9+.-]*:[\\/]{2}(?:[^\\/?#]*@)?)([^\\/?#]+)(.*)$/is.exec(text) ?? []
  return before === undefined || host === undefined || after === undefined ? undefined : [before, host, after]
}
